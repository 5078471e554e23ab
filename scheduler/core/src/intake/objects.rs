//! Objects of other kinds: set, gone, listed anew.

use std::collections::BTreeSet;

use plimsoll_framework::{Actions, EventResource};
use plimsoll_objects::{Object, ObjectKey, ObjectKind};

use crate::engine::Engine;
use crate::queue::Happening;

impl Engine {
    /// A whole list: what it does not name is gone, the rest is set.
    pub(super) fn objects_listed(&mut self, kind: ObjectKind, objects: Vec<Object>) {
        let listed: BTreeSet<&ObjectKey> = objects.iter().map(Object::key).collect();
        let known = self.snapshot.catalog().keys(kind).into_iter();
        let absent: Vec<ObjectKey> = known.filter(|key| !listed.contains(key)).collect();
        for key in absent {
            self.object_gone(kind, &key);
        }
        for object in objects {
            self.object_set(object);
        }
    }

    /// An object that says what it said before tells nobody anything.
    pub(super) fn object_set(&mut self, object: Object) {
        let old = self.snapshot.catalog_mut().set(object.clone());
        if old.as_ref() == Some(&object) {
            return;
        }
        let actions = if old.is_some() {
            Actions::UPDATE
        } else {
            Actions::ADD
        };
        self.object_changed(actions, old, Some(object));
    }

    pub(super) fn object_gone(&mut self, kind: ObjectKind, key: &ObjectKey) {
        let old = self.snapshot.catalog_mut().remove(kind, key);
        if old.is_some() {
            self.object_changed(Actions::DELETE, old, None);
        }
    }

    fn object_changed(&mut self, actions: Actions, old: Option<Object>, new: Option<Object>) {
        let kind = new.as_ref().or(old.as_ref()).map(Object::kind);
        if let Some(resource) = kind.and_then(resource) {
            self.announce(&Happening::object(resource, actions, old, new));
        }
    }
}

/// What pods may wait for. As in kube-scheduler, a namespace, an owner of pods or a budget
/// wakes nobody.
fn resource(kind: ObjectKind) -> Option<EventResource> {
    Some(match kind {
        ObjectKind::PersistentVolume => EventResource::PersistentVolume,
        ObjectKind::PersistentVolumeClaim => EventResource::PersistentVolumeClaim,
        ObjectKind::StorageClass => EventResource::StorageClass,
        ObjectKind::CsiNode => EventResource::CsiNode,
        ObjectKind::CsiDriver => EventResource::CsiDriver,
        ObjectKind::CsiStorageCapacity => EventResource::CsiStorageCapacity,
        ObjectKind::VolumeAttachment => EventResource::VolumeAttachment,
        ObjectKind::ResourceClaim => EventResource::ResourceClaim,
        ObjectKind::ResourceSlice => EventResource::ResourceSlice,
        ObjectKind::DeviceClass => EventResource::DeviceClass,
        ObjectKind::Namespace
        | ObjectKind::Service
        | ObjectKind::ReplicationController
        | ObjectKind::ReplicaSet
        | ObjectKind::StatefulSet
        | ObjectKind::PodDisruptionBudget => return None,
    })
}
