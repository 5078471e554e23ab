//! What a hook of the binding cycle wants done to the cluster, as data.
//!
//! The engine turns effects into commands; the cluster (or the simulator) carries them out
//! and the completion comes back as an event.

use std::collections::BTreeMap;

use plimsoll_objects::ObjectKey;
use serde_json::Value;

/// One change of the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Sets annotations of the pod that is being bound.
    AnnotatePod(BTreeMap<String, String>),
    /// Writes another object.
    Write(ObjectWrite),
}

/// A write to an object other than the pod.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectWrite {
    /// API version, such as `v1` or `resource.k8s.io/v1`.
    pub api_version: String,
    /// Kind, such as `PersistentVolumeClaim`.
    pub kind: String,
    /// Namespace (empty for cluster-scoped kinds) and name.
    pub key: ObjectKey,
    /// Subresource; empty for the object itself.
    pub subresource: String,
    /// How.
    pub verb: WriteVerb,
}

/// How an object is written.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteVerb {
    /// Created with this body.
    Create(Value),
    /// Replaced by this body, which carries the resourceVersion it was read at.
    Update(Value),
    /// Merge-patched with this body.
    MergePatch(Value),
    /// Strategic-merge-patched with this body.
    StrategicPatch(Value),
    /// Deleted, if its uid is still this one.
    Delete {
        /// `metadata.uid` as a precondition.
        uid: String,
    },
}
