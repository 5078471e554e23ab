//! Storage: classes, and what CSI drivers say of themselves and of nodes.

use std::sync::Arc;

use crate::meta::{Labels, ObjectMeta};
use crate::quantity::Quantity;
use crate::selector::LabelSelector;
use crate::volume::{InTreePlugin, LabelPin};

/// Provisioner of a class that makes no volumes.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// A `storage.k8s.io/v1.StorageClass`.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageClass {
    /// Name.
    pub meta: ObjectMeta,
    /// `provisioner`.
    pub provisioner: Arc<str>,
    /// `volumeBindingMode`.
    pub binding_mode: Option<BindingMode>,
    /// `allowedTopologies`: of the terms that are not empty, one must match a node's labels.
    /// `None` if there is no term: every node will do.
    pub allowed_topologies: Option<Box<[LabelSelector]>>,
}

/// When claims of a class are bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingMode {
    /// `Immediate`, or a word that this version does not know.
    Immediate,
    /// `WaitForFirstConsumer`: once a pod that uses them has a node.
    WaitForFirstConsumer,
}

/// A `storage.k8s.io/v1.CSINode`.
#[derive(Debug, Clone, PartialEq)]
pub struct CsiNode {
    /// Name: that of the node.
    pub meta: ObjectMeta,
    /// `spec.drivers`.
    pub drivers: Box<[CsiNodeDriver]>,
    /// Annotation `storage.alpha.kubernetes.io/migrated-plugins`, split.
    pub migrated_plugins: Box<[Arc<str>]>,
}

/// A driver that runs on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsiNodeDriver {
    /// `name`.
    pub name: Arc<str>,
    /// `allocatable.count`: how many volumes can be attached.
    pub limit: Option<i32>,
}

/// A `storage.k8s.io/v1.CSIDriver`.
#[derive(Debug, Clone, PartialEq)]
pub struct CsiDriver {
    /// Name.
    pub meta: ObjectMeta,
    /// `spec.storageCapacity`: it tells how much it has left.
    pub storage_capacity: bool,
    /// `spec.preventPodSchedulingIfMissing`: pods with its volumes need it on their node.
    pub required_on_node: bool,
}

/// A `storage.k8s.io/v1.CSIStorageCapacity`.
#[derive(Debug, Clone, PartialEq)]
pub struct CsiStorageCapacity {
    /// Name.
    pub meta: ObjectMeta,
    /// `storageClassName`.
    pub class: Arc<str>,
    /// `capacity`.
    pub capacity: Option<Quantity>,
    /// `maximumVolumeSize`.
    pub maximum_volume_size: Option<Quantity>,
    /// `nodeTopology`: the nodes that have access; `None` for no node.
    pub topology: Option<LabelSelector>,
    /// A label that every such node has.
    pub pin: Option<LabelPin>,
}

/// A `storage.k8s.io/v1.VolumeAttachment`.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeAttachment {
    /// Name.
    pub meta: ObjectMeta,
    /// `spec.attacher`: the CSI driver.
    pub attacher: Arc<str>,
    /// `spec.nodeName`.
    pub node: Arc<str>,
    /// `spec.source.persistentVolumeName`.
    pub volume: Option<Arc<str>>,
}

// === impl StorageClass ===

impl StorageClass {
    /// Whether it makes volumes.
    pub fn provisions(&self) -> bool {
        !self.provisioner.is_empty() && *self.provisioner != *NO_PROVISIONER
    }

    /// Whether it may make volumes for a node with `labels`.
    pub fn allows(&self, labels: &Labels) -> bool {
        let terms = self.allowed_topologies.as_deref();
        terms.is_none_or(|terms| terms.iter().any(|term| term.matches(labels)))
    }
}

// === impl CsiNode ===

impl CsiNode {
    /// The driver called `name`, if it runs there.
    pub fn driver(&self, name: &str) -> Option<&CsiNodeDriver> {
        self.drivers.iter().find(|driver| *driver.name == *name)
    }

    /// Whether the node takes the volumes of `plugin` as those of a CSI driver.
    pub fn has_migrated(&self, plugin: InTreePlugin) -> bool {
        let mut names = self.migrated_plugins.iter();
        names.any(|name| **name == *plugin.name())
    }
}

// === impl CsiStorageCapacity ===

impl CsiStorageCapacity {
    /// The largest volume that can be made: the more precise of the two figures.
    pub fn volume_limit(&self) -> Option<Quantity> {
        self.maximum_volume_size.or(self.capacity)
    }
}
