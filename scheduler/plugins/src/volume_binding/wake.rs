//! Which changes may find a pod its volumes (kube-scheduler `isSchedulableAfter..` in
//! `volume_binding.go`).

use plimsoll_framework::{Change, Hint};
use plimsoll_objects::{Object, Pod, PodVolume};

use crate::{hints, volume_claims};

/// Whether `change` is worth another look at `pod`.
pub(super) fn hint(pod: &Pod, change: &Change<'_>) -> Hint {
    match change {
        Change::Object {
            old,
            new: Some(new),
        } => hints::when(helps(pod, *old, new)),
        Change::Object { new: None, .. }
        | Change::Node { .. }
        | Change::Pod { .. }
        | Change::Load { .. }
        | Change::None => Hint::Queue,
    }
}

fn helps(pod: &Pod, old: Option<&Object>, new: &Object) -> bool {
    if let Object::PersistentVolumeClaim(claim) = new {
        return volume_claims::uses(pod, &claim.meta.key);
    }
    match (old, new) {
        (Some(Object::StorageClass(old)), Object::StorageClass(new)) => {
            old.allowed_topologies != new.allowed_topologies
        }
        (Some(Object::CsiNode(old)), Object::CsiNode(new)) => {
            old.migrated_plugins != new.migrated_plugins
        }
        (Some(Object::CsiStorageCapacity(old)), Object::CsiStorageCapacity(new)) => {
            let (old, new) = (old.volume_limit(), new.volume_limit());
            new.is_some_and(|new| old.is_none_or(|old| new.value() > old.value()))
        }
        // `Differs:` kube-scheduler looks for inline volumes of the driver, which need no
        // binding, so that a pod sleeps on whose claims would not be held against capacity
        // any more.
        (Some(Object::CsiDriver(old)), Object::CsiDriver(new)) => {
            let mut volumes = pod.volumes().iter();
            let has_claims = volumes.any(|volume| !matches!(volume, PodVolume::Inline(_)));
            old.storage_capacity && !new.storage_capacity && has_claims
        }
        _ => true,
    }
}
