//! `PostBind`: the pod is bound.

use plimsoll_objects::Pod;

use crate::cycle_state::CycleState;

/// Told after a pod was bound: for plugins that clean up.
pub trait PostBind: Send + Sync {
    /// `pod` is bound to `node`.
    fn post_bind(&self, pod: &Pod, state: &mut CycleState, node: &str);
}
