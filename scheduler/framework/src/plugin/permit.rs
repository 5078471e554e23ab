//! `Permit`: the last word before binding.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::{Pod, Uid};

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::NodeInfo;
use crate::rejection::{Reason, Rejection};

/// Longest time that a pod may wait, whatever a plugin asks for (kube-scheduler
/// `maxTimeout`).
pub const MAX_PERMIT_WAIT: Duration = Duration::from_mins(15);

/// Allows, rejects or holds a pod that has its node reserved.
pub trait Permit: Send + Sync {
    /// Judges the pod, and may let go pods that wait for this same plugin.
    ///
    /// # Errors
    /// The pod is turned down and everything is unreserved.
    fn permit(
        &self,
        request: &PermitRequest<'_>,
        state: &mut CycleState,
    ) -> Result<PermitOutcome, Rejection>;
}

/// What `Permit` is asked.
#[derive(Debug, Clone, Copy)]
pub struct PermitRequest<'a> {
    /// The cycle.
    pub cycle: &'a Cycle<'a>,
    /// The node that the pod has reserved.
    pub node: &'a NodeInfo,
    /// The pods of this profile that wait for this plugin, in the order they began to wait.
    pub waiting: &'a [WaitingPod],
}

/// A pod that waits for a plugin's permission.
#[derive(Debug, Clone)]
pub struct WaitingPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// The node that it holds.
    pub node: Arc<str>,
    /// When it began to wait, on the engine's monotonic clock.
    pub since: Duration,
}

/// What `Permit` says.
#[derive(Debug, Clone, PartialEq)]
pub enum PermitOutcome {
    /// Binding may begin, and so it may for those in `release`.
    Allow {
        /// Pods that wait for this plugin and need not any longer.
        release: Vec<Release>,
    },
    /// The pod holds its node and waits, at most so long (capped at [`MAX_PERMIT_WAIT`]).
    Wait {
        /// How long before it is turned down.
        timeout: Duration,
    },
}

/// What becomes of a pod that waits.
#[derive(Debug, Clone, PartialEq)]
pub enum Release {
    /// It may bind, as far as this plugin goes.
    Allow(Uid),
    /// It is turned down.
    Reject(Uid, Reason),
}
