//! The decision record: what one attempt looked at and why it ended as it did.
//!
//! Given out with every attempt ([`Command::Decided`](crate::Command::Decided)); it holds
//! names and figures, no references into the engine.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{Detail, NodeLoad, PodEstimate, Reason, Rejection};

use crate::command::PodRef;

/// One scheduling attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The pod.
    pub pod: PodRef,
    /// The profile.
    pub scheduler_name: Arc<str>,
    /// 1 for the first.
    pub attempt: u32,
    /// When, on the engine's monotonic clock.
    pub at: Duration,
    /// From the first time in a queue to this attempt.
    pub waited: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// What the load model took the pod to use.
    pub estimate: PodEstimate,
    /// Nodes in the snapshot.
    pub nodes: usize,
    /// Nodes that were judged.
    pub evaluated: usize,
    /// Nodes that passed.
    pub feasible: usize,
    /// The best candidates, best first (at most [`KEPT_CANDIDATES`]).
    pub candidates: Vec<Candidate>,
    /// Number of nodes per reason, most first (at most [`KEPT_REASONS`]).
    pub rejections: Vec<RejectionCount>,
    /// The soft cap that the chosen node is over, where it is.
    pub over: Option<OverCap>,
}

/// How many candidates a record keeps: the chosen one, the runner-up and a few more.
pub const KEPT_CANDIDATES: usize = 5;
/// How many different reasons a record keeps.
pub const KEPT_REASONS: usize = 16;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A node was chosen and assumed.
    Chosen {
        /// Its name.
        node: Arc<str>,
        /// Why it was not scored, where it was not.
        unscored: Option<Unscored>,
    },
    /// No node.
    Unschedulable {
        /// The message of the condition.
        message: String,
    },
    /// An internal error.
    Failed {
        /// The message of the condition.
        message: String,
    },
}

/// Why a chosen node was not scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unscored {
    /// It was the only one that passed.
    OnlyFeasibleNode,
    /// The pod was nominated to it.
    NominatedNode,
    /// No node passed outright: it was the one least over a soft line.
    SoftCap,
}

/// A soft cap that was exceeded as no node is under it.
#[derive(Debug, Clone, PartialEq)]
pub struct OverCap {
    /// Stable text of the plugin, as of a rejection.
    pub reason: Reason,
    /// The figures behind it.
    pub detail: Option<Detail>,
    /// How far over the cap.
    pub excess: f64,
}

/// One node that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub node: Arc<str>,
    /// Sum of weight times score.
    pub total: i64,
    /// Score of each plugin; what HTTP extenders added comes last, as `Extender`.
    pub scores: Vec<PluginScore>,
    /// Its load at the decision.
    pub load: NodeLoad,
}

/// One plugin's score of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginScore {
    /// The plugin.
    pub plugin: &'static str,
    /// Its weight.
    pub weight: i64,
    /// Before normalising.
    pub raw: i64,
    /// After normalising, 0..=100.
    pub normalized: i64,
}

/// A reason and how many nodes gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct RejectionCount {
    /// The rejection of one of these nodes.
    pub rejection: Rejection,
    /// The name of that node.
    pub example: Arc<str>,
    /// How many.
    pub count: usize,
}

// === impl Decision ===

impl Decision {
    /// Age of the measurement of the chosen node; `None` where none was chosen or it never
    /// reported.
    pub fn sample_age(&self) -> Option<Duration> {
        let Outcome::Chosen { node, .. } = &self.outcome else {
            return None;
        };
        let mut candidates = self.candidates.iter();
        let chosen = candidates.find(|candidate| candidate.node == *node)?;
        chosen.load.sample_age
    }
}
