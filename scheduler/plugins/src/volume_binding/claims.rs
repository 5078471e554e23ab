//! The claims of a pod: whether all can be used, and who binds each.

use std::sync::Arc;

use plimsoll_framework::{Catalog, Rejection};
use plimsoll_objects::storage::BindingMode;
use plimsoll_objects::{PersistentVolumeClaim, Pod, PodVolume};

use crate::volume_claims;

/// A pod's claims by who binds them.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Those that have their volumes.
    pub(super) bound: Vec<Arc<PersistentVolumeClaim>>,
    /// Those that are bound once the pod has a node.
    pub(super) delayed: Vec<Arc<PersistentVolumeClaim>>,
    /// The volume controller has still to bind one.
    pub(super) waits_for_controller: bool,
}

/// Whether the pod has claims at all.
///
/// # Errors
/// One of them cannot be used.
pub(super) fn check(pod: &Pod, catalog: &Catalog) -> Result<bool, Rejection> {
    let mut has_claims = false;
    for volume in pod.volumes() {
        has_claims |= !matches!(volume, PodVolume::Inline(_));
        check_one(pod, volume, catalog).map_err(Rejection::unresolvable)?;
    }
    Ok(has_claims)
}

fn check_one(pod: &Pod, volume: &PodVolume, catalog: &Catalog) -> Result<(), String> {
    let Some(key) = volume.claim_of(pod) else {
        return Ok(());
    };
    let is_ephemeral = matches!(volume, PodVolume::Ephemeral(_));
    let name = &*key.name;
    let Some(claim) = catalog.persistent_volume_claims.stored(&key) else {
        return Err(if is_ephemeral {
            format!(
                "waiting for ephemeral volume controller to create \
                 the persistentvolumeclaim {name:?}"
            )
        } else {
            volume_claims::no_claim(&key)
        });
    };
    if claim.lost {
        let volume = claim.volume.as_deref().unwrap_or_default();
        return Err(format!(
            "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
        ));
    }
    if claim.meta.deleted.is_some() {
        return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
    }
    if is_ephemeral {
        volume_claims::check_owner(pod, claim)?;
    }
    Ok(())
}

/// Sorts the claims of a pod that were checked.
///
/// # Errors
/// It cannot be told when a claim is bound.
pub(super) fn sort(pod: &Pod, catalog: &Catalog) -> Result<Sorted, Rejection> {
    let mut sorted = Sorted::default();
    for key in pod
        .volumes()
        .iter()
        .filter_map(|volume| volume.claim_of(pod))
    {
        let Some(claim) = catalog.persistent_volume_claims.get(&key) else {
            let text = format!(
                "error getting PVC \"{key}\": {}",
                volume_claims::no_claim(&key)
            );
            return Err(Rejection::error(text));
        };
        if claim.is_fully_bound() {
            sorted.bound.push(Arc::clone(claim));
        } else if waits_for_pod(claim, catalog)? && claim.volume.is_none() {
            sorted.delayed.push(Arc::clone(claim));
        } else {
            sorted.waits_for_controller = true;
        }
    }
    Ok(sorted)
}

/// Whether the claim is bound once its pod has a node (`component-helpers`
/// `IsDelayBindingMode`).
fn waits_for_pod(claim: &PersistentVolumeClaim, catalog: &Catalog) -> Result<bool, Rejection> {
    let class = claim.class.as_ref();
    let Some(class) = class.and_then(|class| catalog.storage_classes.called(class)) else {
        return Ok(false);
    };
    let mode = class.binding_mode.ok_or_else(|| {
        let name = &*class.meta.key.name;
        let text = format!("VolumeBindingMode not set for StorageClass {name:?}");
        Rejection::error(text)
    })?;
    Ok(mode == BindingMode::WaitForFirstConsumer)
}
