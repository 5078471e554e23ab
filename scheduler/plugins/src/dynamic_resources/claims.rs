//! The claims of a pod: which they are, and whether they can be used.

use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::pod_claim::{ClaimSource, PodClaims};
use plimsoll_objects::{ObjectKey, Pod, ResourceClaim};

/// What the pod claims, if anything.
pub(super) fn wanted(pod: &Pod) -> Option<&PodClaims> {
    pod.spec.constraints.as_deref()?.claims.as_deref()
}

/// The claims of `pod` in the order of its spec (`foreachPodResourceClaim`).
///
/// # Errors
/// Why the pod has to wait.
pub(super) fn of_pod(pod: &Pod, catalog: &Catalog) -> Result<Vec<Arc<ResourceClaim>>, String> {
    let wanted = wanted(pod).map_or(&[][..], |wanted| &wanted.claims);
    let mut claims = Vec::with_capacity(wanted.len());
    for claim in wanted {
        let (name, must_own) = match &claim.source {
            ClaimSource::Named(name) => (name, false),
            ClaimSource::Generated(Some(name)) => (name, true),
            ClaimSource::Generated(None) => continue,
            ClaimSource::NotYetGenerated => {
                let pod = pod.key();
                return Err(format!("pod \"{pod}\": ResourceClaim not created yet"));
            }
            ClaimSource::Unknown => {
                return Err(format!(
                    "pod \"{}\", spec.resourceClaim {:?}: none of the supported fields are set",
                    pod.key(),
                    claim.name
                ));
            }
        };
        let key = ObjectKey {
            namespace: Arc::clone(&pod.key().namespace),
            name: Arc::clone(name),
        };
        let Some(found) = settled(catalog, &key) else {
            return Err(format!("could not find ResourceClaim \"{key}\""));
        };
        if found.meta.deleted.is_some() {
            return Err(format!("resourceclaim {name:?} is being deleted"));
        }
        if must_own && !is_owned(found, pod) {
            return Err(format!(
                "ResourceClaim {key} was not created for Pod {} (Pod is not owner)",
                pod.key()
            ));
        }
        claims.push(Arc::clone(found));
    }
    Ok(claims)
}

fn is_owned(claim: &ResourceClaim, pod: &Pod) -> bool {
    let owner = claim.meta.controller.as_ref();
    owner.is_some_and(|owner| owner.uid == *pod.uid())
}

/// The claim without an allocation that is still to be written.
pub(super) fn settled<'c>(catalog: &'c Catalog, key: &ObjectKey) -> Option<&'c Arc<ResourceClaim>> {
    if is_in_flight(catalog, key) {
        catalog.resource_claims.stored(key)
    } else {
        catalog.resource_claims.get(key)
    }
}

/// Whether an allocation of the claim is still to be written.
pub(super) fn is_in_flight(catalog: &Catalog, key: &ObjectKey) -> bool {
    let allocated =
        |claim: Option<&Arc<ResourceClaim>>| claim.is_some_and(|one| one.is_allocated());
    let (now, stored) = (
        catalog.resource_claims.get(key),
        catalog.resource_claims.stored(key),
    );
    allocated(now) && !allocated(stored)
}

/// The claim that was made for the extended resources of `pod` in an earlier attempt.
pub(super) fn of_extended_resources<'c>(
    pod: &Pod,
    catalog: &'c Catalog,
) -> Option<&'c Arc<ResourceClaim>> {
    let mut claims = catalog.resource_claims.in_namespace(&pod.key().namespace);
    claims.find(|claim| {
        let owner = claim.meta.controller.as_ref();
        claim.for_extended_resources
            && owner.is_some_and(|owner| owner.uid == *pod.uid() && owner.name == pod.key().name)
    })
}
