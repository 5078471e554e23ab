//! A namespace: its labels are what namespace selectors of pod affinity match.

use crate::meta::ObjectMeta;

/// A `v1.Namespace`.
#[derive(Debug, Clone, PartialEq)]
pub struct Namespace {
    /// Name and labels.
    pub meta: ObjectMeta,
}
