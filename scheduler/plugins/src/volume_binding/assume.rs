//! The objects as they will be once the pod has its node (kube-scheduler
//! `AssumePodVolumes`).

use std::sync::Arc;

use plimsoll_objects::volume::ClaimRef;
use plimsoll_objects::{Node, Object, PersistentVolume, PersistentVolumeClaim};

use super::bind::{Binding, BoundVolume, MadeVolume};
use super::find::PodVolumes;
use super::search::Match;

/// The objects that change, and what is to be done to bind them.
pub(super) fn assume(volumes: &PodVolumes, node: &Arc<Node>) -> (Vec<Object>, Binding) {
    let mut objects = Vec::new();
    let mut binding = Binding::new(Arc::clone(node));
    for found in &volumes.matches {
        let volume = set_aside(found);
        objects.extend(volume.clone().map(Object::PersistentVolume));
        binding.bound.push(BoundVolume {
            claim: Arc::clone(&found.claim),
            is_written: volume.is_some(),
            volume: volume.unwrap_or_else(|| Arc::clone(&found.volume)),
        });
    }
    for made in &volumes.provisions {
        let key = &made.claim.meta.key;
        // A pod may name one claim twice.
        if binding
            .made
            .iter()
            .any(|other| other.claim.meta.key == *key)
        {
            continue;
        }
        let claim = choose(&made.claim, node);
        objects.extend(claim.clone().map(Object::PersistentVolumeClaim));
        binding.made.push(MadeVolume {
            is_written: claim.is_some(),
            claim: claim.unwrap_or_else(|| Arc::clone(&made.claim)),
        });
    }
    (objects, binding)
}

/// The volume set aside for its claim (`component-helpers` `GetBindVolumeToClaim`); `None` if
/// it is already.
fn set_aside(found: &Match) -> Option<Arc<PersistentVolume>> {
    let claim = &found.claim.meta;
    let mut volume = (*found.volume).clone();
    if !volume.is_bound_to(&found.claim) {
        volume.bound_by_controller = true;
    }
    volume.claim_ref = Some(ClaimRef {
        key: claim.key.clone(),
        uid: Some(claim.uid.clone()),
    });
    (volume != *found.volume).then(|| Arc::new(volume))
}

/// The claim with its node; `None` if it has that already.
fn choose(claim: &PersistentVolumeClaim, node: &Node) -> Option<Arc<PersistentVolumeClaim>> {
    if claim.selected_node.as_ref() == Some(node.name()) {
        return None;
    }
    let mut chosen = claim.clone();
    chosen.selected_node = Some(Arc::clone(node.name()));
    chosen.annotated = true;
    Some(Arc::new(chosen))
}
