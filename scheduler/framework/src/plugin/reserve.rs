//! `Reserve`: the pod takes its node; and gives it back when anything fails.

use plimsoll_objects::Pod;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::NodeInfo;
use crate::rejection::Rejection;

/// Takes and gives back what a plugin holds outside the node's sums. A plugin that reserves
/// must unreserve: neither method has a default body.
pub trait Reserve: Send + Sync {
    /// The pod is about to take `node`.
    ///
    /// # Errors
    /// The pod cannot have it: every plugin is told to unreserve.
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
    ) -> Result<(), Rejection>;

    /// The pod does not take `node` after all. Runs for every plugin, in reverse order, also
    /// for those whose `reserve` did not run: it must be idempotent and cannot fail.
    fn unreserve(&self, pod: &Pod, state: &mut CycleState, node: &str);
}
