//! What a node would carry with other pods on it: for dry runs and nominated pods.
//!
//! Takes the node as the snapshot has it and as `Filter` is given it, gives by how much its
//! load would differ. Measurements of single pods are the load model's and not at hand
//! here, so a pod counts by what it requests (with kube-scheduler's assumptions for
//! containers that request nothing) or declares:
//!
//! - an added pod counts its request in full: it is not measured yet;
//! - a removed pod frees `min(request, used * request / requests of all the node's pods)`:
//!   its share of what is measured, and never more than it may use by its request. On a
//!   node whose pods use less than they request that keeps preemption from evicting pods
//!   for load that is not theirs.

use std::collections::BTreeSet;

use plimsoll_framework::{LoadResource, NodeInfo, NodeLoad, PodEstimate};
use plimsoll_objects::{Pod, Uid};

/// By how much the load of `node` would differ from that of `known`, which it was made from
/// and which has the load `row`.
pub(super) fn of(known: &NodeInfo, node: &NodeInfo, row: &NodeLoad) -> PodEstimate {
    let (before, after) = (uids(known), uids(node));
    let all = sum(known.pods.iter().map(AsRef::as_ref));
    let removed = known.pods.iter().filter(|pod| !after.contains(pod.uid()));
    let removed = sum(removed.map(AsRef::as_ref));
    let added = node.pods.iter().filter(|pod| !before.contains(pod.uid()));
    let added = sum(added.map(AsRef::as_ref));
    let difference = |resource| {
        let used = row.get(resource).used.unwrap_or(0.0).max(0.0);
        let (removed, all) = (removed.get(resource), all.get(resource));
        let share = if all > 0.0 { removed / all } else { 0.0 };
        added.get(resource) - (used * share).min(removed)
    };
    PodEstimate {
        cpu: difference(LoadResource::Cpu),
        memory: difference(LoadResource::Memory),
        rx: difference(LoadResource::Rx),
        tx: difference(LoadResource::Tx),
    }
}

/// The sum of both.
pub(super) fn add(one: &PodEstimate, other: PodEstimate) -> PodEstimate {
    PodEstimate {
        cpu: one.cpu + other.cpu,
        memory: one.memory + other.memory,
        rx: one.rx + other.rx,
        tx: one.tx + other.tx,
    }
}

fn uids(node: &NodeInfo) -> BTreeSet<&Uid> {
    node.pods.iter().map(|pod| pod.uid()).collect()
}

fn sum<'p>(pods: impl Iterator<Item = &'p Pod>) -> PodEstimate {
    pods.fold(PodEstimate::default(), |sum, pod| {
        let asked = pod.spec.requests.placed_scoring;
        let declared = &pod.spec.bandwidth;
        let pod = PodEstimate {
            cpu: asked.cpu as f64,
            memory: asked.memory as f64,
            rx: declared.ingress.unwrap_or(0) as f64,
            tx: declared.egress.unwrap_or(0) as f64,
        };
        add(&sum, pod)
    })
}
