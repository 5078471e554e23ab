//! What every hook of a scheduling cycle is given.

use plimsoll_objects::Pod;

use crate::load::PodEstimate;
use crate::now::Now;
use crate::snapshot::Snapshot;

/// One scheduling cycle: one pod, one snapshot, one instant. Nothing in it changes while
/// the cycle runs.
#[derive(Debug, Clone, Copy)]
pub struct Cycle<'a> {
    /// The pod to place.
    pub pod: &'a Pod,
    /// What the pod will use before it is measured, by the load model.
    pub estimate: &'a PodEstimate,
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// When the cycle began.
    pub now: Now,
}
