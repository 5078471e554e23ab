//! `NodeName`: a pod that names a node goes there and nowhere else.
//!
//! kube-scheduler `plugins/nodename`. A pod with `spec.nodeName` never reaches the queue,
//! so in the scheduler this plugin never rejects; in dry runs and for extenders it may.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{
    Actions, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions, EventResource, Filter,
    FilterOutcome, Hooks, NodeInfo, PluginSpec, Point, PreFilter, PreFilterOutcome, Rejection,
};

use crate::unread_args;

/// The plugin's name.
pub const NAME: &str = "NodeName";

const REASON: &str = "node(s) didn't match the requested node name";

struct NodeName;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(NodeName);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for NodeName {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let Some(name) = &cycle.pod.spec.node_name else {
            return Ok(PreFilterOutcome::Ready);
        };
        let names = BTreeSet::from([&**name]);
        Ok(PreFilterOutcome::named(&names, cycle.snapshot))
    }
}

impl Filter for NodeName {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        match &cycle.pod.spec.node_name {
            Some(name) if name != node.name() => Err(Rejection::unresolvable(REASON)),
            _ => Ok(FilterOutcome::Pass),
        }
    }
}

impl EnqueueExtensions for NodeName {
    fn events(&self) -> Vec<ClusterEvent> {
        vec![ClusterEvent::new(EventResource::Node, Actions::ADD)]
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{Trial, check_filter, check_hint, cluster, node, pod};
    use plimsoll_framework::{Actions, Change, ClusterEvent, CycleState, EventResource, Hint};
    use serde_json::Value;

    use super::spec;

    #[test]
    fn a_pod_that_names_no_node_passes_everywhere() {
        let cluster = cluster([node("n1"), node("n2")]);
        let verdicts = check_filter(&spec(), &Value::Null, &cluster, &pod("a"));
        assert_eq!(verdicts, ["n1: Pass", "n2: Pass"]);
    }

    #[test]
    fn a_pod_that_names_a_node_goes_there_only() {
        let cluster = cluster([node("n1"), node("n2")]);
        let verdicts = check_filter(&spec(), &Value::Null, &cluster, &pod("a").on("n2"));
        assert_eq!(verdicts, ["n1: not among PreFilter's nodes", "n2: Pass"]);
        let verdicts = check_filter(&spec(), &Value::Null, &cluster, &pod("a").on("gone"));
        assert_eq!(
            verdicts,
            [
                "n1: not among PreFilter's nodes",
                "n2: not among PreFilter's nodes"
            ]
        );
    }

    #[test]
    fn filter_alone_rejects_other_nodes_for_good() {
        let scene = cluster([node("n1")]).scene(&pod("a").on("n2"));
        let trial = Trial::new(&spec(), &Value::Null);
        let verdict = trial.filter(&scene.cycle(), &CycleState::new(), scene.node("n1"));
        let rejection = verdict.expect_err("it names another node");
        assert_eq!(rejection.code.as_str(), "UnschedulableAndUnresolvable");
        assert_eq!(
            rejection.message(),
            "node(s) didn't match the requested node name"
        );
    }

    #[test]
    fn a_new_node_wakes_the_pod() {
        let added = node("n1").build();
        let hint = |actions| {
            let change = Change::Node {
                old: None,
                new: Some(&added),
            };
            let event = ClusterEvent::new(EventResource::Node, actions);
            check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
        };
        assert_eq!(hint(Actions::ADD), Some(Hint::Queue));
        assert_eq!(hint(Actions::UPDATE_NODE_LABEL), None);
    }
}
