//! `PostFilter`: no node passes; what could be done about it?

use std::sync::Arc;

use plimsoll_objects::Pod;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::handle::Handle;
use crate::node::NodeId;
use crate::rejection::{Reason, Rejection};

/// Tries to make room. The first plugin that succeeds, or that answers
/// `UnschedulableAndUnresolvable`, is the last one asked.
pub trait PostFilter: Send + Sync {
    /// Runs when no node passed. `verdicts` has every node that was judged and its rejection.
    ///
    /// # Errors
    /// Nothing can be done; the reasons of all plugins are joined in the pod's message.
    fn post_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        verdicts: &[(NodeId, Rejection)],
        engine: &dyn Handle,
    ) -> Result<PostFilterOutcome, Rejection>;
}

/// What a `PostFilter` does.
#[derive(Debug, Clone, PartialEq)]
pub enum PostFilterOutcome {
    /// These victims are to go, and the pod is nominated to their node.
    Nominate {
        /// The node.
        node: NodeId,
        /// Pods to evict, most important first.
        victims: Vec<Arc<Pod>>,
        /// Text for the pod's message.
        reason: Option<Reason>,
    },
    /// The pod may be tried again as things are (the plugin changed something by effect of
    /// its verdict, such as freeing a claim).
    Retry {
        /// Text for the pod's message.
        reason: Option<Reason>,
    },
}
