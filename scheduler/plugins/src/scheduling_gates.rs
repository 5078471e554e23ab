//! `SchedulingGates`: a pod with scheduling gates is not looked at.
//!
//! kube-scheduler `plugins/schedulinggates`. The API server writes the pod's condition.

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Depends, EnqueueExtensions, EventResource, Hint, Hooks,
    PluginSpec, Point, PreEnqueue, Rejection,
};
use plimsoll_objects::Pod;

use crate::{hints, unread_args};

/// The plugin's name.
pub const NAME: &str = "SchedulingGates";

struct SchedulingGates;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreEnqueue],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(SchedulingGates);
            Hooks::default()
                .with_pre_enqueue(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreEnqueue for SchedulingGates {
    fn pre_enqueue(&self, pod: &Pod, _catalog: &Catalog) -> Result<(), Rejection> {
        let gates = &pod.spec.scheduling_gates;
        if gates.is_empty() {
            return Ok(());
        }
        let gates = gates.join(" ");
        Err(Rejection::unresolvable(format!(
            "waiting for scheduling gates: [{gates}]"
        )))
    }
}

impl EnqueueExtensions for SchedulingGates {
    fn events(&self) -> Vec<ClusterEvent> {
        let gone = Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED;
        vec![ClusterEvent::new(EventResource::TargetPod, gone)]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        hints::own_change(pod, change, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{check_hint, check_pre_enqueue, pod};
    use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
    use serde_json::Value;

    use super::spec;

    #[test]
    fn a_pod_with_gates_waits_and_names_them_in_order() {
        let cases = [
            (pod("a"), "Pass"),
            (
                pod("a").gate("b.com/g1"),
                "UnschedulableAndUnresolvable: waiting for scheduling gates: [b.com/g1]",
            ),
            (
                pod("a").gate("g2").gate("g1"),
                "UnschedulableAndUnresolvable: waiting for scheduling gates: [g2 g1]",
            ),
        ];
        for (pod, verdict) in cases {
            assert_eq!(check_pre_enqueue(&spec(), &Value::Null, &pod), verdict);
        }
    }

    #[test]
    fn only_the_loss_of_its_own_gates_wakes_a_pod() {
        let gated = pod("a").gate("g");
        let gone = Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED;
        let event = ClusterEvent::new(EventResource::TargetPod, gone);
        let hint = |event, new: &_| {
            let change = Change::Pod {
                old: None,
                new: Some(new),
            };
            check_hint(&spec(), &Value::Null, &gated, event, &change)
        };
        assert_eq!(hint(event, &pod("a").build()), Some(Hint::Queue));
        assert_eq!(hint(event, &pod("b").build()), Some(Hint::Skip));
        let node_added = ClusterEvent::new(EventResource::Node, Actions::ADD);
        assert_eq!(hint(node_added, &pod("a").build()), None);
    }
}
