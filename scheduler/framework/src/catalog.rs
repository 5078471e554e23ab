//! The objects of the cluster besides pods and nodes, as hooks see them.
//!
//! Takes what the API server has and, on top of it, what plugins have reserved and not yet
//! written (`assume`); gives the newer of both. Changed by the engine only, between cycles.

mod evictions;
mod shelf;
mod storage_index;

use std::sync::Arc;

use plimsoll_objects::{
    CsiDriver, CsiNode, CsiStorageCapacity, DeviceClass, Namespace, Object, ObjectKey, ObjectKind,
    PersistentVolume, PersistentVolumeClaim, PodDisruptionBudget, ResourceClaim, ResourceSlice,
    StorageClass, VolumeAttachment, Workload,
};

use self::storage_index::{Place, StorageIndex};

pub use self::evictions::Evictions;
pub use self::shelf::{Shelf, Shelved};

/// All objects besides pods and nodes, by kind.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// `v1.Namespace`.
    pub namespaces: Shelf<Namespace>,
    /// `v1.PersistentVolume`.
    pub persistent_volumes: Shelf<PersistentVolume>,
    /// `v1.PersistentVolumeClaim`.
    pub persistent_volume_claims: Shelf<PersistentVolumeClaim>,
    /// `storage.k8s.io/v1.StorageClass`.
    pub storage_classes: Shelf<StorageClass>,
    /// `storage.k8s.io/v1.CSINode`.
    pub csi_nodes: Shelf<CsiNode>,
    /// `storage.k8s.io/v1.CSIDriver`.
    pub csi_drivers: Shelf<CsiDriver>,
    /// `storage.k8s.io/v1.CSIStorageCapacity`.
    pub csi_storage_capacities: Shelf<CsiStorageCapacity>,
    /// `storage.k8s.io/v1.VolumeAttachment`.
    pub volume_attachments: Shelf<VolumeAttachment>,
    /// `v1.Service`.
    pub services: Shelf<Workload>,
    /// `v1.ReplicationController`.
    pub replication_controllers: Shelf<Workload>,
    /// `apps/v1.ReplicaSet`.
    pub replica_sets: Shelf<Workload>,
    /// `apps/v1.StatefulSet`.
    pub stateful_sets: Shelf<Workload>,
    /// `policy/v1.PodDisruptionBudget`.
    pub pod_disruption_budgets: Shelf<PodDisruptionBudget>,
    /// `resource.k8s.io/v1.ResourceClaim`.
    pub resource_claims: Shelf<ResourceClaim>,
    /// `resource.k8s.io/v1.ResourceSlice`.
    pub resource_slices: Shelf<ResourceSlice>,
    /// `resource.k8s.io/v1.DeviceClass`.
    pub device_classes: Shelf<DeviceClass>,
    /// Evictions under way.
    pub evictions: Evictions,
    storage: StorageIndex,
}

/// Names the shelf and the object's variant of each kind, once for all methods below.
macro_rules! on_shelf {
    ($catalog:expr, $object:expr, $shelf:ident, $value:ident => $do:expr) => {
        match $object {
            Object::Namespace($value) => {
                let $shelf = &mut $catalog.namespaces;
                $do.map(Object::Namespace)
            }
            Object::PersistentVolume($value) => {
                let $shelf = &mut $catalog.persistent_volumes;
                $do.map(Object::PersistentVolume)
            }
            Object::PersistentVolumeClaim($value) => {
                let $shelf = &mut $catalog.persistent_volume_claims;
                $do.map(Object::PersistentVolumeClaim)
            }
            Object::StorageClass($value) => {
                let $shelf = &mut $catalog.storage_classes;
                $do.map(Object::StorageClass)
            }
            Object::CsiNode($value) => {
                let $shelf = &mut $catalog.csi_nodes;
                $do.map(Object::CsiNode)
            }
            Object::CsiDriver($value) => {
                let $shelf = &mut $catalog.csi_drivers;
                $do.map(Object::CsiDriver)
            }
            Object::CsiStorageCapacity($value) => {
                let $shelf = &mut $catalog.csi_storage_capacities;
                $do.map(Object::CsiStorageCapacity)
            }
            Object::VolumeAttachment($value) => {
                let $shelf = &mut $catalog.volume_attachments;
                $do.map(Object::VolumeAttachment)
            }
            Object::Service($value) => {
                let $shelf = &mut $catalog.services;
                $do.map(Object::Service)
            }
            Object::ReplicationController($value) => {
                let $shelf = &mut $catalog.replication_controllers;
                $do.map(Object::ReplicationController)
            }
            Object::ReplicaSet($value) => {
                let $shelf = &mut $catalog.replica_sets;
                $do.map(Object::ReplicaSet)
            }
            Object::StatefulSet($value) => {
                let $shelf = &mut $catalog.stateful_sets;
                $do.map(Object::StatefulSet)
            }
            Object::PodDisruptionBudget($value) => {
                let $shelf = &mut $catalog.pod_disruption_budgets;
                $do.map(Object::PodDisruptionBudget)
            }
            Object::ResourceClaim($value) => {
                let $shelf = &mut $catalog.resource_claims;
                $do.map(Object::ResourceClaim)
            }
            Object::ResourceSlice($value) => {
                let $shelf = &mut $catalog.resource_slices;
                $do.map(Object::ResourceSlice)
            }
            Object::DeviceClass($value) => {
                let $shelf = &mut $catalog.device_classes;
                $do.map(Object::DeviceClass)
            }
        }
    };
}

// === impl Catalog ===

impl Catalog {
    /// The API server has `object` now: gives what it had before. What was assumed of it
    /// ends, unless this is the very version it was assumed upon.
    pub fn set(&mut self, object: Object) -> Option<Object> {
        let new = object.clone();
        let old = on_shelf!(self, object, shelf, value => shelf.set(value));
        self.storage.replace(old.as_ref(), Some(&new));
        old
    }

    /// The object is to be taken as `object` from now on, until the API server has a newer
    /// one or it is restored.
    pub fn assume(&mut self, object: Object) {
        let nothing: Option<Object> = on_shelf!(self, object, shelf, value => {
            shelf.assume(value);
            None
        });
        drop(nothing);
    }

    /// What was assumed by `object` ends, for the pod that assumed it: what another pod
    /// assumes of the same object stays.
    pub fn restore(&mut self, object: Object) {
        let nothing: Option<Object> = on_shelf!(self, object, shelf, value => {
            shelf.restore(&value);
            None
        });
        drop(nothing);
    }

    /// The API server does not have the object any more: gives what it had.
    pub fn remove(&mut self, kind: ObjectKind, key: &ObjectKey) -> Option<Object> {
        let old = self.take(kind, key);
        self.storage.replace(old.as_ref(), None);
        old
    }

    /// The persistent volumes of `class` that are set aside for no claim, by name, as they are
    /// to be taken: one that is assumed to be set aside is among them.
    pub fn free_volumes<'s>(
        &'s self,
        class: &Arc<str>,
    ) -> impl Iterator<Item = &'s Arc<PersistentVolume>> + use<'s> {
        let names = self.storage.at(&Place::Free(Arc::clone(class)));
        names.filter_map(|name| self.persistent_volumes.called(name))
    }

    /// The persistent volumes that are set aside for `claim`, by name, as they are to be taken.
    pub fn volumes_for<'s>(
        &'s self,
        claim: &ObjectKey,
    ) -> impl Iterator<Item = &'s Arc<PersistentVolume>> + use<'s> {
        let names = self.storage.at(&Place::Aside(claim.clone()));
        names.filter_map(|name| self.persistent_volumes.called(name))
    }

    /// The attachments of volumes to `node`, by name.
    pub fn attachments_to<'s>(
        &'s self,
        node: &Arc<str>,
    ) -> impl Iterator<Item = &'s Arc<VolumeAttachment>> + use<'s> {
        let names = self.storage.at(&Place::Attached(Arc::clone(node)));
        names.filter_map(|name| self.volume_attachments.called(name))
    }

    /// Number of attachments of volumes to `node`.
    pub fn attachment_count(&self, node: &Arc<str>) -> usize {
        self.storage.count(&Place::Attached(Arc::clone(node)))
    }

    fn take(&mut self, kind: ObjectKind, key: &ObjectKey) -> Option<Object> {
        match kind {
            ObjectKind::Namespace => self.namespaces.remove(key).map(Object::Namespace),
            ObjectKind::PersistentVolume => self
                .persistent_volumes
                .remove(key)
                .map(Object::PersistentVolume),
            ObjectKind::PersistentVolumeClaim => self
                .persistent_volume_claims
                .remove(key)
                .map(Object::PersistentVolumeClaim),
            ObjectKind::StorageClass => self.storage_classes.remove(key).map(Object::StorageClass),
            ObjectKind::CsiNode => self.csi_nodes.remove(key).map(Object::CsiNode),
            ObjectKind::CsiDriver => self.csi_drivers.remove(key).map(Object::CsiDriver),
            ObjectKind::CsiStorageCapacity => self
                .csi_storage_capacities
                .remove(key)
                .map(Object::CsiStorageCapacity),
            ObjectKind::VolumeAttachment => self
                .volume_attachments
                .remove(key)
                .map(Object::VolumeAttachment),
            ObjectKind::Service => self.services.remove(key).map(Object::Service),
            ObjectKind::ReplicationController => self
                .replication_controllers
                .remove(key)
                .map(Object::ReplicationController),
            ObjectKind::ReplicaSet => self.replica_sets.remove(key).map(Object::ReplicaSet),
            ObjectKind::StatefulSet => self.stateful_sets.remove(key).map(Object::StatefulSet),
            ObjectKind::PodDisruptionBudget => self
                .pod_disruption_budgets
                .remove(key)
                .map(Object::PodDisruptionBudget),
            ObjectKind::ResourceClaim => {
                self.resource_claims.remove(key).map(Object::ResourceClaim)
            }
            ObjectKind::ResourceSlice => {
                self.resource_slices.remove(key).map(Object::ResourceSlice)
            }
            ObjectKind::DeviceClass => self.device_classes.remove(key).map(Object::DeviceClass),
        }
    }

    /// Keys of all objects of a kind that the API server has.
    pub fn keys(&self, kind: ObjectKind) -> Vec<ObjectKey> {
        match kind {
            ObjectKind::Namespace => self.namespaces.keys(),
            ObjectKind::PersistentVolume => self.persistent_volumes.keys(),
            ObjectKind::PersistentVolumeClaim => self.persistent_volume_claims.keys(),
            ObjectKind::StorageClass => self.storage_classes.keys(),
            ObjectKind::CsiNode => self.csi_nodes.keys(),
            ObjectKind::CsiDriver => self.csi_drivers.keys(),
            ObjectKind::CsiStorageCapacity => self.csi_storage_capacities.keys(),
            ObjectKind::VolumeAttachment => self.volume_attachments.keys(),
            ObjectKind::Service => self.services.keys(),
            ObjectKind::ReplicationController => self.replication_controllers.keys(),
            ObjectKind::ReplicaSet => self.replica_sets.keys(),
            ObjectKind::StatefulSet => self.stateful_sets.keys(),
            ObjectKind::PodDisruptionBudget => self.pod_disruption_budgets.keys(),
            ObjectKind::ResourceClaim => self.resource_claims.keys(),
            ObjectKind::ResourceSlice => self.resource_slices.keys(),
            ObjectKind::DeviceClass => self.device_classes.keys(),
        }
    }
}

#[cfg(test)]
mod tests;
