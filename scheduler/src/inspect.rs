//! Questions to the engine from outside its thread: asked as values, answered as values.
//!
//! The driver answers between two steps, so an answer is one consistent instant.

use std::sync::Arc;

use plimsoll_framework::NodeLoad;
use tokio::sync::{mpsc, oneshot};

/// Questions that may wait: people ask a few at a time.
const QUESTIONS: usize = 16;

/// Asks the engine.
#[derive(Debug, Clone)]
pub struct Inspector {
    questions: mpsc::Sender<Question>,
}

/// One question, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Question {
    /// The node whose load is asked for.
    pub(crate) node: Arc<str>,
    /// Takes the answer.
    pub(crate) answer: oneshot::Sender<Option<NodeLoad>>,
}

// === impl Inspector ===

impl Inspector {
    /// An inspector, and what the driver reads its questions from.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Question>) {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        (Self { questions }, asked)
    }

    /// The load of a node as the next decision would see it; `None` if there is no such node
    /// or the engine has ended.
    pub async fn node_load(&self, node: &str) -> Option<NodeLoad> {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            node: Arc::from(node),
            answer,
        };
        self.questions.send(question).await.ok()?;
        answered.await.ok().flatten()
    }
}
