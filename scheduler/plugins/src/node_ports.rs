//! `NodePorts`: the host ports that a pod wants must be free on the node.
//!
//! kube-scheduler `plugins/nodeports`. The ports in use are [`NodeInfo`]'s own list.

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::{HostPort, Pod};

use crate::{hints, unread_args};

/// The plugin's name.
pub const NAME: &str = "NodePorts";

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

struct NodePorts;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::NodeInfo,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(NodePorts);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for NodePorts {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(if cycle.pod.host_ports().is_empty() {
            PreFilterOutcome::Skip
        } else {
            PreFilterOutcome::Ready
        })
    }
}

impl Filter for NodePorts {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        if conflict(cycle.pod.host_ports(), &node.used_ports) {
            return Err(Rejection::unschedulable(REASON));
        }
        Ok(FilterOutcome::Pass)
    }
}

impl EnqueueExtensions for NodePorts {
    /// Ports of a pod cannot change, so no update of one counts.
    fn events(&self) -> Vec<ClusterEvent> {
        vec![
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
            ClusterEvent::new(EventResource::Node, Actions::ADD),
        ]
    }

    /// A pod that goes wakes the waiting one if it held one of its ports on a node.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Pod {
                old: Some(gone), ..
            } => {
                let held = gone.spec.node_name.is_some() || gone.status.nominated_node.is_some();
                hints::when(held && conflict(pod.host_ports(), gone.host_ports()))
            }
            Change::Pod { old: None, .. }
            | Change::Node { .. }
            | Change::Object { .. }
            | Change::Load { .. }
            | Change::None => Hint::Queue,
        }
    }
}

fn conflict(wanted: &[HostPort], used: &[HostPort]) -> bool {
    wanted
        .iter()
        .any(|port| used.iter().any(|used| port.conflicts_with(used)))
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{PodBuilder, check_filter, check_hint, cluster, node, pod};
    use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
    use serde_json::Value;

    use super::{REASON, spec};

    fn verdict(placed: PodBuilder, wanted: &PodBuilder) -> Vec<String> {
        let cluster = cluster([node("n1")]).pods([placed.on("n1")]);
        check_filter(&spec(), &Value::Null, &cluster, wanted)
    }

    #[test]
    fn a_pod_without_host_ports_is_not_judged() {
        assert_eq!(
            verdict(pod("p").host_port(80), &pod("a")),
            ["PreFilter: Skip"]
        );
    }

    #[test]
    fn a_port_in_use_rejects_and_preemption_may_help() {
        let taken = format!("n1: Unschedulable: {REASON}");
        let cases = [
            (pod("p").host_port(80), pod("a").host_port(80), true),
            (pod("p").host_port(80), pod("a").host_port(81), false),
            (pod("p"), pod("a").host_port(80), false),
            (
                pod("p").host_port_on("127.0.0.1", "TCP", 80),
                pod("a").host_port_on("0.0.0.0", "", 80),
                true,
            ),
            (
                pod("p").host_port_on("127.0.0.1", "", 80),
                pod("a").host_port_on("127.0.0.2", "", 80),
                false,
            ),
            (
                pod("p").host_port_on("", "UDP", 80),
                pod("a").host_port_on("", "TCP", 80),
                false,
            ),
            (
                pod("p").host_port(1).container("more").host_port(80),
                pod("a").host_port(2).container("more").host_port(80),
                true,
            ),
        ];
        for (placed, wanted, conflicts) in cases {
            let expected = if conflicts { &taken } else { "n1: Pass" };
            assert_eq!(verdict(placed, &wanted), [expected]);
        }
    }

    fn hint(old: Option<&PodBuilder>, event: ClusterEvent) -> Option<Hint> {
        let waiting = pod("a").host_port(80);
        let old = old.map(PodBuilder::build);
        let change = Change::Pod {
            old: old.as_ref(),
            new: None,
        };
        check_hint(&spec(), &Value::Null, &waiting, event, &change)
    }

    #[test]
    fn a_pod_that_held_a_wanted_port_wakes_when_it_goes() {
        let gone = ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE);
        let cases = [
            (pod("p").host_port(80).on("n1"), Hint::Queue),
            (pod("p").host_port(80).nominated("n1"), Hint::Queue),
            (pod("p").host_port(80), Hint::Skip),
            (pod("p").host_port(81).on("n1"), Hint::Skip),
            (pod("p").on("n1"), Hint::Skip),
        ];
        for (old, expected) in cases {
            assert_eq!(hint(Some(&old), gone), Some(expected));
        }
        let unscheduled = ClusterEvent::new(EventResource::UnscheduledPod, Actions::DELETE);
        assert_eq!(hint(Some(&pod("p").host_port(80)), unscheduled), None);
    }

    #[test]
    fn a_new_node_wakes_and_a_changed_one_does_not() {
        let new = node("n1").build();
        let hint = |actions| {
            let change = Change::Node {
                old: None,
                new: Some(&new),
            };
            let event = ClusterEvent::new(EventResource::Node, actions);
            check_hint(
                &spec(),
                &Value::Null,
                &pod("a").host_port(80),
                event,
                &change,
            )
        };
        assert_eq!(hint(Actions::ADD), Some(Hint::Queue));
        assert_eq!(hint(Actions::UPDATE_NODE_TAINT), None);
    }
}
