//! A plugin that reads, takes and gives back objects of another kind.

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, EnqueueExtensions, EventResource,
    Hint, NodeInfo, ObjectWrite, PreEnqueue, PreFilter, PreFilterOutcome, Rejection, Reserve,
    WriteVerb,
};
use plimsoll_objects::{Object, ObjectKey, PersistentVolumeClaim, Pod};
use serde_json::json;

use super::{label, note};

/// Pod label `claim`: a claim that must be there and that one pod can have; `gate-claim`: one
/// without which the pod is held back; `unreserve: writes`: a write when it is given back.
pub(super) struct Claims;

fn named<'c>(pod: &Pod, by: &str, catalog: &'c Catalog) -> Option<&'c Arc<PersistentVolumeClaim>> {
    let key = ObjectKey::new(&pod.key().namespace, label(pod, by)?);
    catalog.persistent_volume_claims.get(&key)
}

impl PreEnqueue for Claims {
    fn pre_enqueue(&self, pod: &Pod, catalog: &Catalog) -> Result<(), Rejection> {
        match label(pod, "gate-claim") {
            Some(_) if named(pod, "gate-claim", catalog).is_none() => {
                Err(Rejection::unresolvable("waiting for a claim"))
            }
            _ => Ok(()),
        }
    }
}

impl PreFilter for Claims {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        if label(cycle.pod, "claim").is_none() {
            return Ok(PreFilterOutcome::Skip);
        }
        match named(cycle.pod, "claim", cycle.snapshot.catalog()) {
            None => Err(Rejection::unresolvable("no such claim")),
            Some(claim) if claim.selected_node.is_some() => {
                Err(Rejection::unresolvable("claim is taken"))
            }
            Some(_) => Ok(PreFilterOutcome::Ready),
        }
    }
}

impl Reserve for Claims {
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
        node: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection> {
        let claim = named(cycle.pod, "claim", cycle.snapshot.catalog());
        let taken = claim.map(|claim| {
            let mut taken = PersistentVolumeClaim::clone(claim);
            taken.selected_node = Some(Arc::clone(node.name()));
            Object::PersistentVolumeClaim(Arc::new(taken))
        });
        Ok(taken.into_iter().collect())
    }

    fn unreserve(&self, pod: &Pod, _: &mut CycleState, _: &str) -> Vec<ObjectWrite> {
        let writes = label(pod, "unreserve") == Some("writes");
        writes.then(|| write(pod)).into_iter().collect()
    }
}

/// A write to the claim of `pod`.
pub(super) fn write(pod: &Pod) -> ObjectWrite {
    ObjectWrite {
        api_version: "v1".to_owned(),
        kind: "PersistentVolumeClaim".to_owned(),
        key: ObjectKey::new(
            &pod.key().namespace,
            label(pod, "claim").unwrap_or_default(),
        ),
        subresource: String::new(),
        verb: WriteVerb::MergePatch(json!({})),
    }
}

impl EnqueueExtensions for Claims {
    fn events(&self) -> Vec<ClusterEvent> {
        let changed = Actions::ADD | Actions::UPDATE | Actions::DELETE;
        vec![
            ClusterEvent::new(EventResource::PersistentVolumeClaim, changed),
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
        ]
    }

    /// Reads the catalog as it is after the change.
    fn hint(&self, pod: &Pod, _: ClusterEvent, change: &Change<'_>, catalog: &Catalog) -> Hint {
        if let Change::Object { old, new } = change {
            let name = |object: Option<&Object>| object.map(|object| object.key().to_string());
            note(format!("claim {:?} -> {:?}", name(*old), name(*new)));
        }
        let by = ["claim", "gate-claim"];
        if by.iter().any(|by| named(pod, by, catalog).is_some()) {
            Hint::Queue
        } else {
            Hint::Skip
        }
    }
}
