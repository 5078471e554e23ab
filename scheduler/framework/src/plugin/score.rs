//! `Score`: how good is a node for the pod?

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::{NodeId, NodeInfo};
use crate::rejection::Rejection;

/// Scores nodes. After `normalize` every score must lie in 0..=100.
pub trait Score: Send + Sync {
    /// The raw score of one node, in any range.
    ///
    /// # Errors
    /// Any rejection fails the attempt.
    fn score(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection>;

    /// Maps the raw scores of all feasible nodes to 0..=100, in place. The default leaves
    /// them as they are.
    ///
    /// # Errors
    /// Any rejection fails the attempt.
    fn normalize(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        let _: (&Cycle<'_>, &CycleState, &mut [NodeScore]) = (cycle, state, scores);
        Ok(())
    }

    /// Adds the raw scores of `nodes` to `scores`, one each, in their order. The default
    /// asks for one after the other; a plugin that has prepared them all can do better.
    ///
    /// # Errors
    /// Any rejection fails the attempt.
    fn score_nodes(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        score_one_by_one(self, cycle, state, nodes, scores)
    }

    /// What `normalize` reads: it is not called again where that is as it was.
    fn normalizes(&self) -> Normalizes {
        Normalizes::ByAnything
    }
}

/// Adds the raw scores of `nodes` to `scores`, one after the other.
///
/// # Errors
/// That of the first node that has one.
pub fn score_one_by_one<T: Score + ?Sized>(
    plugin: &T,
    cycle: &Cycle<'_>,
    state: &CycleState,
    nodes: &[NodeId],
    scores: &mut Vec<i64>,
) -> Result<(), Rejection> {
    for node in nodes {
        if let Some(info) = cycle.snapshot.get(*node) {
            scores.push(plugin.score(cycle, state, info)?);
        }
    }
    Ok(())
}

/// What `normalize` makes the scores from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalizes {
    /// It leaves them as they are: the score of one node can change without the others.
    Not,
    /// From the raw scores alone.
    ByScores,
    /// From anything.
    ByAnything,
}

/// A node and its score by one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeScore {
    /// The node.
    pub node: NodeId,
    /// Its score.
    pub score: i64,
}
