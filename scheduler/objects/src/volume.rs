//! Persistent volumes and the claims to them.
//!
//! Only what binding a claim needs is kept. A volume of a plugin that was moved to a CSI
//! driver carries its translation, made once at decoding.

mod affinity;
mod in_tree;

use std::sync::Arc;

use crate::meta::{ObjectKey, ObjectMeta, Uid};
use crate::quantity::Quantity;
use crate::selector::LabelSelector;

pub use self::affinity::{LabelPin, VolumeAffinity};
pub use self::in_tree::InTreePlugin;

/// A `v1.PersistentVolume`.
#[derive(Debug, Clone, PartialEq)]
pub struct PersistentVolume {
    /// Name, labels, version.
    pub meta: ObjectMeta,
    /// `spec.capacity.storage`; nothing where the object has none.
    pub capacity: Quantity,
    /// `spec.accessModes`.
    pub access_modes: Box<[Arc<str>]>,
    /// `spec.volumeMode`; `Filesystem` where the object has none.
    pub mode: Arc<str>,
    /// Its class: the beta annotation, or `spec.storageClassName`; may be empty.
    pub class: Arc<str>,
    /// `spec.storageClassName` alone; may be empty.
    pub spec_class: Arc<str>,
    /// `spec.volumeAttributesClassName`; empty where the object has none.
    pub attributes_class: Arc<str>,
    /// `spec.claimRef`.
    pub claim_ref: Option<ClaimRef>,
    /// `spec.nodeAffinity.required`.
    pub affinity: Option<VolumeAffinity>,
    /// `status.phase` is `Available`.
    pub available: bool,
    /// Annotation `pv.kubernetes.io/bound-by-controller` is there.
    pub bound_by_controller: bool,
    /// What it is made of.
    pub source: VolumeSource,
}

/// The claim that a volume is set aside for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRef {
    /// Namespace and name.
    pub key: ObjectKey,
    /// `uid`; `None` where whoever set it aside did not know.
    pub uid: Option<Uid>,
}

/// What a volume is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum VolumeSource {
    /// `csi`.
    Csi {
        /// `driver`.
        driver: Arc<str>,
        /// `volumeHandle`.
        handle: Arc<str>,
    },
    /// A disk whose plugin was moved to a CSI driver.
    InTree(Box<Migration>),
    /// Anything else.
    Other,
}

/// The CSI volume that stands for a disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Migration {
    /// The plugin that it was for.
    pub plugin: InTreePlugin,
    /// The translation, or why there is none, in the words of `csi-translation-lib`.
    pub translated: Result<Translated, Box<str>>,
}

/// A volume of a CSI driver as far as it differs from the disk that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    /// `spec.csi.volumeHandle`.
    pub handle: Arc<str>,
    /// `spec.nodeAffinity.required`, with the driver's own topology keys.
    pub affinity: Option<VolumeAffinity>,
}

/// A `v1.PersistentVolumeClaim`.
#[derive(Debug, Clone, PartialEq)]
pub struct PersistentVolumeClaim {
    /// Name, labels, version.
    pub meta: ObjectMeta,
    /// `spec.volumeName`.
    pub volume: Option<Arc<str>>,
    /// Its class: the beta annotation, or `spec.storageClassName`; `None` if that is empty.
    pub class: Option<Arc<str>>,
    /// `spec.accessModes`.
    pub access_modes: Box<[Arc<str>]>,
    /// `spec.volumeMode`; `Filesystem` where the object has none.
    pub mode: Arc<str>,
    /// `spec.resources.requests.storage`.
    pub requested: Option<Quantity>,
    /// `spec.selector`.
    pub selector: Option<LabelSelector>,
    /// `spec.volumeAttributesClassName`; empty where the object has none.
    pub attributes_class: Arc<str>,
    /// `status.phase` is `Lost`.
    pub lost: bool,
    /// Annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<Arc<str>>,
    /// Annotation `pv.kubernetes.io/bind-completed` is there.
    pub bind_completed: bool,
    /// The object has annotations, whichever.
    pub annotated: bool,
}

/// Annotation of a claim: the node for which its volume is to be made.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Annotation of a claim whose binding is complete.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Annotation of a volume that a controller, not a person, set aside for its claim.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// Annotation that named the class before there was a field for it; still wins over it.
pub const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// Access mode of a claim that one pod alone may use.
pub const READ_WRITE_ONCE_POD: &str = "ReadWriteOncePod";

// === impl PersistentVolume ===

impl PersistentVolume {
    /// Whether it is set aside for `claim` (`component-helpers` `IsVolumeBoundToClaim`).
    pub fn is_bound_to(&self, claim: &PersistentVolumeClaim) -> bool {
        self.claim_ref.as_ref().is_some_and(|to| {
            to.key == claim.meta.key && to.uid.as_ref().is_none_or(|uid| *uid == claim.meta.uid)
        })
    }
}

// === impl PersistentVolumeClaim ===

impl PersistentVolumeClaim {
    /// Whether it has a volume and the binding is complete.
    pub fn is_fully_bound(&self) -> bool {
        self.volume.is_some() && self.bind_completed
    }
}
