//! `NodeDeclaredFeatures`: what a pod needs of the kubelet, its node must have declared.
//!
//! kube-scheduler `plugins/nodedeclaredfeatures`. What a pod needs is read off its spec at
//! decoding ([`plimsoll_objects::NodeFeatures`]); no feature has a last version yet, so none
//! is taken for granted.

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeInfo, PluginSpec, Point, PreFilter,
    PreFilterOutcome, Rejection,
};
use plimsoll_objects::{Node, NodeFeatures, Pod};

use crate::{hints, unread_args};

/// The plugin's name.
pub const NAME: &str = "NodeDeclaredFeatures";

const REASON: &str = "node(s) didn't match Pod's required features";

struct NodeDeclaredFeatures;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreFilter, Point::Filter],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(NodeDeclaredFeatures);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for NodeDeclaredFeatures {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(if cycle.pod.spec.needs.is_empty() {
            PreFilterOutcome::Skip
        } else {
            PreFilterOutcome::Ready
        })
    }
}

impl Filter for NodeDeclaredFeatures {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        if declares_all(&node.node, cycle.pod) {
            Ok(FilterOutcome::Pass)
        } else {
            Err(Rejection::unresolvable(REASON))
        }
    }
}

impl EnqueueExtensions for NodeDeclaredFeatures {
    fn events(&self) -> Vec<ClusterEvent> {
        let declared = Actions::ADD | Actions::UPDATE_NODE_DECLARED_FEATURE;
        let updated = Actions::UPDATE
            | Actions::UPDATE_POD_LABEL
            | Actions::UPDATE_POD_SCALE_DOWN
            | Actions::UPDATE_POD_SCALE_UP
            | Actions::UPDATE_POD_TOLERATION
            | Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED
            | Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM;
        vec![
            ClusterEvent::new(EventResource::Node, declared),
            ClusterEvent::new(EventResource::TargetPod, updated),
        ]
    }

    /// As in kube-scheduler, a node wakes the pod whatever it declares, if it is new or
    /// declares something else than before.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Node {
                old: Some(old),
                new: Some(new),
            } => hints::when(old.status.declared_features != new.status.declared_features),
            Change::Pod {
                old: Some(old),
                new: Some(new),
            } => hints::own_change(pod, change, |_| old.spec.needs != new.spec.needs),
            _ => Hint::Queue,
        }
    }
}

fn declares_all(node: &Node, pod: &Pod) -> bool {
    NodeFeatures::declared(&node.status.declared_features).contains(pod.spec.needs)
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::{
        NodeBuilder, PodBuilder, Trial, check_filter, check_hint, cluster, node, pod,
    };
    use plimsoll_framework::{
        Actions, Change, ClusterEvent, CycleState, EventResource, Hint, PreFilterOutcome,
    };
    use serde_json::{Value, json};

    use super::spec;

    const USERS: &str = "UserNamespacesHostNetworkSupport";
    const RESTART: &str = "RestartAllContainersOnContainerExits";

    /// A pod with users of its own on the node's network.
    fn picky() -> PodBuilder {
        pod("a").merge(json!({"spec": {"hostNetwork": true, "hostUsers": false}}))
    }

    fn declaring(name: &str, features: &[&str]) -> NodeBuilder {
        node(name).merge(json!({"status": {"declaredFeatures": features}}))
    }

    #[test]
    fn a_pod_that_needs_nothing_is_not_judged() {
        let scene = cluster([node("n1")]).scene(&pod("a"));
        let trial = Trial::new(&spec(), &Value::Null);
        let outcome = trial.pre_filter(&scene.cycle(), &mut CycleState::new());
        assert_eq!(outcome, Ok(PreFilterOutcome::Skip));
    }

    #[test]
    fn a_node_must_declare_everything_that_the_pod_needs() {
        let cluster = cluster([
            node("plain"),
            declaring("one", &[USERS]),
            declaring("other", &[RESTART, "SomethingNew"]),
            declaring("both", &[RESTART, USERS]),
        ]);
        let judge = |pod: &PodBuilder| check_filter(&spec(), &Value::Null, &cluster, pod);
        let lacks = |name: &str| {
            format!(
                "{name}: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features"
            )
        };
        assert_eq!(
            judge(&picky()),
            [
                lacks("plain"),
                "one: Pass".to_owned(),
                lacks("other"),
                "both: Pass".to_owned()
            ]
        );
        let rules = json!([{"action": "RestartAllContainers"}]);
        let container = json!({"name": "main", "restartPolicyRules": rules});
        let both = picky().merge(json!({"spec": {"containers": [container]}}));
        assert_eq!(
            judge(&both),
            [
                lacks("plain"),
                lacks("one"),
                lacks("other"),
                "both: Pass".to_owned()
            ]
        );
    }

    #[test]
    fn a_node_that_declares_something_else_wakes_the_pod() {
        let (before, after) = (node("n1").build(), declaring("n1", &[USERS]).build());
        let hint = |old, new, actions| {
            let event = ClusterEvent::new(EventResource::Node, actions);
            let change = Change::Node { old, new };
            check_hint(&spec(), &Value::Null, &picky(), event, &change)
        };
        let declared = Actions::UPDATE_NODE_DECLARED_FEATURE;
        assert_eq!(
            hint(Some(&before), Some(&after), declared),
            Some(Hint::Queue)
        );
        assert_eq!(
            hint(Some(&before), Some(&before), declared),
            Some(Hint::Skip)
        );
        assert_eq!(hint(None, Some(&before), Actions::ADD), Some(Hint::Queue));
        assert_eq!(
            hint(Some(&before), Some(&after), Actions::UPDATE_NODE_LABEL),
            None
        );
    }

    #[test]
    fn its_own_change_wakes_the_pod_if_it_needs_something_else() {
        let (needy, plain) = (picky().build(), pod("a").build());
        let hint = |old, new| {
            let event = ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE);
            let change = Change::Pod {
                old: Some(old),
                new: Some(new),
            };
            check_hint(&spec(), &Value::Null, &picky(), event, &change)
        };
        assert_eq!(hint(&needy, &plain), Some(Hint::Queue));
        assert_eq!(hint(&needy, &needy), Some(Hint::Skip));
    }
}
