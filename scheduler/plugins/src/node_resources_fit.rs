//! `NodeResourcesFit`: what a pod requests must be free on the node; and how well it fits.
//!
//! kube-scheduler `plugins/noderesources/fit.go`. The sums are [`NodeInfo`]'s and the pod's
//! own ([`plimsoll_objects::requests`]): nothing is added up here.
//! An extended resource that a device class stands for is `DynamicResources`' to judge on
//! nodes that do not offer it themselves.
//!
//! `Differs:` kube-scheduler scores such a resource by the devices of the node, if the args
//! name it; here it has no say in the score of a node that does not offer it.

mod args;
mod devices;
mod fits;
mod strategy;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, Normalizes, PluginSpec,
    Point, PreFilter, PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::Pod;

use args::FitArgs;
use devices::ByDevices;

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

/// kube-scheduler sums up the pod's requests here; a decoded pod carries them. What devices
/// stand behind is looked up once. Never skips.
impl PreFilter for NodeResourcesFit {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let asked = &cycle.pod.spec.requests.filter;
        let by_devices = ByDevices::of(asked, cycle.snapshot.catalog());
        if !by_devices.is_empty() {
            state.insert(by_devices);
        }
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for NodeResourcesFit {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let asked = &cycle.pod.spec.requests.filter;
        let by_devices = if asked.scalar.is_empty() {
            None
        } else {
            state.get::<ByDevices>()
        };
        fits::judge(asked, node, &self.args.ignored, by_devices)?;
        Ok(FilterOutcome::Pass)
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

    fn normalizes(&self) -> Normalizes {
        Normalizes::Not
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
            ClusterEvent::new(EventResource::DeviceClass, Actions::ADD | Actions::UPDATE),
        ]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        catalog: &Catalog,
    ) -> Hint {
        wake::hint(pod, change, &self.args.ignored, catalog)
    }
}
