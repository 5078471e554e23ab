//! `NodeUnschedulable`: a cordoned node takes only pods that tolerate it.
//!
//! kube-scheduler `plugins/nodeunschedulable`.

use std::sync::{Arc, LazyLock};

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::taint::{UNSCHEDULABLE_TAINT, tolerated};
use plimsoll_objects::{Pod, Taint, TaintEffect};

use crate::{hints, unread_args};

/// The plugin's name.
pub const NAME: &str = "NodeUnschedulable";

const REASON: &str = "node(s) were unschedulable";

/// The taint that `spec.unschedulable` stands for.
static CORDON: LazyLock<Taint> = LazyLock::new(|| Taint {
    key: UNSCHEDULABLE_TAINT.into(),
    value: "".into(),
    effect: TaintEffect::NoSchedule,
});

struct NodeUnschedulable;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(NodeUnschedulable);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

/// v1.37 has the point for deferred resizes, behind a gate that is off: it never skips.
impl PreFilter for NodeUnschedulable {
    fn pre_filter(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for NodeUnschedulable {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        if node.node.unschedulable && !tolerates_cordon(cycle.pod) {
            return Err(Rejection::unresolvable(REASON));
        }
        Ok(FilterOutcome::Pass)
    }
}

impl EnqueueExtensions for NodeUnschedulable {
    fn events(&self) -> Vec<ClusterEvent> {
        vec![
            ClusterEvent::new(
                EventResource::Node,
                Actions::ADD | Actions::UPDATE_NODE_TAINT,
            ),
            ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_TOLERATION),
        ]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Node {
                old,
                new: Some(new),
            } => {
                let was_shut = old.is_none_or(|old| old.unschedulable);
                hints::when(was_shut && !new.unschedulable)
            }
            _ => hints::own_change(pod, change, tolerates_cordon),
        }
    }
}

fn tolerates_cordon(pod: &Pod) -> bool {
    tolerated(&pod.spec.tolerations, &CORDON)
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{check_filter, check_hint, cluster, node, pod};
    use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
    use plimsoll_objects::TaintEffect;
    use plimsoll_objects::taint::UNSCHEDULABLE_TAINT as CORDONED;
    use serde_json::Value;

    use super::spec;

    #[test]
    fn a_cordoned_node_takes_only_pods_that_tolerate_it() {
        let cluster = cluster([node("open"), node("shut").unschedulable()]);
        let rejected = "shut: UnschedulableAndUnresolvable: node(s) were unschedulable";
        let cases = [
            (pod("a"), rejected),
            (pod("a").tolerates_any(CORDONED), "shut: Pass"),
            (pod("a").tolerates_any(""), "shut: Pass"),
            (
                pod("a").toleration(CORDONED, "", TaintEffect::NoSchedule),
                "shut: Pass",
            ),
            (
                pod("a").toleration(CORDONED, "x", TaintEffect::NoSchedule),
                rejected,
            ),
            (
                pod("a").toleration(CORDONED, "", TaintEffect::NoExecute),
                rejected,
            ),
            (pod("a").tolerates_any("other"), rejected),
        ];
        for (pod, verdict) in cases {
            let verdicts = check_filter(&spec(), &Value::Null, &cluster, &pod);
            assert_eq!(verdicts, ["open: Pass", verdict], "{}", pod.json());
        }
    }

    #[test]
    fn a_node_that_opens_wakes_the_pod() {
        let open = node("n1").build();
        let tainted = node("n1").taint("flaps", "", TaintEffect::NoExecute);
        let shut = node("n1").unschedulable().build();
        let hint = |old, new| {
            let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_TAINT);
            let change = Change::Node { old, new };
            check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
        };
        assert_eq!(hint(Some(&shut), Some(&open)), Some(Hint::Queue));
        assert_eq!(hint(None, Some(&open)), Some(Hint::Queue));
        assert_eq!(hint(Some(&open), Some(&shut)), Some(Hint::Skip));
        // Another taint of a node that was open all the time is no news.
        let tainted = tainted.build();
        assert_eq!(hint(Some(&tainted), Some(&open)), Some(Hint::Skip));
    }

    #[test]
    fn its_own_toleration_wakes_the_pod() {
        let hint = |new: &_| {
            let event = ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_TOLERATION);
            let change = Change::Pod {
                old: None,
                new: Some(new),
            };
            check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
        };
        assert_eq!(
            hint(&pod("a").tolerates_any(CORDONED).build()),
            Some(Hint::Queue)
        );
        assert_eq!(
            hint(&pod("a").tolerates_any("other").build()),
            Some(Hint::Skip)
        );
        assert_eq!(
            hint(&pod("b").tolerates_any(CORDONED).build()),
            Some(Hint::Skip)
        );
    }
}
