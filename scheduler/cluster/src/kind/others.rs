//! The kinds besides pods and nodes that plugins look at: volumes, classes, owners of pods,
//! budgets, devices.

use std::sync::Arc;

use plimsoll_core::Event;
use plimsoll_objects::{DecodeError, Object, ObjectKind, ObjectMeta};

use super::{Head, Kind};
use crate::ready::Ready;

/// All objects of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others(pub(crate) ObjectKind);

impl Kind for Others {
    type Object = Object;

    fn name(&self) -> &'static str {
        self.0.plural()
    }

    fn path(&self) -> &'static str {
        path(self.0)
    }

    fn may_be_unserved(&self) -> bool {
        true
    }

    fn decode(&self, json: &[u8]) -> Result<Object, DecodeError> {
        Object::decode(self.0, json)
    }

    fn meta(object: &Object) -> &ObjectMeta {
        object.meta()
    }

    fn listed(&self, objects: Vec<Arc<Object>>) -> Event {
        let objects = objects.into_iter().map(Arc::unwrap_or_clone).collect();
        Event::ObjectsListed {
            kind: self.0,
            objects,
        }
    }

    fn set(&self, object: Arc<Object>) -> Event {
        Event::ObjectSet(Arc::unwrap_or_clone(object))
    }

    fn gone(&self, head: &Head<'_>, _: &str) -> Event {
        Event::ObjectGone {
            kind: self.0,
            key: head.key(),
        }
    }

    fn mark_listed(&self, ready: &Ready) {
        ready.others_listed(self.0);
    }
}

fn path(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Namespace => "/api/v1/namespaces",
        ObjectKind::PersistentVolume => "/api/v1/persistentvolumes",
        ObjectKind::PersistentVolumeClaim => "/api/v1/persistentvolumeclaims",
        ObjectKind::StorageClass => "/apis/storage.k8s.io/v1/storageclasses",
        ObjectKind::CsiNode => "/apis/storage.k8s.io/v1/csinodes",
        ObjectKind::CsiDriver => "/apis/storage.k8s.io/v1/csidrivers",
        ObjectKind::CsiStorageCapacity => "/apis/storage.k8s.io/v1/csistoragecapacities",
        ObjectKind::VolumeAttachment => "/apis/storage.k8s.io/v1/volumeattachments",
        ObjectKind::Service => "/api/v1/services",
        ObjectKind::ReplicationController => "/api/v1/replicationcontrollers",
        ObjectKind::ReplicaSet => "/apis/apps/v1/replicasets",
        ObjectKind::StatefulSet => "/apis/apps/v1/statefulsets",
        ObjectKind::PodDisruptionBudget => "/apis/policy/v1/poddisruptionbudgets",
        ObjectKind::ResourceClaim => "/apis/resource.k8s.io/v1/resourceclaims",
        ObjectKind::ResourceSlice => "/apis/resource.k8s.io/v1/resourceslices",
        ObjectKind::DeviceClass => "/apis/resource.k8s.io/v1/deviceclasses",
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::ObjectKind;

    use super::path;

    #[test]
    fn paths_are_those_of_the_api_version_and_the_plural() {
        for kind in ObjectKind::ALL {
            let (version, _) = kind.type_meta();
            let root = if version.contains('/') { "apis" } else { "api" };
            assert_eq!(path(kind), format!("/{root}/{version}/{}", kind.plural()));
        }
    }
}
