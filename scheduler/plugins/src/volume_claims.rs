//! Claims of pods as the volume plugins look them up, and kube-scheduler's words where one
//! is missing or is not the pod's.

use plimsoll_objects::{ObjectKey, PersistentVolumeClaim, Pod};

/// The text of a claim that is not there (a lister's error).
pub(crate) fn no_claim(key: &ObjectKey) -> String {
    format!("persistentvolumeclaim {:?} not found", &*key.name)
}

/// The claim of an ephemeral volume must have been made for the pod (`component-helpers`
/// `ephemeral.VolumeIsForPod`).
///
/// # Errors
/// The text to say so if it was not.
pub(crate) fn check_owner(pod: &Pod, claim: &PersistentVolumeClaim) -> Result<(), String> {
    let owner = claim.meta.controller.as_ref();
    if owner.is_some_and(|owner| owner.uid == *pod.uid()) {
        return Ok(());
    }
    let (claim, pod) = (&claim.meta.key, pod.key());
    Err(format!(
        "PVC {claim} was not created for pod {pod} (pod is not owner)"
    ))
}

/// Whether `pod` has a claim called as `claim`, named or made for an ephemeral volume.
pub(crate) fn uses(pod: &Pod, claim: &ObjectKey) -> bool {
    let volumes = pod.volumes().iter();
    let mut claims = volumes.filter_map(|volume| volume.claim_of(pod));
    claims.any(|key| key == *claim)
}

/// Whether `pod` names the claim; that of an ephemeral volume does not count.
pub(crate) fn names(pod: &Pod, claim: &ObjectKey) -> bool {
    let mut named = pod.volumes().iter().filter_map(|volume| volume.claim());
    pod.key().namespace == claim.namespace && named.any(|name| *name == claim.name)
}
