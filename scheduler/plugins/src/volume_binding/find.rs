//! The volumes for a pod on one node, or why there are none (kube-scheduler
//! `FindPodVolumes`).

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{Catalog, Rejection};
use plimsoll_objects::volume::{VolumeAffinity, VolumeSource};
use plimsoll_objects::{
    CsiNode, CsiStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim,
};

use super::plan::Plan;
use super::provision::{Answer, Provision};
use super::search::{Match, reaches};

const REASON_AFFINITY: &str = "node(s) didn't match PersistentVolume's node affinity";
const REASON_NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";
const REASON_FULL: &str = "node(s) did not have enough free storage";
const REASON_GONE: &str =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

/// The volumes that the pod's open claims get on a node.
#[derive(Debug, Default)]
pub(super) struct PodVolumes {
    /// Volumes that are there.
    pub(super) matches: Vec<Match>,
    /// Volumes that are to be made.
    pub(super) provisions: Vec<Provisioned>,
}

/// A claim whose volume is to be made.
#[derive(Debug)]
pub(super) struct Provisioned {
    /// The claim.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// What it is taken from, where that is known.
    pub(super) capacity: Option<Arc<CsiStorageCapacity>>,
}

/// Finds volumes for every claim.
///
/// # Errors
/// The node will not do, for one reason or two; or a claim or volume has a mistake.
pub(super) fn find(plan: &Plan, catalog: &Catalog, node: &Node) -> Result<PodVolumes, Rejection> {
    let bound = check_bound(plan, catalog, node)?;
    let (volumes, open) = match find_open(plan, node)? {
        Ok(volumes) => (volumes, None),
        Err(reason) => (PodVolumes::default(), Some(reason)),
    };
    // In the order in which kube-scheduler lists them.
    let of_bound = |reason| bound.filter(|found| *found == reason);
    let reasons = [of_bound(REASON_AFFINITY), open, of_bound(REASON_GONE)];
    let mut reasons = reasons.into_iter().flatten();
    let Some(first) = reasons.next() else {
        return Ok(volumes);
    };
    let mut rejection = Rejection::unresolvable(first);
    rejection.reasons.extend(reasons.map(Into::into));
    Err(rejection)
}

/// What is wrong with the volumes that the pod's claims have: the first mistake counts.
fn check_bound(
    plan: &Plan,
    catalog: &Catalog,
    node: &Node,
) -> Result<Option<&'static str>, Rejection> {
    for volume in &plan.bound {
        let Some(volume) = volume else {
            return Ok(Some(REASON_GONE));
        };
        let csi_node = || catalog.csi_nodes.called(node.name()).map(|found| &**found);
        let affinity = affinity_on(volume, csi_node)
            .map_err(|mistake| Rejection::error(format!("could not translate pv: {mistake}")))?;
        if !reaches(affinity, &node.meta.labels) {
            return Ok(Some(REASON_AFFINITY));
        }
    }
    Ok(None)
}

/// The affinity of a volume on a node: that of the CSI volume which stands for it, if the
/// node takes it so (kube-scheduler `tryTranslatePVToCSI`).
///
/// # Errors
/// There is no such volume.
pub(super) fn affinity_on<'v, 'n>(
    volume: &'v PersistentVolume,
    csi_node: impl FnOnce() -> Option<&'n CsiNode>,
) -> Result<Option<&'v VolumeAffinity>, &'v str> {
    let VolumeSource::InTree(migration) = &volume.source else {
        return Ok(volume.affinity.as_ref());
    };
    let plugin = migration.plugin;
    if !plugin.is_migrated() || !csi_node().is_some_and(|node| node.has_migrated(plugin)) {
        return Ok(volume.affinity.as_ref());
    }
    match &migration.translated {
        Ok(translated) => Ok(translated.affinity.as_ref()),
        Err(mistake) => Err(mistake),
    }
}

/// Volumes for the claims that have none, or the reason why there are none.
fn find_open(plan: &Plan, node: &Node) -> Result<Result<PodVolumes, &'static str>, Rejection> {
    if plan.chosen.iter().any(|claim| *claim.node != **node.name()) {
        return Ok(Err(REASON_NO_VOLUME));
    }
    let mut volumes = PodVolumes::default();
    let mut to_make: Vec<&Provision> = plan.chosen.iter().map(|claim| &claim.provision).collect();
    let mut taken = BTreeSet::new();
    for open in &plan.open {
        let search = open.search.as_ref();
        let search = search.map_err(|mistake| Rejection::error(mistake.clone()))?;
        let Some(volume) = search.find(&node.meta.labels, &taken) else {
            to_make.push(&open.provision);
            continue;
        };
        taken.insert(&volume.meta.key);
        volumes.matches.push(Match {
            claim: Arc::clone(&search.claim),
            volume: Arc::clone(volume),
        });
    }
    for provision in to_make {
        let answer = provision.on(&node.meta.labels);
        match answer.map_err(|mistake| Rejection::error(mistake.to_owned()))? {
            Answer::Yes(capacity) => volumes.provisions.push(Provisioned {
                claim: Arc::clone(&provision.claim),
                capacity,
            }),
            Answer::No => return Ok(Err(REASON_NO_VOLUME)),
            Answer::Full => return Ok(Err(REASON_FULL)),
        }
    }
    Ok(Ok(volumes))
}
