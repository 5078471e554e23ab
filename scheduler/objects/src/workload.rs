//! What owns pods, as far as its selector goes: default spread constraints count by it.

use crate::meta::{Labels, ObjectMeta};
use crate::selector::LabelSelector;

/// A `v1.Service`, `v1.ReplicationController`, `apps/v1.ReplicaSet` or `apps/v1.StatefulSet`.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Name and namespace.
    pub meta: ObjectMeta,
    /// `spec.selector`.
    pub selector: WorkloadSelector,
}

/// `spec.selector` of what owns pods: old kinds have labels, newer ones a selector.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadSelector {
    /// Of a service or a replication controller; `None` selects nothing.
    Labels(Option<Labels>),
    /// Of a replica set or a stateful set.
    Selector(LabelSelector),
}
