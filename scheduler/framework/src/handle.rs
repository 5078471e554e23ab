//! All that a `PostFilter` may ask of the engine: judge an edited node again.
//!
//! Everything is a question about values; nothing here changes the engine.

use std::sync::Arc;

use plimsoll_objects::Pod;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::node::NodeInfo;
use crate::plugin::FilterOutcome;
use crate::rejection::Rejection;

/// The engine, seen by a plugin that tries things out.
pub trait Handle {
    /// Runs every `Filter` of the profile on `node`, with the pods nominated to it counted
    /// as kube-scheduler does.
    ///
    /// # Errors
    /// The first rejection.
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection>;

    /// Adds `pod` to `node` and tells every `PreFilter` of the profile.
    ///
    /// # Errors
    /// An internal error of a plugin.
    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection>;

    /// Removes `pod` from `node` and tells every `PreFilter` of the profile.
    ///
    /// # Errors
    /// An internal error of a plugin.
    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        pod: &Arc<Pod>,
        node: &mut NodeInfo,
    ) -> Result<(), Rejection>;
}
