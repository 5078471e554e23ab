//! `PreFilter`: what can be said once per pod, before any node.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_objects::Pod;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::{NodeId, NodeInfo};
use crate::rejection::Rejection;
use crate::snapshot::Snapshot;

/// Computes what the plugin's `Filter` needs, or narrows the nodes, or turns the pod down.
pub trait PreFilter: Send + Sync {
    /// Runs once per cycle.
    ///
    /// # Errors
    /// `UnschedulableAndUnresolvable` ends the cycle at once, `Unschedulable` after the other
    /// plugins ran.
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection>;

    /// `other` is thought to be on `node` too: updates what `pre_filter` stored.
    ///
    /// # Errors
    /// An internal error.
    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        let _: (&Cycle<'_>, &mut CycleState, &Pod, &NodeInfo) = (cycle, state, other, node);
        Ok(())
    }

    /// `other` is thought to be gone from `node`: updates what `pre_filter` stored.
    ///
    /// # Errors
    /// An internal error.
    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        let _: (&Cycle<'_>, &mut CycleState, &Pod, &NodeInfo) = (cycle, state, other, node);
        Ok(())
    }
}

/// What a `PreFilter` has to say about a pod that it lets pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreFilterOutcome {
    /// Nothing more: every node goes on to Filter.
    Ready,
    /// The plugin's Filter has nothing to judge: it is skipped in this cycle.
    Skip,
    /// Only these nodes can do.
    Nodes(BTreeSet<NodeId>),
    /// Only these nodes can do, which the pod names ([`PreFilterOutcome::named`]).
    Named {
        /// Those that are there.
        nodes: BTreeSet<NodeId>,
        /// Names that no node has. They keep the set from being empty: that would mean that
        /// plugins contradict each other.
        absent: BTreeSet<Arc<str>>,
    },
}

// === impl PreFilterOutcome ===

impl PreFilterOutcome {
    /// Only the nodes called so can do.
    pub fn named(names: &BTreeSet<&str>, snapshot: &Snapshot) -> Self {
        let mut absent = names.clone();
        let mut nodes = BTreeSet::new();
        for node in snapshot.nodes() {
            if absent.remove(&**node.name()) {
                nodes.insert(node.id);
            }
        }
        let absent = absent.into_iter().map(Arc::from).collect();
        Self::Named { nodes, absent }
    }

    /// Whether the plugin lets the node `id` go on to Filter.
    pub fn admits(&self, id: NodeId) -> bool {
        match self {
            Self::Ready | Self::Skip => true,
            Self::Nodes(nodes) | Self::Named { nodes, .. } => nodes.contains(&id),
        }
    }
}
