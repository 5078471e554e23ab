//! What of a node's resources is requested, and the formulas that several plugins score it
//! by.
//!
//! Takes a node's sums and a pod's request, gives amounts after the pod; kube-scheduler
//! `noderesources/resource_allocation.go`, `least_allocated.go` and `most_allocated.go`.
//! Integers throughout.

use std::sync::Arc;

use plimsoll_framework::{MAX_SCORE, NodeInfo};
use plimsoll_objects::Requests;
use plimsoll_objects::resource_name::is_scalar;

/// A resource that a scorer looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Millicores.
    Cpu,
    /// Bytes.
    Memory,
    /// Bytes.
    EphemeralStorage,
    /// An extended resource, huge pages or the like, in its own unit.
    Scalar(Arc<str>),
    /// A name that the scheduler does not count: no node has any of it.
    Uncounted,
}

/// A resource and how much it counts beside the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WeightedResource {
    /// What.
    pub resource: Resource,
    /// How much: 1..=100.
    pub weight: i64,
}

/// Which requests count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// With 100m and 200 MiB assumed for each container that requests no cpu or memory.
    WithDefaults,
    /// As stated, and of a pod that is being resized as its node would count it.
    Stated,
}

/// One resource of one node. Never of a node that has none of it, and never of a scalar
/// that the pod does not ask for: those say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// What pods may request: not 0.
    pub allocatable: i64,
    /// What the node's pods request.
    pub placed: i64,
    /// What the pod requests.
    pub asked: i64,
}

/// `LeastAllocated`: `sum((a - q) * 100 / a * w) / sum(w)` over the resources, where `a` is
/// allocatable and `q` requested with the pod (a resource with `q > a` counts 0). Rounded
/// down at each division; 0 where no resource says anything.
pub(crate) fn least_allocated(
    resources: &[WeightedResource],
    node: &NodeInfo,
    pod: &Requests,
) -> i64 {
    weighted_mean(resources, node, pod, |amounts| {
        let (requested, allocatable) = (amounts.requested(), amounts.allocatable);
        if requested > allocatable {
            0
        } else {
            share(allocatable - requested, allocatable)
        }
    })
}

/// `MostAllocated`: `sum(q * 100 / a * w) / sum(w)` in the same way, with `q` capped at `a`: a
/// node may carry more than it has.
pub(crate) fn most_allocated(
    resources: &[WeightedResource],
    node: &NodeInfo,
    pod: &Requests,
) -> i64 {
    weighted_mean(resources, node, pod, |amounts| {
        let allocatable = amounts.allocatable;
        share(amounts.requested().min(allocatable), allocatable)
    })
}

/// The mean of `score` over the resources by weight, rounded down.
pub(crate) fn weighted_mean(
    resources: &[WeightedResource],
    node: &NodeInfo,
    pod: &Requests,
    score: impl Fn(Allocation) -> i64,
) -> i64 {
    let (mut sum, mut weights) = (0, 0);
    for entry in resources {
        if let Some(amounts) = entry.resource.allocation(node, pod, Basis::WithDefaults) {
            sum += score(amounts) * entry.weight;
            weights += entry.weight;
        }
    }
    if weights == 0 { 0 } else { sum / weights }
}

/// `100 * part / whole`, rounded down, within 0..=100: exact for every amount, however
/// large. `whole` is not 0.
pub(crate) fn share(part: i64, whole: i64) -> i64 {
    // A 128-bit division costs ten times as much, and only amounts beyond 92 PB need it.
    let share = match part.checked_mul(MAX_SCORE) {
        Some(scaled) => i128::from(scaled / whole),
        None => i128::from(part) * i128::from(MAX_SCORE) / i128::from(whole),
    };
    share.clamp(0, i128::from(MAX_SCORE)) as i64
}

// === impl Resource ===

impl Resource {
    /// The resource called `name` in args and objects.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "ephemeral-storage" => Self::EphemeralStorage,
            _ if is_scalar(name) => Self::Scalar(Arc::from(name)),
            _ => Self::Uncounted,
        }
    }

    /// The amounts on `node` for a pod; `None` where they say nothing.
    pub(crate) fn allocation(
        &self,
        node: &NodeInfo,
        pod: &Requests,
        basis: Basis,
    ) -> Option<Allocation> {
        let (allocatable, placed) = (node.allocatable(), &node.requested);
        let assume = basis == Basis::WithDefaults;
        let (allocatable, placed, asked) = match self {
            Self::Cpu if assume => (
                allocatable.cpu,
                node.non_zero_requested.cpu,
                pod.scoring.cpu,
            ),
            Self::Memory if assume => (
                allocatable.memory,
                node.non_zero_requested.memory,
                pod.scoring.memory,
            ),
            Self::Cpu => (allocatable.cpu, placed.cpu, pod.placed.cpu),
            Self::Memory => (allocatable.memory, placed.memory, pod.placed.memory),
            Self::EphemeralStorage => (
                allocatable.ephemeral_storage,
                placed.ephemeral_storage,
                if assume {
                    pod.filter.ephemeral_storage
                } else {
                    pod.placed.ephemeral_storage
                },
            ),
            Self::Scalar(name) => {
                let asked = if assume {
                    pod.fit_score_amount(name)
                } else {
                    pod.placed.scalar.get(name).copied().unwrap_or(0)
                };
                if asked == 0 {
                    return None;
                }
                let placed = placed.scalar.get(name).copied().unwrap_or(0);
                (*allocatable.scalar.get(name)?, placed, asked)
            }
            Self::Uncounted => return None,
        };
        (allocatable != 0).then_some(Allocation {
            allocatable,
            placed,
            asked,
        })
    }
}

// === impl Allocation ===

impl Allocation {
    /// What is requested once the pod is there.
    pub(crate) fn requested(&self) -> i64 {
        self.placed.saturating_add(self.asked)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::NodeInfo;
    use plimsoll_framework::test_util::{PodBuilder, node, pod, snapshot};
    use serde_json::json;

    use super::{Allocation, Basis, Resource, least_allocated, share};
    use crate::resource_list::cpu_and_memory;

    /// A node of 4 cpus and 16 GiB with one pod of 1 cpu on it.
    fn node_with_a_pod() -> NodeInfo {
        let node = node("n1").resource("example.com/gpu", "4");
        let snapshot = snapshot([node], [pod("placed").cpu("1").on("n1")]);
        let info = snapshot.nodes().next().expect("one node");
        NodeInfo::clone(info)
    }

    fn amounts(name: &str, pod: &PodBuilder, basis: Basis) -> Option<Allocation> {
        let requests = pod.build().spec.requests;
        Resource::named(name).allocation(&node_with_a_pod(), &requests, basis)
    }

    #[test]
    fn containers_that_request_nothing_count_with_defaults_where_asked_for() {
        let bare = pod("a");
        let with = amounts("cpu", &bare, Basis::WithDefaults).expect("the node has cpu");
        assert_eq!((with.placed, with.asked), (1000, 100));
        let stated = amounts("cpu", &bare, Basis::Stated).expect("the node has cpu");
        assert_eq!((stated.placed, stated.asked), (1000, 0));
        let memory = amounts("memory", &bare, Basis::WithDefaults).expect("the node has memory");
        assert_eq!((memory.placed, memory.asked), (200 << 20, 200 << 20));
    }

    #[test]
    fn a_scalar_counts_only_if_the_pod_asks_and_the_node_has_it() {
        let asks = pod("a")
            .request("example.com/gpu", "1")
            .request("example.com/fpga", "1");
        let gpu = amounts("example.com/gpu", &asks, Basis::Stated);
        assert_eq!(
            gpu,
            Some(Allocation {
                allocatable: 4,
                placed: 0,
                asked: 1
            })
        );
        assert_eq!(amounts("example.com/gpu", &pod("a"), Basis::Stated), None);
        assert_eq!(amounts("example.com/fpga", &asks, Basis::Stated), None);
    }

    #[test]
    fn a_resize_in_the_status_of_a_pod_counts_only_as_stated() {
        let status = json!({"containerStatuses": [{
            "name": "main", "allocatedResources": {"cpu": "3", "ephemeral-storage": "3"},
        }]});
        let resized = pod("a").cpu("1").merge(json!({"status": status}));
        let asked = |name: &str, basis| {
            let node = node("n1").resource("ephemeral-storage", "4");
            let snapshot = snapshot([node], []);
            let info = snapshot.nodes().next().expect("one node");
            let requests = resized.build().spec.requests;
            let amounts = Resource::named(name).allocation(info, &requests, basis);
            amounts.expect("the node has some").asked
        };
        assert_eq!(asked("cpu", Basis::Stated), 3000);
        assert_eq!(asked("cpu", Basis::WithDefaults), 1000);
        assert_eq!(asked("ephemeral-storage", Basis::Stated), 3);
        assert_eq!(asked("ephemeral-storage", Basis::WithDefaults), 0);
    }

    #[test]
    fn names_that_are_not_counted_say_nothing() {
        for name in ["pods", "gpu", "requests.example.com/gpu", ""] {
            assert_eq!(
                amounts(name, &pod("a"), Basis::WithDefaults),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn least_allocated_prefers_what_is_free() {
        let score = |pod: &PodBuilder| {
            let requests = pod.build().spec.requests;
            least_allocated(&cpu_and_memory(), &node_with_a_pod(), &requests)
        };
        // cpu: (4000 - 2000) / 4000 = 50; memory: (16 - 4 - 0.2) GiB of 16 = 73.
        assert_eq!(score(&pod("a").cpu("1").memory("4Gi")), 61);
        // cpu is over: 0.
        assert_eq!(score(&pod("a").cpu("4").memory("4Gi")), 36);
    }

    #[test]
    fn shares_are_exact_for_every_amount() {
        assert_eq!(share(i64::MAX, i64::MAX), 100);
        assert_eq!(share(i64::MAX - 1, i64::MAX), 99);
        assert_eq!(share(1, 3), 33);
        assert_eq!(share(-5, 3), 0);
        assert_eq!(share(5, -3), 0);
    }
}
