//! The fields of the API objects that are read, as the wire has them.
//!
//! Takes JSON, gives structs that borrow from it. Everything is optional and `null` is
//! accepted everywhere; names are those of the API.

use serde::Deserialize;

pub(super) use super::affinity::{Affinity, NodeAffinity, Requirement, Term};
use super::pod_claims::{WireClaim, WireClaimStatus};
pub(super) use super::pod_volumes::Volume;
use super::spread::WireSpread;
pub(super) use super::values::{Items, Quantities, Text, Texts};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Pod<'a> {
    #[serde(borrow)]
    pub(super) metadata: Option<Metadata<'a>>,
    #[serde(borrow)]
    pub(super) spec: Option<PodSpec<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<PodStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Node<'a> {
    #[serde(borrow)]
    pub(super) metadata: Option<Metadata<'a>>,
    #[serde(borrow)]
    pub(super) spec: Option<NodeSpec<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<NodeStatus<'a>>,
}

/// A `metav1.LabelSelector`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LabelSelector<'a> {
    #[serde(borrow)]
    pub(super) match_labels: Option<Texts<'a>>,
    #[serde(borrow)]
    pub(super) match_expressions: Items<Requirement<'a>>,
}

/// An object of which only the head is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Headed<'a> {
    #[serde(borrow)]
    pub(super) metadata: Option<Metadata<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow)]
    pub(super) labels: Option<Texts<'a>>,
    #[serde(borrow)]
    pub(super) annotations: Option<Texts<'a>>,
    #[serde(borrow)]
    pub(super) owner_references: Items<Owner<'a>>,
    #[serde(borrow)]
    pub(super) creation_timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) deletion_timestamp: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Owner<'a> {
    #[serde(borrow)]
    pub(super) api_version: Text<'a>,
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    pub(super) controller: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodSpec<'a> {
    #[serde(borrow)]
    pub(super) node_name: Text<'a>,
    #[serde(borrow)]
    pub(super) scheduler_name: Text<'a>,
    pub(super) priority: Option<i32>,
    #[serde(borrow)]
    pub(super) preemption_policy: Text<'a>,
    #[serde(borrow)]
    pub(super) scheduling_gates: Items<Named<'a>>,
    #[serde(borrow)]
    pub(super) tolerations: Items<Toleration<'a>>,
    #[serde(borrow)]
    pub(super) containers: Items<Container<'a>>,
    #[serde(borrow)]
    pub(super) init_containers: Items<Container<'a>>,
    #[serde(borrow)]
    pub(super) overhead: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) resources: Option<Resources<'a>>,
    #[serde(borrow)]
    pub(super) ephemeral_containers: Items<MountsOnly<'a>>,
    pub(super) host_network: Option<bool>,
    pub(super) host_users: Option<bool>,
    #[serde(borrow)]
    pub(super) node_selector: Option<Texts<'a>>,
    #[serde(borrow)]
    pub(super) affinity: Option<Affinity<'a>>,
    #[serde(borrow)]
    pub(super) topology_spread_constraints: Items<WireSpread<'a>>,
    #[serde(borrow)]
    pub(super) volumes: Items<Volume<'a>>,
    #[serde(borrow)]
    pub(super) resource_claims: Items<WireClaim<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Toleration<'a> {
    #[serde(borrow)]
    pub(super) key: Text<'a>,
    #[serde(borrow)]
    pub(super) operator: Text<'a>,
    #[serde(borrow)]
    pub(super) value: Text<'a>,
    #[serde(borrow)]
    pub(super) effect: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Container<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) restart_policy: Text<'a>,
    #[serde(borrow)]
    pub(super) image: Text<'a>,
    #[serde(borrow)]
    pub(super) ports: Items<ExposedPort<'a>>,
    #[serde(borrow)]
    pub(super) resources: Option<Resources<'a>>,
    #[serde(borrow)]
    pub(super) restart_policy_rules: Items<RestartRule<'a>>,
    #[serde(borrow)]
    pub(super) volume_mounts: Items<Mount<'a>>,
}

/// A container of which only the mounts are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MountsOnly<'a> {
    #[serde(borrow)]
    pub(super) volume_mounts: Items<Mount<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Mount<'a> {
    #[serde(borrow)]
    pub(super) bind_mount_options: Items<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RestartRule<'a> {
    #[serde(borrow)]
    pub(super) action: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ExposedPort<'a> {
    pub(super) host_port: Option<i32>,
    #[serde(borrow)]
    pub(super) protocol: Text<'a>,
    #[serde(borrow, rename = "hostIP")]
    pub(super) host_ip: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ImageSource<'a> {
    #[serde(borrow)]
    pub(super) reference: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resources<'a> {
    #[serde(borrow)]
    pub(super) requests: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) limits: Option<Quantities<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodStatus<'a> {
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    #[serde(borrow)]
    pub(super) nominated_node_name: Text<'a>,
    #[serde(borrow)]
    pub(super) start_time: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) conditions: Items<Condition<'a>>,
    #[serde(borrow)]
    pub(super) container_statuses: Items<ContainerStatus<'a>>,
    #[serde(borrow)]
    pub(super) init_container_statuses: Items<ContainerStatus<'a>>,
    #[serde(borrow)]
    pub(super) resources: Option<Resources<'a>>,
    #[serde(borrow)]
    pub(super) allocated_resources: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) resource_claim_statuses: Items<WireClaimStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ContainerStatus<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) allocated_resources: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) resources: Option<Resources<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeSpec<'a> {
    pub(super) unschedulable: Option<bool>,
    #[serde(borrow)]
    pub(super) taints: Items<Taint<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Taint<'a> {
    #[serde(borrow)]
    pub(super) key: Text<'a>,
    #[serde(borrow)]
    pub(super) value: Text<'a>,
    #[serde(borrow)]
    pub(super) effect: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeStatus<'a> {
    #[serde(borrow)]
    pub(super) capacity: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) allocatable: Option<Quantities<'a>>,
    #[serde(borrow)]
    pub(super) images: Items<Image<'a>>,
    #[serde(borrow)]
    pub(super) declared_features: Items<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Image<'a> {
    #[serde(borrow)]
    pub(super) names: Items<Text<'a>>,
    pub(super) size_bytes: Option<i64>,
}
