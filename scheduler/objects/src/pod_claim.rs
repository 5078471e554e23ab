//! The devices that a pod claims: by name, by template, or as extended resources.

use std::sync::Arc;

/// `spec.resourceClaims` and the claims made for it; the extended resources of containers,
/// which a class of devices may stand behind. Only of a pod that has no node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodClaims {
    /// `spec.resourceClaims`.
    pub claims: Box<[PodClaim]>,
    /// Containers that request extended resources.
    pub extended: Box<[ExtendedContainer]>,
    /// Number of containers, init containers included.
    pub containers: usize,
}

/// One of `spec.resourceClaims`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodClaim {
    /// `name`.
    pub name: Arc<str>,
    /// Which claim.
    pub source: ClaimSource,
}

/// Which claim of the pod's namespace is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimSource {
    /// `resourceClaimName`.
    Named(Arc<str>),
    /// Made from a template, by `status.resourceClaimStatuses`; `None` if none was needed.
    Generated(Option<Arc<str>>),
    /// To be made from a template, and not made yet.
    NotYetGenerated,
    /// A kind of source that this version does not know.
    Unknown,
}

/// A container that requests extended resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtendedContainer {
    /// Its place among init containers and containers, in this order.
    pub index: usize,
    /// `name`.
    pub name: Arc<str>,
    /// An init container that ends before the others begin.
    pub is_short_lived: bool,
    /// The extended resources.
    pub requests: Box<[ExtendedRequest]>,
}

/// A request of an extended resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtendedRequest {
    /// The resource's name.
    pub resource: Arc<str>,
    /// Its place among all requests of the container, by name.
    pub index: usize,
    /// How many: above 0.
    pub count: i64,
}
