//! `PreBind`: work that must be done before the pod is bound, as data.

use std::time::Duration;

use crate::catalog::Catalog;
use crate::cycle_state::CycleState;
use crate::effect::Effect;
use crate::event::ClusterEvent;
use crate::now::Now;
use crate::rejection::Rejection;

use plimsoll_objects::Pod;

/// Says what must be done, and whether it is done. Called again after each answer.
pub trait PreBind: Send + Sync {
    /// The next step for `pod`, which has `node` reserved.
    ///
    /// # Errors
    /// Binding fails as after an internal error; everything is unreserved.
    fn pre_bind(
        &self,
        step: &PreBindStep<'_>,
        state: &mut CycleState,
    ) -> Result<PreBindOutcome, Rejection>;
}

/// Where the work stands.
#[derive(Debug, Clone, Copy)]
pub struct PreBindStep<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// The name of its node.
    pub node: &'a str,
    /// 0 for the first call, then one more each time.
    pub attempt: u32,
    /// The objects as they are now.
    pub catalog: &'a Catalog,
    /// The instant.
    pub now: Now,
}

/// What `PreBind` says.
#[derive(Debug, Clone, PartialEq)]
pub enum PreBindOutcome {
    /// Nothing to do, or all done.
    Done,
    /// These changes, in this order; the hook is called again when all have been made. A
    /// change that fails fails the binding.
    Do(Vec<Effect>),
    /// Called again after any of these events, or at the deadline.
    WaitUntil {
        /// What may end the wait.
        events: Vec<ClusterEvent>,
        /// When to be called in any case, on the engine's monotonic clock.
        deadline: Duration,
    },
}
