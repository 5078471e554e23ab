//! A node: labels, taints, images, what it has and what it lets pods have.
//!
//! Node conditions are not read: kube-scheduler looks at taints only.

use std::sync::Arc;

use crate::bandwidth::LinkSpeed;
use crate::meta::ObjectMeta;
use crate::resources::Resources;
use crate::taint::Taint;

/// A `v1.Node`.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name, labels, annotations.
    pub meta: ObjectMeta,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// Amounts.
    pub status: NodeStatus,
    /// Annotation `plimsoll.dev/link-speed`: absent, a speed, or a mistake to report.
    pub link_speed: Option<LinkSpeed>,
}

/// The part of `status` that the scheduler reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeStatus {
    /// What the machine has: the denominator of load.
    pub capacity: Resources,
    /// What pods may request: the denominator of requests.
    pub allocatable: Resources,
    /// The images that the node has, one entry per name.
    pub images: Vec<NodeImage>,
    /// `declaredFeatures`: what the kubelet can do that not every kubelet can.
    pub declared_features: Box<[Arc<str>]>,
}

/// One name of an image in `status.images`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeImage {
    /// Name with tag or digest, such as `registry.k8s.io/pause:3.10`.
    pub name: Arc<str>,
    /// `sizeBytes`.
    pub bytes: i64,
}

// === impl Node ===

impl Node {
    /// The node's name.
    pub fn name(&self) -> &Arc<str> {
        &self.meta.key.name
    }
}
