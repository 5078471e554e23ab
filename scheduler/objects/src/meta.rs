//! What every object has: name, namespace, uid, labels, owner, times.
//!
//! Takes nothing from the API server that the scheduler does not read: no managed
//! fields, no finalizers, no generation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Labels or annotations, sorted by key.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// `metadata.uid`: one life of one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub Arc<str>);

/// Namespace and name of an object; the namespace is empty for cluster-scoped kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

/// The part of `metadata` that the scheduler reads.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectMeta {
    /// Namespace and name.
    pub key: ObjectKey,
    /// `metadata.uid`; `namespace/name` where the object has none (test objects).
    pub uid: Uid,
    /// `metadata.resourceVersion`; empty where the object has none.
    pub resource_version: Arc<str>,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `metadata.annotations`.
    pub annotations: Labels,
    /// The owner whose `controller` is true.
    pub controller: Option<OwnerReference>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// `metadata.deletionTimestamp`: set while the object is being deleted.
    pub deleted: Option<Timestamp>,
}

/// `metadata.ownerReferences[]`, the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerReference {
    /// Group and version, such as `apps/v1`.
    pub api_version: Arc<str>,
    /// Kind, such as `ReplicaSet`.
    pub kind: Arc<str>,
    /// Name of the owner.
    pub name: Arc<str>,
    /// Uid of the owner.
    pub uid: Uid,
}

// === impl Uid ===

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// === impl ObjectKey ===

impl ObjectKey {
    /// A key from its two parts.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: Arc::from(namespace),
            name: Arc::from(name),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}
