//! What an HTTP extender is asked, and what it may answer, as values.
//!
//! Whoever carries a [`Command::AskExtender`](crate::Command::AskExtender) out puts the
//! question into the extender's own words and gives the answer back as
//! [`Event::ExtenderAnswered`](crate::Event::ExtenderAnswered).

use std::sync::Arc;

use plimsoll_objects::Uid;

use crate::command::PodRef;

/// One question about one pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Which of these nodes can take it?
    Filter {
        /// By name.
        nodes: Vec<Arc<str>>,
    },
    /// How good is each of these nodes?
    Prioritize {
        /// By name.
        nodes: Vec<Arc<str>>,
    },
    /// On which of these nodes may pods be put out for it, and which?
    Preempt {
        /// One for each node.
        candidates: Vec<VictimsOn>,
    },
    /// Bind it, please.
    Bind {
        /// The node.
        node: Arc<str>,
    },
}

/// The pods of one node that would have to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VictimsOn {
    /// The node.
    pub node: Arc<str>,
    /// The pods, the most important first.
    pub victims: Vec<PodRef>,
    /// How many of them their disruption budgets do not allow to go.
    pub pdb_violations: usize,
}

/// What the extender said; of the kind of the question, or it is no answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To [`Question::Filter`].
    Filtered {
        /// Nodes that can take the pod, in the extender's order.
        kept: Vec<Arc<str>>,
        /// Nodes that cannot, and why.
        refused: Vec<RefusedNode>,
    },
    /// To [`Question::Prioritize`]: a score for each host, 0 to 10 if the extender plays by
    /// the rules.
    Scores(Vec<(Arc<str>, i64)>),
    /// To [`Question::Preempt`]: what is left of the candidates.
    Candidates(Vec<SparedOn>),
    /// To [`Question::Bind`].
    Bound,
}

/// What an extender has against one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedNode {
    /// Its name.
    pub node: Arc<str>,
    /// The extender's words.
    pub message: String,
    /// Whether putting pods out would not help.
    pub unresolvable: bool,
}

/// A candidate of preemption as the extender left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparedOn {
    /// The node.
    pub node: Arc<str>,
    /// The pods that would have to go.
    pub victims: Vec<Uid>,
    /// How many budgets that breaks, as the extender says.
    pub pdb_violations: i64,
}
