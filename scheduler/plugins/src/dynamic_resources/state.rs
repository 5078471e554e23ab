//! What one cycle knows of its pod's claims, from `PreFilter` to binding.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use plimsoll_framework::{Kept, NodeId};
use plimsoll_objects::device::Allocation;
use plimsoll_objects::{ObjectKey, ResourceClaim};

use super::extended::{Extended, Requested};
use super::plan::ClaimPlan;
use super::pools::Pools;
use super::search::Solution;
use super::world::View;

/// What `PreFilter` found out and `Filter` adds to. A dry run of preemption shares it, as in
/// kube-scheduler.
#[derive(Debug, Clone, Default)]
pub(super) struct State(pub Arc<Shared>);

/// See [`State`].
#[derive(Default)]
pub(super) struct Shared {
    /// The claims that the pod names.
    pub claims: Vec<Arc<ResourceClaim>>,
    /// Its extended resources, if devices stand behind one.
    pub extended: Option<ExtendedWish>,
    /// Plans for those claims that are not allocated, in their order.
    pub plans: Vec<ClaimPlan>,
    /// The devices, if any are to be taken.
    pub view: Option<View>,
    /// Whether an allocated claim cannot be used on some node, by claim.
    pub unavailable: Box<[AtomicBool]>,
    /// What was found on nodes that passed, by node.
    pub found: Kept<Vec<Option<Arc<Found>>>>,
    /// Steps that all searches took.
    pub steps: AtomicU64,
    /// Claims for extended resources, by the resources that a node lacks.
    pub variants: Kept<BTreeMap<Vec<Arc<str>>, Arc<Variant>>>,
}

/// Extended resources that devices stand behind.
#[derive(Debug)]
pub(super) struct ExtendedWish {
    /// The claim of an earlier attempt, which is stale.
    pub earlier: Option<Arc<ResourceClaim>>,
    /// What is requested.
    pub requested: Vec<Requested>,
}

/// A claim for extended resources with its plan.
#[derive(Debug)]
pub(super) struct Variant {
    /// The claim.
    pub extended: Extended,
    /// Its plan.
    pub plan: ClaimPlan,
}

/// The devices that were found on a node.
#[derive(Debug)]
pub(super) struct Found {
    /// By plan; the extended resources' last.
    pub solutions: Vec<Solution>,
    /// The node's pools, which the solutions refer to.
    pub pools: Arc<Pools>,
    /// The claim for extended resources, where the node lacks some.
    pub variant: Option<Arc<Variant>>,
}

/// What the pod holds from `Reserve` on.
#[derive(Debug, Clone, Default)]
pub(super) struct Reserved {
    /// The claims that the pod names.
    pub claims: Vec<Held>,
    /// The claim for its extended resources.
    pub extended: Option<HeldExtended>,
    /// What is to be done next.
    pub phase: Phase,
}

/// A claim that the pod is to use.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// The claim as it was.
    pub claim: Arc<ResourceClaim>,
    /// The allocation that is to be written; `None` if it has one.
    pub allocation: Option<Arc<Allocation>>,
    /// The pod was, or is being, written into it.
    pub reserved: bool,
}

/// The claim for extended resources.
#[derive(Debug, Clone)]
pub(super) struct HeldExtended {
    /// The claim as it is to be made.
    pub variant: Arc<Variant>,
    /// Its allocation.
    pub allocation: Arc<Allocation>,
    /// The claim as it was made.
    pub made: Option<Arc<ResourceClaim>>,
}

/// Where binding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    /// The claims are to be written.
    #[default]
    Write,
    /// The claim for extended resources was made and is to be seen, at the latest then.
    See { deadline: Option<Duration> },
    /// Everything is written; devices may have to become ready, at the latest then.
    Ready { deadline: Option<Duration> },
}

// === impl Shared ===

impl Shared {
    /// Whether the pod has nothing to do with devices.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.extended.is_none()
    }

    /// What was found on a node.
    pub(super) fn found_on(&self, node: NodeId) -> Option<Arc<Found>> {
        let found = self.found.lock();
        found.get(node.index()).cloned().flatten()
    }

    /// Notes what was found on a node.
    pub(super) fn set_found(&self, node: NodeId, on_node: Found) {
        let mut found = self.found.lock();
        let index = node.index();
        if found.len() <= index {
            found.resize(index + 1, None);
        }
        found[index] = Some(Arc::new(on_node));
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claims: Vec<&ObjectKey> = self.claims.iter().map(|claim| &claim.meta.key).collect();
        f.debug_struct("Shared")
            .field("claims", &claims)
            .finish_non_exhaustive()
    }
}
