//! Questions to the engine from outside its thread: asked as values, answered as values.
//!
//! The driver answers between two steps, so an answer is one consistent instant.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{Dump, LoadStats};
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
pub(crate) enum Question {
    /// What does this node carry?
    NodeLoad {
        node: Arc<str>,
        answer: oneshot::Sender<Option<NodeLoad>>,
    },
    /// What is in the cache and in the queue?
    Dump { answer: oneshot::Sender<Dump> },
    /// How is load judged? After the switch is set, if it is to be.
    Load {
        switch: Option<bool>,
        answer: oneshot::Sender<LoadAnswer>,
    },
}

/// How load is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadAnswer {
    /// Mode and census.
    pub stats: LoadStats,
    /// How long the mode has lasted.
    pub lasted: Duration,
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
        let node = Arc::from(node);
        self.ask(|answer| Question::NodeLoad { node, answer })
            .await
            .flatten()
    }

    /// Cache and queue; `None` if the engine has ended.
    pub async fn dump(&self) -> Option<Dump> {
        self.ask(|answer| Question::Dump { answer }).await
    }

    /// How load is judged; `None` if the engine has ended.
    pub async fn load(&self) -> Option<LoadAnswer> {
        let switch = None;
        self.ask(|answer| Question::Load { switch, answer }).await
    }

    /// Turns the judgement of load on or off, and says how it is judged then; `None` if the
    /// engine has ended.
    pub async fn switch_load(&self, on: bool) -> Option<LoadAnswer> {
        let switch = Some(on);
        self.ask(|answer| Question::Load { switch, answer }).await
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.questions.send(question(answer)).await.ok()?;
        answered.await.ok()
    }
}
