//! What wakes a pod that found no node: cluster events and queueing hints.
//!
//! A plugin names the events that may turn its verdict ([`ClusterEvent`]) and, per pod and
//! change, says whether it is worth another look ([`Hint`]). The set is kube-scheduler's
//! plus load and time.

use std::fmt;
use std::ops::BitOr;

use plimsoll_objects::{Node, Object, Pod};

use crate::load::NodeLoad;

/// What changed (kube-scheduler `framework.EventResource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventResource {
    /// Everything: `*`.
    Any,
    /// A node.
    Node,
    /// A pod that has a node.
    AssignedPod,
    /// Another pod that has none.
    UnscheduledPod,
    /// The waiting pod itself.
    TargetPod,
    /// A persistent volume.
    PersistentVolume,
    /// A persistent volume claim.
    PersistentVolumeClaim,
    /// A storage class.
    StorageClass,
    /// A node's CSI drivers.
    CsiNode,
    /// A CSI driver.
    CsiDriver,
    /// A CSI driver's capacity.
    CsiStorageCapacity,
    /// An attached volume.
    VolumeAttachment,
    /// A resource claim.
    ResourceClaim,
    /// Devices of a node.
    ResourceSlice,
    /// A class of devices.
    DeviceClass,
    /// A group of pods.
    PodGroup,
}

/// What happened to it: bits (kube-scheduler `framework.ActionType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actions(u32);

/// A kind of event: a resource and one or more actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterEvent {
    /// What changed.
    pub resource: EventResource,
    /// What happened to it.
    pub actions: Actions,
}

/// The objects behind an event: `old` is absent on an addition, `new` on a deletion.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// A node object.
    Node {
        /// Before.
        old: Option<&'a Node>,
        /// After.
        new: Option<&'a Node>,
    },
    /// A pod object.
    Pod {
        /// Before.
        old: Option<&'a Pod>,
        /// After.
        new: Option<&'a Pod>,
    },
    /// An object of another kind.
    Object {
        /// Before.
        old: Option<&'a Object>,
        /// After.
        new: Option<&'a Object>,
    },
    /// A node's load fell, or is known again.
    Load {
        /// The node.
        node: &'a Node,
        /// Its load now.
        load: &'a NodeLoad,
    },
    /// Something without an object: a time-out, a forced activation.
    None,
}

/// Whether a pod is worth another look (kube-scheduler `framework.QueueingHint`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// It is.
    Queue,
    /// The event cannot turn the verdict.
    Skip,
}

// === impl Actions ===

impl Actions {
    /// Created.
    pub const ADD: Self = Self(1);
    /// Deleted.
    pub const DELETE: Self = Self(1 << 1);
    /// A node's allocatable changed.
    pub const UPDATE_NODE_ALLOCATABLE: Self = Self(1 << 2);
    /// A node's labels changed.
    pub const UPDATE_NODE_LABEL: Self = Self(1 << 3);
    /// A node's taints, or its `spec.unschedulable`, changed.
    pub const UPDATE_NODE_TAINT: Self = Self(1 << 4);
    /// A node's conditions changed.
    pub const UPDATE_NODE_CONDITION: Self = Self(1 << 5);
    /// A node's annotations changed.
    pub const UPDATE_NODE_ANNOTATION: Self = Self(1 << 6);
    /// A node's declared features changed.
    pub const UPDATE_NODE_DECLARED_FEATURE: Self = Self(1 << 7);
    /// A node's load fell below a line that pods were rejected for (Plimsoll's own).
    pub const UPDATE_LOAD: Self = Self(1 << 8);
    /// A pod's labels changed.
    pub const UPDATE_POD_LABEL: Self = Self(1 << 9);
    /// A pod's requests were scaled down.
    pub const UPDATE_POD_SCALE_DOWN: Self = Self(1 << 10);
    /// A pod's requests were scaled up.
    pub const UPDATE_POD_SCALE_UP: Self = Self(1 << 11);
    /// A pod's tolerations changed.
    pub const UPDATE_POD_TOLERATION: Self = Self(1 << 12);
    /// A pod lost its last scheduling gate.
    pub const UPDATE_POD_SCHEDULING_GATES_ELIMINATED: Self = Self(1 << 13);
    /// A pod's generated resource claim got its name.
    pub const UPDATE_POD_GENERATED_RESOURCE_CLAIM: Self = Self(1 << 14);
    /// Any other change.
    pub const UPDATE: Self = Self(1 << 15);
    /// All of them.
    pub const ALL: Self = Self(u32::MAX);

    /// Whether the two have an action in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no action.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// No action.
    pub fn none() -> Self {
        Self(0)
    }
}

impl BitOr for Actions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

// === impl ClusterEvent ===

impl ClusterEvent {
    /// A kind of event.
    pub const fn new(resource: EventResource, actions: Actions) -> Self {
        Self { resource, actions }
    }

    /// Whether a plugin that registered `self` wants to hear of `event`.
    pub fn matches(self, event: Self) -> bool {
        let resource = self.resource == EventResource::Any
            || event.resource == EventResource::Any
            || self.resource == event.resource;
        resource && self.actions.intersects(event.actions)
    }
}

impl fmt::Display for ClusterEvent {
    /// The label in metrics: resource and action, such as `NodeAdd`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource.name())?;
        f.write_str(self.actions.name())
    }
}

impl EventResource {
    /// As kube-scheduler writes it.
    fn name(self) -> &'static str {
        match self {
            Self::Any => "*",
            Self::Node => "Node",
            Self::AssignedPod => "AssignedPod",
            Self::UnscheduledPod => "UnscheduledPod",
            Self::TargetPod => "TargetPod",
            Self::PersistentVolume => "PersistentVolume",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::StorageClass => "storage.k8s.io/StorageClass",
            Self::CsiNode => "storage.k8s.io/CSINode",
            Self::CsiDriver => "storage.k8s.io/CSIDriver",
            Self::CsiStorageCapacity => "storage.k8s.io/CSIStorageCapacity",
            Self::VolumeAttachment => "storage.k8s.io/VolumeAttachment",
            Self::ResourceClaim => "resource.k8s.io/ResourceClaim",
            Self::ResourceSlice => "resource.k8s.io/ResourceSlice",
            Self::DeviceClass => "resource.k8s.io/DeviceClass",
            Self::PodGroup => "scheduling.k8s.io/PodGroup",
        }
    }
}

impl Actions {
    fn name(self) -> &'static str {
        const NAMES: [(Actions, &str); 16] = [
            (Actions::ADD, "Add"),
            (Actions::DELETE, "Delete"),
            (Actions::UPDATE_NODE_ALLOCATABLE, "UpdateNodeAllocatable"),
            (Actions::UPDATE_NODE_LABEL, "UpdateNodeLabel"),
            (Actions::UPDATE_NODE_TAINT, "UpdateNodeTaint"),
            (Actions::UPDATE_NODE_CONDITION, "UpdateNodeCondition"),
            (Actions::UPDATE_NODE_ANNOTATION, "UpdateNodeAnnotation"),
            (
                Actions::UPDATE_NODE_DECLARED_FEATURE,
                "UpdateNodeDeclaredFeature",
            ),
            (Actions::UPDATE_LOAD, "UpdateLoad"),
            (Actions::UPDATE_POD_LABEL, "UpdatePodLabel"),
            (Actions::UPDATE_POD_SCALE_DOWN, "UpdatePodScaleDown"),
            (Actions::UPDATE_POD_SCALE_UP, "UpdatePodScaleUp"),
            (Actions::UPDATE_POD_TOLERATION, "UpdatePodToleration"),
            (
                Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
                "UpdatePodSchedulingGatesEliminated",
            ),
            (
                Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM,
                "UpdatePodGeneratedResourceClaim",
            ),
            (Actions::UPDATE, "Update"),
        ];
        let named = NAMES.iter().find(|(action, _)| *action == self);
        named.map_or(if self.is_empty() { "" } else { "Update" }, |(_, name)| {
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Actions, ClusterEvent, EventResource};

    fn event(resource: EventResource, actions: Actions) -> ClusterEvent {
        ClusterEvent::new(resource, actions)
    }

    #[test]
    fn resource_and_action_must_both_match() {
        let registered = event(
            EventResource::Node,
            Actions::ADD | Actions::UPDATE_NODE_ALLOCATABLE,
        );
        let cases = [
            (EventResource::Node, Actions::ADD, true),
            (
                EventResource::Node,
                Actions::UPDATE_NODE_ALLOCATABLE | Actions::UPDATE_NODE_LABEL,
                true,
            ),
            (EventResource::Node, Actions::UPDATE_NODE_LABEL, false),
            (EventResource::Node, Actions::none(), false),
            (EventResource::AssignedPod, Actions::ADD, false),
            (EventResource::Any, Actions::ALL, true),
        ];
        for (resource, actions, matches) in cases {
            assert_eq!(
                registered.matches(event(resource, actions)),
                matches,
                "{resource:?}"
            );
        }
    }

    #[test]
    fn a_plugin_may_register_for_everything() {
        let registered = event(EventResource::Any, Actions::ALL);
        assert!(registered.matches(event(EventResource::Node, Actions::UPDATE_LOAD)));
        assert!(!registered.matches(event(EventResource::Node, Actions::none())));
    }

    #[test]
    fn labels_are_those_of_kube_scheduler() {
        let cases = [
            (EventResource::Node, Actions::ADD, "NodeAdd"),
            (
                EventResource::AssignedPod,
                Actions::DELETE,
                "AssignedPodDelete",
            ),
            (
                EventResource::TargetPod,
                Actions::UPDATE_POD_TOLERATION,
                "TargetPodUpdatePodToleration",
            ),
            (
                EventResource::Node,
                Actions::UPDATE_NODE_LABEL | Actions::UPDATE_NODE_TAINT,
                "NodeUpdate",
            ),
            (
                EventResource::CsiNode,
                Actions::UPDATE,
                "storage.k8s.io/CSINodeUpdate",
            ),
            (
                EventResource::ResourceClaim,
                Actions::ADD,
                "resource.k8s.io/ResourceClaimAdd",
            ),
        ];
        for (resource, actions, label) in cases {
            assert_eq!(event(resource, actions).to_string(), label);
        }
    }
}
