//! `VolumeZone`: the zone labels of the pod's volumes must be among those of the node.
//!
//! kube-scheduler `plugins/volumezone`. Only volumes that are bound count; a label may list
//! several zones, and a beta label of a volume is met by the node's label of today.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::storage::BindingMode;
use plimsoll_objects::{Object, PersistentVolume, PersistentVolumeClaim, Pod};

use crate::{hints, unread_args, volume_claims};

/// The plugin's name.
pub const NAME: &str = "VolumeZone";

const REASON: &str = "node(s) had no available volume zone";
/// Labels of volumes that count, each with the one that a node may have in its place.
const LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    (ZONE, ZONE),
    (REGION, REGION),
];
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
/// Between the zones of a label that lists several.
const DELIMITER: &str = "__";

struct VolumeZone;

/// Where the pod's volumes are.
#[derive(Debug, Clone)]
struct Places(Arc<[Place]>);

/// What a label of a volume asks of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    key: &'static str,
    current_key: &'static str,
    values: BTreeSet<Box<str>>,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Anything,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(VolumeZone);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for VolumeZone {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let catalog = cycle.snapshot.catalog();
        let mut all = Vec::new();
        for name in cycle
            .pod
            .volumes()
            .iter()
            .filter_map(|volume| volume.claim())
        {
            if name.is_empty() {
                let text = "PersistentVolumeClaim had no name";
                return Err(Rejection::unresolvable(text));
            }
            let key = cycle.pod.claim_key(name);
            let Some(claim) = catalog.persistent_volume_claims.stored(&key) else {
                return Err(Rejection::unresolvable(volume_claims::no_claim(&key)));
            };
            if let Some(volume) = volume_of(claim, catalog)? {
                all.extend(places(volume));
            }
        }
        if all.is_empty() {
            return Ok(PreFilterOutcome::Skip);
        }
        state.insert(Places(all.into()));
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for VolumeZone {
    fn filter(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let labels = &node.node.meta.labels;
        let Some(Places(places)) = state.get() else {
            return Ok(FilterOutcome::Pass);
        };
        // A cluster without zones has no label on any node.
        if !LABELS.iter().any(|(key, _)| labels.contains_key(*key)) {
            return Ok(FilterOutcome::Pass);
        }
        let met = |place: &Place| {
            let value = labels.get(place.key);
            let value = value.or_else(|| labels.get(place.current_key));
            value.is_some_and(|value| place.values.contains(&**value))
        };
        if places.iter().all(met) {
            Ok(FilterOutcome::Pass)
        } else {
            Err(Rejection::unresolvable(REASON))
        }
    }
}

impl EnqueueExtensions for VolumeZone {
    fn events(&self) -> Vec<ClusterEvent> {
        let (changed, labelled) = (
            Actions::ADD | Actions::UPDATE,
            Actions::ADD | Actions::UPDATE_NODE_LABEL,
        );
        vec![
            ClusterEvent::new(EventResource::StorageClass, Actions::ADD),
            ClusterEvent::new(EventResource::Node, labelled),
            ClusterEvent::new(EventResource::PersistentVolumeClaim, changed),
            ClusterEvent::new(EventResource::PersistentVolume, changed),
        ]
    }

    /// A claim wakes the pod that names it; a volume, if it is new or lies elsewhere; a class,
    /// if its claims wait for their pods.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Object {
                new: Some(Object::PersistentVolumeClaim(claim)),
                ..
            } => hints::when(volume_claims::names(pod, &claim.meta.key)),
            Change::Object {
                new: Some(Object::StorageClass(class)),
                ..
            } => hints::when(class.binding_mode == Some(BindingMode::WaitForFirstConsumer)),
            Change::Object {
                old: Some(Object::PersistentVolume(old)),
                new: Some(Object::PersistentVolume(new)),
            } => hints::when(places(old) != places(new)),
            Change::Object { .. }
            | Change::Node { .. }
            | Change::Pod { .. }
            | Change::Load { .. }
            | Change::None => Hint::Queue,
        }
    }
}

/// The volume of a claim; none for one that waits for its pod to have a node.
fn volume_of<'a>(
    claim: &PersistentVolumeClaim,
    catalog: &'a Catalog,
) -> Result<Option<&'a PersistentVolume>, Rejection> {
    if let Some(name) = &claim.volume {
        let volume = catalog.persistent_volumes.called(name);
        let gone = || format!("persistentvolume {:?} not found", &**name);
        let volume = volume.ok_or_else(|| Rejection::unresolvable(gone()))?;
        return Ok(Some(volume));
    }
    let Some(class) = &claim.class else {
        let text = "PersistentVolumeClaim had no pv name and storageClass name";
        return Err(Rejection::unresolvable(text));
    };
    let Some(found) = catalog.storage_classes.called(class) else {
        let text = format!("storageclass.storage.k8s.io {:?} not found", &**class);
        return Err(Rejection::unresolvable(text));
    };
    match found.binding_mode {
        Some(BindingMode::WaitForFirstConsumer) => Ok(None),
        Some(BindingMode::Immediate) => {
            Err(Rejection::unresolvable("PersistentVolume had no name"))
        }
        None => {
            let text = format!("VolumeBindingMode not set for StorageClass {:?}", &**class);
            Err(Rejection::unresolvable(text))
        }
    }
}

/// What the labels of `volume` ask of a node; one with an empty zone is left out.
fn places(volume: &PersistentVolume) -> Vec<Place> {
    let labels = LABELS.iter().filter_map(|(key, current_key)| {
        let value = volume.meta.labels.get(*key)?;
        let values: BTreeSet<Box<str>> = value
            .split(DELIMITER)
            .map(|zone| zone.trim().into())
            .collect();
        (!values.contains("")).then_some(Place {
            key,
            current_key,
            values,
        })
    });
    labels.collect()
}
