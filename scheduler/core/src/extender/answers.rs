//! What extenders have answered about one pod in the running attempt.

use std::sync::Arc;

use crate::question::{Question, Reply};

/// At what step of a cycle an extender is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// About the node that the pod was promised.
    Promised(Arc<str>),
    /// About all nodes that the plugins have left.
    Feasible,
    /// About nodes over a soft line, as none is under it.
    Soft,
    Prioritize,
    Preempt,
}

/// A question that a cycle cannot go on without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// Index of the extender.
    pub(crate) extender: usize,
    pub(crate) stage: Stage,
    pub(crate) question: Question,
}

/// Answers by extender and step.
#[derive(Debug, Default)]
pub(crate) struct Answers(Vec<(usize, Stage, Result<Reply, String>)>);

// === impl Answers ===

impl Answers {
    pub(crate) fn take(&mut self, extender: usize, stage: Stage, reply: Result<Reply, String>) {
        self.0.push((extender, stage, reply));
    }

    /// What `extender` has answered at `stage`; `None` if it was not asked yet.
    pub(crate) fn get(&self, extender: usize, stage: &Stage) -> Option<Result<&Reply, &str>> {
        let mut answers = self.0.iter();
        let (_, _, reply) = answers.find(|(by, at, _)| *by == extender && at == stage)?;
        Some(reply.as_ref().map_err(String::as_str))
    }
}
