//! `PostFilter`: no node passes; what could be done about it?

use std::sync::Arc;

use plimsoll_objects::Pod;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::effect::ObjectWrite;
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

    /// Chooses again, among `candidates`: what HTTP extenders have left of those that it
    /// named. There is at least one. The first of them, unless the plugin knows better.
    ///
    /// # Errors
    /// None will do.
    fn choose(
        &self,
        _cycle: &Cycle<'_>,
        mut candidates: Vec<Preemption>,
    ) -> Result<PostFilterOutcome, Rejection> {
        candidates.truncate(1);
        let first = candidates.first();
        let first = first.ok_or_else(|| Rejection::unschedulable("no candidates"))?;
        Ok(PostFilterOutcome::Nominate {
            node: first.node,
            victims: first.victims.clone(),
            reason: None,
            tied: vec![first.node],
            candidates,
        })
    }
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
        /// Every node where preemption would do, in the order looked at; for people and
        /// tests. Empty where the plugin does not tell.
        candidates: Vec<Preemption>,
        /// The candidates that are as good as the chosen one, itself included.
        tied: Vec<NodeId>,
    },
    /// The pod may be tried again once `writes` are done, such as freeing a claim.
    Retry {
        /// What is to be written.
        writes: Vec<ObjectWrite>,
        /// Text for the pod's message.
        reason: Option<Reason>,
    },
    /// Nothing can be done, and an earlier promise of a node does not hold any more.
    Withdraw {
        /// Text for the pod's message.
        reason: Option<Reason>,
    },
}

/// What preemption on one node would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Preemption {
    /// The node.
    pub node: NodeId,
    /// Pods to evict, most important first.
    pub victims: Vec<Arc<Pod>>,
    /// How many of them their disruption budgets do not allow to go.
    pub pdb_violations: usize,
}
