//! `NodeResourcesBalancedAllocation`: prefers nodes on which the pod evens out the shares
//! of the resources.
//!
//! kube-scheduler `plugins/noderesources/balanced_allocation.go`, with the formula of 1.36
//! and later. Requests count as stated, without defaults for containers that state none, and
//! as if the pod had its node already: what its status reports of a resize counts too.

mod args;
mod maths;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_framework::{
    Cycle, CycleState, Depends, Hooks, NodeId, NodeInfo, Normalizes, PluginSpec, Point, PreScore,
    PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::{Pod, Resources};

use crate::allocation::{Basis, Resource, WeightedResource};
use args::BalancedArgs;

/// The plugin's name.
pub const NAME: &str = "NodeResourcesBalancedAllocation";

struct BalancedAllocation {
    resources: Vec<WeightedResource>,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreScore, Point::Score],
        depends: Depends::NodeInfo,
        decode_args: args::decode,
        build: |args| {
            let BalancedArgs { resources } =
                args.get::<BalancedArgs>().cloned().unwrap_or_default();
            let plugin = Arc::new(BalancedAllocation { resources });
            Hooks::default().with_pre_score(&plugin).with_score(&plugin)
        },
    }
}

/// Skips for a pod that requests none of the resources: otherwise many such pods would go
/// to one node.
impl PreScore for BalancedAllocation {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        Ok(if self.is_asked(cycle.pod) {
            PreScoreOutcome::Ready
        } else {
            PreScoreOutcome::Skip
        })
    }
}

impl Score for BalancedAllocation {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        // `PreScore` may not be in the profile.
        if !self.is_asked(cycle.pod) {
            return Ok(0);
        }
        let requests = &cycle.pod.spec.requests;
        let resources = self.resources.iter();
        let amounts =
            resources.filter_map(|entry| entry.resource.allocation(node, requests, Basis::Stated));
        let (without, with) = amounts
            .map(|amounts| {
                let share = |requested| maths::share(requested, amounts.allocatable);
                (share(amounts.placed), share(amounts.requested()))
            })
            .unzip::<_, _, Vec<f64>, Vec<f64>>();
        Ok(maths::score(&without, &with))
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::Not
    }
}

impl BalancedAllocation {
    /// Whether the pod requests any of the resources.
    fn is_asked(&self, pod: &Pod) -> bool {
        let asked = &pod.spec.requests.placed;
        let mut resources = self.resources.iter();
        resources.any(|entry| amount(asked, &entry.resource) != 0)
    }
}

fn amount(asked: &Resources, resource: &Resource) -> i64 {
    match resource {
        Resource::Cpu => asked.cpu,
        Resource::Memory => asked.memory,
        Resource::EphemeralStorage => asked.ephemeral_storage,
        Resource::Scalar(name) => asked.scalar.get(name).copied().unwrap_or(0),
        Resource::Uncounted => 0,
    }
}
