//! `Reserve`: the pod takes its node; and gives it back when anything fails.

use plimsoll_objects::{Object, Pod};

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::effect::ObjectWrite;
use crate::node::NodeInfo;
use crate::rejection::Rejection;

/// Takes and gives back what a plugin holds outside the node's sums. A plugin that reserves
/// must unreserve: neither method has a default body.
pub trait Reserve: Send + Sync {
    /// The pod is about to take `node`. Gives the objects as they will be once the pod is
    /// bound: they are taken so by everybody from now on, until the API server has a newer
    /// version or the pod gives `node` back.
    ///
    /// # Errors
    /// The pod cannot have it: every plugin is told to unreserve.
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection>;

    /// The pod does not take `node` after all. Runs for every plugin, in reverse order, also
    /// for those whose `reserve` did not run: it must be idempotent and cannot fail. What
    /// `reserve` gave is taken back by the engine; the writes returned here undo what was
    /// written since. Nobody waits for them.
    fn unreserve(&self, pod: &Pod, state: &mut CycleState, node: &str) -> Vec<ObjectWrite>;
}
