//! `PreScore`: what can be computed over all candidates at once.

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::NodeId;
use crate::rejection::Rejection;

/// Prepares scoring: the place to normalise over the candidates, so that `Score` is a read.
pub trait PreScore: Send + Sync {
    /// Runs once per cycle with more than one feasible node.
    ///
    /// # Errors
    /// Any rejection fails the attempt.
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection>;
}

/// Whether the plugin's `Score` runs in this cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreScoreOutcome {
    /// It does.
    Ready,
    /// It has nothing to tell nodes apart by: it adds 0 to every node, not 100.
    Skip,
}
