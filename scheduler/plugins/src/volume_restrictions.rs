//! `VolumeRestrictions`: disks that pods of one node cannot share, claims for one pod alone.
//!
//! kube-scheduler `plugins/volumerestrictions`. Which claims are in use is the snapshot's own
//! index; which disks, the node's list of pods with volumes.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::volume::READ_WRITE_ONCE_POD;
use plimsoll_objects::{Object, Pod};

use crate::{hints, unread_args, volume_claims};

/// The plugin's name.
pub const NAME: &str = "VolumeRestrictions";

const REASON_DISK: &str = "node(s) had no available disk";
const REASON_CLAIM: &str = "node(s) unavailable due to PersistentVolumeClaim with \
                            ReadWriteOncePod access mode already in-use by another pod";

struct VolumeRestrictions;

/// The pod's claims that one pod alone may use, and how often other pods use them.
#[derive(Debug, Clone)]
struct Exclusive {
    claims: Arc<BTreeSet<Arc<str>>>,
    users: i64,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Anything,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(VolumeRestrictions);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for VolumeRestrictions {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let claims = exclusive_claims(cycle)?;
        let in_use = claims
            .iter()
            .filter(|name| cycle.snapshot.is_claim_used(&cycle.pod.claim_key(name)));
        // One pod at most can use such a claim.
        let users = i64::try_from(in_use.count()).unwrap_or(i64::MAX);
        let mut volumes = cycle.pod.volumes().iter();
        if users == 0 && !volumes.any(|volume| volume.disk().is_some()) {
            return Ok(PreFilterOutcome::Skip);
        }
        let claims = Arc::new(claims);
        state.insert(Exclusive { claims, users });
        Ok(PreFilterOutcome::Ready)
    }

    fn add_pod(
        &self,
        _cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        _node: &NodeInfo,
    ) -> Result<(), Rejection> {
        count(state, other, 1);
        Ok(())
    }

    fn remove_pod(
        &self,
        _cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        _node: &NodeInfo,
    ) -> Result<(), Rejection> {
        count(state, other, -1);
        Ok(())
    }
}

impl Filter for VolumeRestrictions {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let mut others = node.volume_pods.iter();
        if others.any(|other| shares_a_disk(cycle.pod, other)) {
            return Err(Rejection::unschedulable(REASON_DISK));
        }
        let Some(exclusive) = state.get::<Exclusive>() else {
            let text = "cannot read \"PreFilterVolumeRestrictions\" from cycleState";
            return Err(Rejection::error(text));
        };
        if exclusive.users > 0 {
            return Err(Rejection::unschedulable(REASON_CLAIM));
        }
        Ok(FilterOutcome::Pass)
    }
}

impl EnqueueExtensions for VolumeRestrictions {
    /// Volumes of a pod cannot change, so no update of one counts.
    fn events(&self) -> Vec<ClusterEvent> {
        vec![
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
            ClusterEvent::new(EventResource::Node, Actions::ADD),
            ClusterEvent::new(EventResource::PersistentVolumeClaim, Actions::ADD),
        ]
    }

    /// A pod that goes wakes the waiting one if it held one of its disks or claims; a claim
    /// that comes, if the pod names it.
    ///
    /// `Differs:` kube-scheduler looks at pods of the same namespace only, so that a pod
    /// sleeps through the end of one elsewhere that held its disk.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Pod {
                old: Some(gone), ..
            } => {
                let mut claims = gone.volumes().iter().filter_map(|volume| volume.claim());
                let shared = claims.any(|name| volume_claims::names(pod, &gone.claim_key(name)));
                hints::when(shared || shares_a_disk(pod, gone))
            }
            Change::Object {
                new: Some(Object::PersistentVolumeClaim(claim)),
                ..
            } => hints::when(volume_claims::names(pod, &claim.meta.key)),
            Change::Pod { old: None, .. }
            | Change::Node { .. }
            | Change::Object { .. }
            | Change::Load { .. }
            | Change::None => Hint::Queue,
        }
    }
}

/// Names of the claims that the pod alone may use.
fn exclusive_claims(cycle: &Cycle<'_>) -> Result<BTreeSet<Arc<str>>, Rejection> {
    let shelf = &cycle.snapshot.catalog().persistent_volume_claims;
    let mut names = BTreeSet::new();
    for name in cycle
        .pod
        .volumes()
        .iter()
        .filter_map(|volume| volume.claim())
    {
        let key = cycle.pod.claim_key(name);
        let Some(claim) = shelf.stored(&key) else {
            return Err(Rejection::unresolvable(volume_claims::no_claim(&key)));
        };
        let mut modes = claim.access_modes.iter();
        if modes.any(|mode| **mode == *READ_WRITE_ONCE_POD) {
            names.insert(Arc::clone(name));
        }
    }
    Ok(names)
}

/// Adds `sign` for each volume of `other` that is one of the pod's exclusive claims. As in
/// kube-scheduler the name counts, in whatever namespace.
fn count(state: &mut CycleState, other: &Pod, sign: i64) {
    let Some(exclusive) = state.get_mut::<Exclusive>() else {
        return;
    };
    let named = other.volumes().iter().filter_map(|volume| volume.claim());
    let shared = named
        .filter(|name| exclusive.claims.contains(*name))
        .count();
    let shared = i64::try_from(shared).unwrap_or(i64::MAX);
    exclusive.users = exclusive.users.saturating_add(shared.saturating_mul(sign));
}

/// Whether a disk of `pod` cannot be on one node with one of `other`.
fn shares_a_disk(pod: &Pod, other: &Pod) -> bool {
    let disks = |pod| Pod::volumes(pod).iter().filter_map(|volume| volume.disk());
    disks(pod).any(|disk| disks(other).any(|used| disk.conflicts_with(used)))
}
