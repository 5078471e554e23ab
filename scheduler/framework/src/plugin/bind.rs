//! `Bind`: who binds the pod, and how?

use plimsoll_objects::Pod;

use crate::cycle_state::CycleState;
use crate::effect::Effect;
use crate::rejection::Rejection;

/// Binds a pod. The first plugin that does not skip does it.
pub trait Bind: Send + Sync {
    /// Decides how `pod` is bound to `node`.
    ///
    /// # Errors
    /// Binding fails as after an internal error.
    fn bind(&self, pod: &Pod, state: &CycleState, node: &str) -> Result<BindOutcome, Rejection>;
}

/// How a pod is bound.
#[derive(Debug, Clone, PartialEq)]
pub enum BindOutcome {
    /// By a `Binding` with the pod's uid: the engine does it, within its bound of requests
    /// in flight.
    Binding,
    /// By these changes, in this order.
    Do(Vec<Effect>),
    /// Not by this plugin.
    Skip,
}
