//! A pod: what it asks for, what it tolerates, where it is.
//!
//! Requests are summed at decoding ([`crate::requests`]); everything else is as the API
//! server stores it.

use std::sync::Arc;

use jiff::Timestamp;

use crate::bandwidth::DeclaredBandwidth;
use crate::constraints::{Constraints, HostPort};
use crate::feature::NodeFeatures;
use crate::meta::{ObjectKey, ObjectMeta, Uid};
use crate::resources::Requests;
use crate::taint::Toleration;

/// A `v1.Pod`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pod {
    /// Name, uid, labels, owner.
    pub meta: ObjectMeta,
    /// What is wanted.
    pub spec: PodSpec,
    /// What is.
    pub status: PodStatus,
}

/// The part of `spec` that the scheduler reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PodSpec {
    /// `spec.nodeName`: set once the pod is bound.
    pub node_name: Option<Arc<str>>,
    /// `spec.schedulerName`; `default-scheduler` where the object has none.
    pub scheduler_name: Arc<str>,
    /// `spec.priority`; 0 where the object has none.
    pub priority: i32,
    /// `spec.preemptionPolicy` is `Never`.
    pub never_preempts: bool,
    /// What a node must have declared for the pod to run there.
    pub needs: NodeFeatures,
    /// `spec.schedulingGates[].name`.
    pub scheduling_gates: Vec<Arc<str>>,
    /// `spec.tolerations`.
    pub tolerations: Vec<Toleration>,
    /// Names of all containers, init containers first: part of a workload's identity.
    pub container_names: Vec<Arc<str>>,
    /// Sums over containers and pod level.
    pub requests: Requests,
    /// Annotations `kubernetes.io/ingress-bandwidth` and `egress-bandwidth`.
    pub bandwidth: DeclaredBandwidth,
    /// Images of init containers, containers and image volumes, in that order, one entry
    /// each; a name without tag or digest has `:latest`. Left out for a pod that has a node:
    /// only the choice of one needs them.
    pub images: Box<[Arc<str>]>,
    /// Selector, affinity and host ports: `None` for the many pods that have none of them.
    pub constraints: Option<Arc<Constraints>>,
}

/// The part of `status` that the scheduler reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PodStatus {
    /// `status.phase`.
    pub phase: Phase,
    /// `status.reason`, such as `OutOfcpu` of a pod that the kubelet refused.
    pub reason: Option<Arc<str>>,
    /// `status.nominatedNodeName`.
    pub nominated_node: Option<Arc<str>>,
    /// `status.startTime`.
    pub started: Option<Timestamp>,
    /// The condition of type `PodScheduled`, where there is one.
    pub scheduled: Option<Condition>,
    /// The condition of type `DisruptionTarget` says that a scheduler preempts the pod.
    pub is_preempted: bool,
}

/// `status.phase`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not all containers run yet; also the meaning of an empty phase.
    #[default]
    Pending,
    /// Runs.
    Running,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// The kubelet is silent.
    Unknown,
}

/// One entry of `status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `status`.
    pub status: ConditionStatus,
    /// `reason`.
    pub reason: Arc<str>,
    /// `message`.
    pub message: Arc<str>,
}

/// `status` of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionStatus {
    /// `True`.
    True,
    /// `False`.
    False,
    /// `Unknown`, or anything else.
    Unknown,
}

// === impl Pod ===

impl Pod {
    /// Namespace and name.
    pub fn key(&self) -> &ObjectKey {
        &self.meta.key
    }

    /// Uid.
    pub fn uid(&self) -> &Uid {
        &self.meta.uid
    }

    /// Whether the pod has ended: it holds no resources any more.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.phase, Phase::Succeeded | Phase::Failed)
    }

    /// The ports of its node that the pod takes.
    pub fn host_ports(&self) -> &[HostPort] {
        let constraints = self.spec.constraints.as_deref();
        constraints.map_or(&[], |constraints| &constraints.host_ports)
    }

    /// Whether a `DaemonSet` made the pod.
    pub fn is_daemon(&self) -> bool {
        let controller = self.meta.controller.as_ref();
        controller.is_some_and(|owner| &*owner.kind == "DaemonSet")
    }

    /// Whether the pod is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.meta.deleted.is_some()
    }
}
