//! Before the queue, and what wakes a pod that waits for claims or devices.

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, EnqueueExtensions, EventResource, Hint, PreEnqueue,
    Rejection,
};
use plimsoll_objects::{Object, Pod, ResourceClaim};

use super::{DynamicResources, claims};
use crate::hints;

impl PreEnqueue for DynamicResources {
    fn pre_enqueue(&self, pod: &Pod, catalog: &Catalog) -> Result<(), Rejection> {
        let found = claims::of_pod(pod, catalog);
        found.map(drop).map_err(Rejection::unresolvable)
    }
}

impl EnqueueExtensions for DynamicResources {
    fn events(&self) -> Vec<ClusterEvent> {
        let node = Actions::ADD | Actions::UPDATE_NODE_LABEL | Actions::UPDATE_NODE_ALLOCATABLE;
        let claim = Actions::ADD | Actions::UPDATE | Actions::DELETE;
        let more = Actions::ADD | Actions::UPDATE;
        let own = Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM;
        vec![
            ClusterEvent::new(EventResource::Node, node),
            ClusterEvent::new(EventResource::ResourceClaim, claim),
            ClusterEvent::new(EventResource::TargetPod, own),
            ClusterEvent::new(EventResource::DeviceClass, more),
            ClusterEvent::new(EventResource::ResourceSlice, more),
        ]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Object {
                old: old @ (None | Some(Object::ResourceClaim(_))),
                new: new @ (None | Some(Object::ResourceClaim(_))),
            } => claim_changed(pod, claim_of(*old), claim_of(*new), catalog),
            Change::Pod { new: Some(new), .. } => hints::when(claims::of_pod(new, catalog).is_ok()),
            Change::Object { .. }
            | Change::Pod { new: None, .. }
            | Change::Node { .. }
            | Change::Load { .. }
            | Change::None => Hint::Queue,
        }
    }
}

fn claim_of(object: Option<&Object>) -> Option<&ResourceClaim> {
    match object {
        Some(Object::ResourceClaim(claim)) => Some(claim),
        _ => None,
    }
}

/// Whether a change of a claim helps `pod` (`isSchedulableAfterClaimChange`).
fn claim_changed(
    pod: &Pod,
    old: Option<&ResourceClaim>,
    new: Option<&ResourceClaim>,
    catalog: &Catalog,
) -> Hint {
    let Some(new) = new else {
        // A claim that goes gives back what it had.
        return hints::when(old.is_none_or(ResourceClaim::is_allocated));
    };
    let Ok(claims) = claims::of_pod(pod, catalog) else {
        return Hint::Skip;
    };
    if old.is_some_and(ResourceClaim::is_allocated) && !new.is_allocated() {
        return Hint::Queue;
    }
    let is_own = claims.iter().any(|claim| claim.meta.uid == new.meta.uid);
    hints::when(is_own && old.is_none_or(|old| old.status != new.status))
}
