//! What a pod asks for: one number per resource out of containers, pod level and status.
//!
//! Takes the exact amounts of a pod's containers, gives [`Requests`]. Mirrors
//! `k8s.io/component-helpers/resource/helpers.go` of Kubernetes 1.37 with the feature
//! gates of that version at their defaults, and the three ways in which kube-scheduler
//! calls it (`noderesources/fit.go`, `resource_allocation.go`, `framework/types.go`).

use crate::amounts::Amounts;
use crate::quantity::Quantity;
use crate::resource_name::is_pod_level;
use crate::resources::{DEFAULT_MEMORY, DEFAULT_MILLICORES, Limits, Requests, ScoringRequests};

/// What one container states and what its status reports.
#[derive(Debug, Clone, Default)]
pub struct Container<'a> {
    /// An init container with `restartPolicy: Always`; meaningless for others.
    pub sidecar: bool,
    /// `resources.requests`.
    pub requests: Amounts<'a>,
    /// `resources.limits`.
    pub limits: Amounts<'a>,
    /// `allocatedResources` of its status.
    pub allocated: Option<Amounts<'a>>,
    /// `resources.requests` of its status.
    pub actuated: Option<Amounts<'a>>,
}

/// Everything that a pod's requests are made of.
#[derive(Debug, Clone, Default)]
pub struct PodAmounts<'a> {
    /// `spec.containers`.
    pub containers: Vec<Container<'a>>,
    /// `spec.initContainers`, in order.
    pub init_containers: Vec<Container<'a>>,
    /// `spec.overhead`.
    pub overhead: Amounts<'a>,
    /// `spec.resources`: requests and limits of the pod as a whole.
    pub pod_level: PodLevel<'a>,
    /// The resize that `spec` asks for is impossible: condition `PodResizePending`, reason
    /// `Infeasible`.
    pub resize_infeasible: bool,
    /// `status.resources` is there.
    pub reports_resources: bool,
    /// `status.resources.requests`.
    pub actuated: Option<Amounts<'a>>,
    /// `status.allocatedResources`.
    pub allocated: Option<Amounts<'a>>,
}

/// `spec.resources` of a pod.
#[derive(Debug, Clone, Default)]
pub struct PodLevel<'a> {
    /// `requests`.
    pub requests: Amounts<'a>,
    /// `limits`.
    pub limits: Amounts<'a>,
}

/// Sums up what `pod` asks for.
pub fn summarise(pod: &PodAmounts<'_>) -> Requests {
    let none = Amounts::default();
    let defaults = scoring_defaults(|_| true);
    let asked = pod.containers_ask(&none);
    let filter = pod.with_overhead(pod.with_pod_level(asked.clone(), &pod.pod_level.requests));
    let placed = pod.placed(&none);
    let has_pod_level = pod.states_pod_level();
    let placed_scoring = if has_pod_level {
        pod.placed(&scoring_defaults(|name| placed.get(name).is_none()))
    } else {
        pod.placed(&defaults)
    };
    Requests {
        filter: for_pod(&filter),
        scoring: scoring(&pod.with_overhead(pod.containers_ask(&defaults))),
        without_pod_level: has_pod_level.then(|| Box::new(for_pod(&pod.with_overhead(asked)))),
        placed: for_pod(&placed),
        placed_scoring: scoring(&placed_scoring),
        limits: Limits {
            cpu: pod.limit("cpu").map(Quantity::milli_value),
            memory: pod.limit("memory").map(Quantity::value),
        },
    }
}

/// The defaults of kube-scheduler for containers without a request, where `wanted`.
fn scoring_defaults(wanted: impl Fn(&str) -> bool) -> Amounts<'static> {
    let cpu = ("cpu", Quantity::from_millis(DEFAULT_MILLICORES));
    let memory = ("memory", Quantity::from_units(DEFAULT_MEMORY));
    [cpu, memory]
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .collect()
}

fn scoring(amounts: &Amounts<'_>) -> ScoringRequests {
    ScoringRequests {
        cpu: amounts.get("cpu").unwrap_or_default().milli_value(),
        memory: amounts.get("memory").unwrap_or_default().value(),
    }
}

/// A pod counts as one pod whatever it states, so a request for `pods` means nothing.
fn for_pod(amounts: &Amounts<'_>) -> crate::resources::Resources {
    let mut resources = amounts.to_resources();
    resources.pods = 0;
    resources
}

// === impl PodAmounts ===

impl<'a> PodAmounts<'a> {
    /// Whether a pod-level request is stated (`IsPodLevelRequestsSet`).
    fn states_pod_level(&self) -> bool {
        self.pod_level
            .requests
            .iter()
            .any(|(name, _)| is_pod_level(name))
    }

    /// What the containers ask for by `spec` alone; `defaults` stand in where a container
    /// states nothing.
    fn containers_ask(&self, defaults: &Amounts<'a>) -> Amounts<'a> {
        self.aggregate(defaults, |container| Some(&container.requests))
    }

    /// What the pod takes from its node: the largest of what is wanted, what the kubelet
    /// has allocated and what the containers run with, each over the whole pod.
    fn placed(&self, defaults: &Amounts<'a>) -> Amounts<'a> {
        let mut taken = match (&self.allocated, &self.actuated) {
            (Some(allocated), Some(actuated)) => {
                let mut taken = allocated.clone();
                taken.raise(actuated);
                taken
            }
            _ => self.containers_hold(defaults),
        };
        if !self.resize_infeasible {
            taken.raise(&self.containers_ask(defaults));
        }
        if self.reports_resources {
            let mut level = Amounts::default();
            if !self.resize_infeasible {
                level.clone_from(&self.pod_level.requests);
            }
            for reported in [&self.actuated, &self.allocated].into_iter().flatten() {
                level.raise(reported);
            }
            self.with_overhead(self.with_pod_level(taken, &level))
        } else {
            self.with_overhead(self.with_pod_level(taken, &self.pod_level.requests))
        }
    }

    /// What the containers hold by their statuses. A container without a status counts
    /// with its `spec`, unless that is the infeasible part.
    fn containers_hold(&self, defaults: &Amounts<'a>) -> Amounts<'a> {
        let mut held = self.aggregate(defaults, |container| {
            container
                .allocated
                .as_ref()
                .or_else(|| self.still_wanted(container))
        });
        held.raise(&self.aggregate(defaults, |container| {
            let reported = container.actuated.as_ref().or(container.allocated.as_ref());
            reported.or_else(|| self.still_wanted(container))
        }));
        held
    }

    fn still_wanted<'c>(&self, container: &'c Container<'a>) -> Option<&'c Amounts<'a>> {
        (!self.resize_infeasible).then_some(&container.requests)
    }

    /// `aggregateContainerResourcesByFn`: the larger of what runs together for good
    /// (containers and sidecars) and of each moment of the start, in which one init
    /// container runs beside the sidecars before it.
    fn aggregate<'p>(
        &'p self,
        defaults: &Amounts<'a>,
        of: impl Fn(&'p Container<'a>) -> Option<&'p Amounts<'a>>,
    ) -> Amounts<'a> {
        let mut running = Amounts::default();
        for container in &self.containers {
            add_with_defaults(&mut running, of(container), defaults);
        }
        let mut sidecars = Amounts::default();
        let mut starting = Amounts::default();
        for container in &self.init_containers {
            if container.sidecar {
                add_with_defaults(&mut running, of(container), defaults);
                add_with_defaults(&mut sidecars, of(container), defaults);
                starting.raise(&sidecars);
            } else {
                let mut moment = sidecars.clone();
                add_with_defaults(&mut moment, of(container), defaults);
                starting.raise(&moment);
            }
        }
        running.raise(&starting);
        running
    }

    /// `sum` with the amounts of `level` in place of its own, if the pod states any
    /// pod-level request.
    fn with_pod_level(&self, mut sum: Amounts<'a>, level: &Amounts<'a>) -> Amounts<'a> {
        if self.states_pod_level() {
            for (name, amount) in level.iter().filter(|(name, _)| is_pod_level(name)) {
                sum.set(name, amount);
            }
        }
        sum
    }

    fn with_overhead(&self, mut sum: Amounts<'a>) -> Amounts<'a> {
        sum.add(&self.overhead);
        sum
    }

    /// The limit of the whole pod: that of the pod level, else that of the containers if
    /// each of them has one. Overhead comes on top (`PodLimits`). A limit of 0 is none.
    fn limit(&self, name: &str) -> Option<Quantity> {
        let stated = |amounts: &Amounts<'_>| amounts.get(name).filter(|limit| !limit.is_zero());
        let overhead = self.overhead.get(name).unwrap_or_default();
        if let Some(limit) = stated(&self.pod_level.limits) {
            return Some(limit.saturating_add(overhead));
        }
        let mut all = self.containers.iter().chain(&self.init_containers);
        if self.containers.is_empty() || !all.all(|container| stated(&container.limits).is_some()) {
            return None;
        }
        let sum = self.aggregate(&Amounts::default(), |container| Some(&container.limits));
        sum.get(name).map(|limit| limit.saturating_add(overhead))
    }
}

fn add_with_defaults<'a>(
    sum: &mut Amounts<'a>,
    stated: Option<&Amounts<'a>>,
    defaults: &Amounts<'a>,
) {
    if let Some(stated) = stated {
        sum.add(stated);
    }
    for (name, amount) in defaults.iter() {
        if stated.is_none_or(|stated| stated.get(name).is_none()) {
            let missing: Amounts<'a> = [(name, amount)].into_iter().collect();
            sum.add(&missing);
        }
    }
}

#[cfg(test)]
mod tests;
