//! `NodeResourcesFit`: what a pod requests must be free on the node; and how well it fits.
//!
//! kube-scheduler `plugins/noderesources/fit.go`. The sums are [`NodeInfo`]'s and the pod's
//! own ([`plimsoll_objects::requests`]): nothing is added up here.
//! Devices that stand behind an extended resource (dynamic resource allocation) are not
//! looked at: this build has no such plugin.

mod args;
mod fits;
mod shape;
mod strategy;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions, EventResource,
    Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::Pod;

use args::FitArgs;

/// The plugin's name.
pub const NAME: &str = "NodeResourcesFit";

struct NodeResourcesFit {
    args: FitArgs,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[
            Point::PreFilter,
            Point::Filter,
            Point::PreScore,
            Point::Score,
        ],
        depends: Depends::NodeInfo,
        decode_args: args::decode,
        build: |args| {
            let args = args.get::<FitArgs>().cloned().unwrap_or_default();
            let plugin = Arc::new(NodeResourcesFit { args });
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

/// kube-scheduler sums up the pod's requests here; a decoded pod carries them. Never skips.
impl PreFilter for NodeResourcesFit {
    fn pre_filter(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for NodeResourcesFit {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let asked = &cycle.pod.spec.requests.filter;
        fits::judge(asked, node, &self.args.ignored).map(|()| FilterOutcome::Pass)
    }
}

/// As with `PreFilter`: nothing to prepare, never skips.
impl PreScore for NodeResourcesFit {
    fn pre_score(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for NodeResourcesFit {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let requests = &cycle.pod.spec.requests;
        Ok(self
            .args
            .strategy
            .score(&self.args.resources, node, requests))
    }
}

impl EnqueueExtensions for NodeResourcesFit {
    fn events(&self) -> Vec<ClusterEvent> {
        let freed = Actions::DELETE | Actions::UPDATE_POD_SCALE_DOWN;
        let grown = Actions::ADD | Actions::UPDATE_NODE_ALLOCATABLE;
        vec![
            ClusterEvent::new(EventResource::AssignedPod, freed),
            ClusterEvent::new(EventResource::UnscheduledPod, Actions::DELETE),
            ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_SCALE_DOWN),
            ClusterEvent::new(EventResource::Node, grown),
        ]
    }

    fn hint(&self, pod: &Pod, _event: ClusterEvent, change: &Change<'_>) -> Hint {
        wake::hint(pod, change, &self.args.ignored)
    }
}
