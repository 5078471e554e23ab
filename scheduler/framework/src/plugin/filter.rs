//! `Filter`: may the pod run on this node?

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::detail::Detail;
use crate::node::NodeInfo;
use crate::rejection::{Reason, Rejection};

/// Judges one node. Must read nothing that its plugin's `depends` does not name.
pub trait Filter: Send + Sync {
    /// Judges `node`, which may differ from the snapshot's (in a preemption dry run, or with
    /// nominated pods added).
    ///
    /// # Errors
    /// The node is rejected; the first rejection of a node is its last word.
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection>;
}

/// How a node passes.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterOutcome {
    /// Outright.
    Pass,
    /// Only if no node passes outright: the node goes on through all other filters, and of
    /// the soft ones those with the least excess are taken. Never causes preemption.
    Soft {
        /// How far over the line: smaller is better; comparable within one plugin's nodes.
        excess: f64,
        /// Stable text, as of a rejection.
        reason: Reason,
        /// Figures, for the decision record.
        detail: Option<Detail>,
    },
}
