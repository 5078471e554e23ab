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
}

/// A node and its score by one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeScore {
    /// The node.
    pub node: NodeId,
    /// Its score.
    pub score: i64,
}
