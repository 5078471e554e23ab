//! One value for an object of any kind that is neither pod nor node.
//!
//! Takes a kind and JSON, gives the slim object. The kinds are those that some plugin of
//! kube-scheduler v1.37 reads.

use std::sync::Arc;

use crate::budget::PodDisruptionBudget;
use crate::decode::{self, DecodeError};
use crate::device::{DeviceClass, ResourceClaim, ResourceSlice};
use crate::meta::{ObjectKey, ObjectMeta};
use crate::namespace::Namespace;
use crate::storage::{CsiDriver, CsiNode, CsiStorageCapacity, StorageClass, VolumeAttachment};
use crate::volume::{PersistentVolume, PersistentVolumeClaim};
use crate::workload::Workload;

/// A kind of object besides pods and nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// `v1.Namespace`.
    Namespace,
    /// `v1.PersistentVolume`.
    PersistentVolume,
    /// `v1.PersistentVolumeClaim`.
    PersistentVolumeClaim,
    /// `storage.k8s.io/v1.StorageClass`.
    StorageClass,
    /// `storage.k8s.io/v1.CSINode`.
    CsiNode,
    /// `storage.k8s.io/v1.CSIDriver`.
    CsiDriver,
    /// `storage.k8s.io/v1.CSIStorageCapacity`.
    CsiStorageCapacity,
    /// `storage.k8s.io/v1.VolumeAttachment`.
    VolumeAttachment,
    /// `v1.Service`.
    Service,
    /// `v1.ReplicationController`.
    ReplicationController,
    /// `apps/v1.ReplicaSet`.
    ReplicaSet,
    /// `apps/v1.StatefulSet`.
    StatefulSet,
    /// `policy/v1.PodDisruptionBudget`.
    PodDisruptionBudget,
    /// `resource.k8s.io/v1.ResourceClaim`.
    ResourceClaim,
    /// `resource.k8s.io/v1.ResourceSlice`.
    ResourceSlice,
    /// `resource.k8s.io/v1.DeviceClass`.
    DeviceClass,
}

/// An object. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    /// See [`ObjectKind::Namespace`].
    Namespace(Arc<Namespace>),
    /// See [`ObjectKind::PersistentVolume`].
    PersistentVolume(Arc<PersistentVolume>),
    /// See [`ObjectKind::PersistentVolumeClaim`].
    PersistentVolumeClaim(Arc<PersistentVolumeClaim>),
    /// See [`ObjectKind::StorageClass`].
    StorageClass(Arc<StorageClass>),
    /// See [`ObjectKind::CsiNode`].
    CsiNode(Arc<CsiNode>),
    /// See [`ObjectKind::CsiDriver`].
    CsiDriver(Arc<CsiDriver>),
    /// See [`ObjectKind::CsiStorageCapacity`].
    CsiStorageCapacity(Arc<CsiStorageCapacity>),
    /// See [`ObjectKind::VolumeAttachment`].
    VolumeAttachment(Arc<VolumeAttachment>),
    /// See [`ObjectKind::Service`].
    Service(Arc<Workload>),
    /// See [`ObjectKind::ReplicationController`].
    ReplicationController(Arc<Workload>),
    /// See [`ObjectKind::ReplicaSet`].
    ReplicaSet(Arc<Workload>),
    /// See [`ObjectKind::StatefulSet`].
    StatefulSet(Arc<Workload>),
    /// See [`ObjectKind::PodDisruptionBudget`].
    PodDisruptionBudget(Arc<PodDisruptionBudget>),
    /// See [`ObjectKind::ResourceClaim`].
    ResourceClaim(Arc<ResourceClaim>),
    /// See [`ObjectKind::ResourceSlice`].
    ResourceSlice(Arc<ResourceSlice>),
    /// See [`ObjectKind::DeviceClass`].
    DeviceClass(Arc<DeviceClass>),
}

// === impl ObjectKind ===

impl ObjectKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Namespace,
        Self::PersistentVolume,
        Self::PersistentVolumeClaim,
        Self::StorageClass,
        Self::CsiNode,
        Self::CsiDriver,
        Self::CsiStorageCapacity,
        Self::VolumeAttachment,
        Self::Service,
        Self::ReplicationController,
        Self::ReplicaSet,
        Self::StatefulSet,
        Self::PodDisruptionBudget,
        Self::ResourceClaim,
        Self::ResourceSlice,
        Self::DeviceClass,
    ];

    /// `apiVersion` and `kind` of its objects.
    pub fn type_meta(self) -> (&'static str, &'static str) {
        match self {
            Self::Namespace => ("v1", "Namespace"),
            Self::PersistentVolume => ("v1", "PersistentVolume"),
            Self::PersistentVolumeClaim => ("v1", "PersistentVolumeClaim"),
            Self::StorageClass => ("storage.k8s.io/v1", "StorageClass"),
            Self::CsiNode => ("storage.k8s.io/v1", "CSINode"),
            Self::CsiDriver => ("storage.k8s.io/v1", "CSIDriver"),
            Self::CsiStorageCapacity => ("storage.k8s.io/v1", "CSIStorageCapacity"),
            Self::VolumeAttachment => ("storage.k8s.io/v1", "VolumeAttachment"),
            Self::Service => ("v1", "Service"),
            Self::ReplicationController => ("v1", "ReplicationController"),
            Self::ReplicaSet => ("apps/v1", "ReplicaSet"),
            Self::StatefulSet => ("apps/v1", "StatefulSet"),
            Self::PodDisruptionBudget => ("policy/v1", "PodDisruptionBudget"),
            Self::ResourceClaim => ("resource.k8s.io/v1", "ResourceClaim"),
            Self::ResourceSlice => ("resource.k8s.io/v1", "ResourceSlice"),
            Self::DeviceClass => ("resource.k8s.io/v1", "DeviceClass"),
        }
    }

    /// Plural name in the paths of the API.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Namespace => "namespaces",
            Self::PersistentVolume => "persistentvolumes",
            Self::PersistentVolumeClaim => "persistentvolumeclaims",
            Self::StorageClass => "storageclasses",
            Self::CsiNode => "csinodes",
            Self::CsiDriver => "csidrivers",
            Self::CsiStorageCapacity => "csistoragecapacities",
            Self::VolumeAttachment => "volumeattachments",
            Self::Service => "services",
            Self::ReplicationController => "replicationcontrollers",
            Self::ReplicaSet => "replicasets",
            Self::StatefulSet => "statefulsets",
            Self::PodDisruptionBudget => "poddisruptionbudgets",
            Self::ResourceClaim => "resourceclaims",
            Self::ResourceSlice => "resourceslices",
            Self::DeviceClass => "deviceclasses",
        }
    }

    /// The kind with this `apiVersion` and `kind`.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.type_meta() == (api_version, kind))
    }
}

// === impl Object ===

impl Object {
    /// Decodes an object of `kind` as the API server has it.
    ///
    /// # Errors
    /// The first mistake in the object, with its path.
    pub fn decode(kind: ObjectKind, json: &[u8]) -> Result<Self, DecodeError> {
        Ok(match kind {
            ObjectKind::Namespace => Self::Namespace(Arc::new(decode::namespace(json)?)),
            ObjectKind::PersistentVolume => {
                Self::PersistentVolume(Arc::new(decode::persistent_volume(json)?))
            }
            ObjectKind::PersistentVolumeClaim => {
                Self::PersistentVolumeClaim(Arc::new(decode::persistent_volume_claim(json)?))
            }
            ObjectKind::StorageClass => Self::StorageClass(Arc::new(decode::storage_class(json)?)),
            ObjectKind::CsiNode => Self::CsiNode(Arc::new(decode::csi_node(json)?)),
            ObjectKind::CsiDriver => Self::CsiDriver(Arc::new(decode::csi_driver(json)?)),
            ObjectKind::CsiStorageCapacity => {
                Self::CsiStorageCapacity(Arc::new(decode::csi_storage_capacity(json)?))
            }
            ObjectKind::VolumeAttachment => {
                Self::VolumeAttachment(Arc::new(decode::volume_attachment(json)?))
            }
            ObjectKind::Service => Self::Service(Arc::new(decode::workload(kind, json)?)),
            ObjectKind::ReplicationController => {
                Self::ReplicationController(Arc::new(decode::workload(kind, json)?))
            }
            ObjectKind::ReplicaSet => Self::ReplicaSet(Arc::new(decode::workload(kind, json)?)),
            ObjectKind::StatefulSet => Self::StatefulSet(Arc::new(decode::workload(kind, json)?)),
            ObjectKind::PodDisruptionBudget => {
                Self::PodDisruptionBudget(Arc::new(decode::pod_disruption_budget(json)?))
            }
            ObjectKind::ResourceClaim => {
                Self::ResourceClaim(Arc::new(decode::resource_claim(json)?))
            }
            ObjectKind::ResourceSlice => {
                Self::ResourceSlice(Arc::new(decode::resource_slice(json)?))
            }
            ObjectKind::DeviceClass => Self::DeviceClass(Arc::new(decode::device_class(json)?)),
        })
    }

    /// Its kind.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Namespace(_) => ObjectKind::Namespace,
            Self::PersistentVolume(_) => ObjectKind::PersistentVolume,
            Self::PersistentVolumeClaim(_) => ObjectKind::PersistentVolumeClaim,
            Self::StorageClass(_) => ObjectKind::StorageClass,
            Self::CsiNode(_) => ObjectKind::CsiNode,
            Self::CsiDriver(_) => ObjectKind::CsiDriver,
            Self::CsiStorageCapacity(_) => ObjectKind::CsiStorageCapacity,
            Self::VolumeAttachment(_) => ObjectKind::VolumeAttachment,
            Self::Service(_) => ObjectKind::Service,
            Self::ReplicationController(_) => ObjectKind::ReplicationController,
            Self::ReplicaSet(_) => ObjectKind::ReplicaSet,
            Self::StatefulSet(_) => ObjectKind::StatefulSet,
            Self::PodDisruptionBudget(_) => ObjectKind::PodDisruptionBudget,
            Self::ResourceClaim(_) => ObjectKind::ResourceClaim,
            Self::ResourceSlice(_) => ObjectKind::ResourceSlice,
            Self::DeviceClass(_) => ObjectKind::DeviceClass,
        }
    }

    /// Name, uid, version, labels.
    pub fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Namespace(object) => &object.meta,
            Self::PersistentVolume(object) => &object.meta,
            Self::PersistentVolumeClaim(object) => &object.meta,
            Self::StorageClass(object) => &object.meta,
            Self::CsiNode(object) => &object.meta,
            Self::CsiDriver(object) => &object.meta,
            Self::CsiStorageCapacity(object) => &object.meta,
            Self::VolumeAttachment(object) => &object.meta,
            Self::Service(object)
            | Self::ReplicationController(object)
            | Self::ReplicaSet(object)
            | Self::StatefulSet(object) => &object.meta,
            Self::PodDisruptionBudget(object) => &object.meta,
            Self::ResourceClaim(object) => &object.meta,
            Self::ResourceSlice(object) => &object.meta,
            Self::DeviceClass(object) => &object.meta,
        }
    }

    /// Namespace and name.
    pub fn key(&self) -> &ObjectKey {
        &self.meta().key
    }
}
