//! What taints forbid, what they cost, and what wakes a pod that they keep away.

use plimsoll_framework::test_util::{
    NodeBuilder, check_filter, check_hint, check_score, cluster, node, pod,
};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::TaintEffect::{NoExecute, NoSchedule, PreferNoSchedule};
use serde_json::Value;

use super::spec;

const REJECTED: &str = "n1: UnschedulableAndUnresolvable: node(s) had untolerated taint(s)";

#[test]
fn taints_that_forbid_must_all_be_tolerated() {
    let bare = || node("n1");
    let one = || node("n1").taint("k", "v", NoSchedule);
    let two = || one().taint("k2", "", NoExecute);
    let soft = || node("n1").taint("k", "v", PreferNoSchedule);
    let cases = [
        (bare(), pod("a"), "n1: Pass"),
        (one(), pod("a"), REJECTED),
        (one(), pod("a").toleration("k", "v", NoSchedule), "n1: Pass"),
        (one(), pod("a").toleration("k", "w", NoSchedule), REJECTED),
        (one(), pod("a").toleration("k", "v", NoExecute), REJECTED),
        (one(), pod("a").tolerates_any("k"), "n1: Pass"),
        (one(), pod("a").tolerates_any("k2"), REJECTED),
        (two(), pod("a").tolerates_any("k"), REJECTED),
        (
            two(),
            pod("a").tolerates_any("k").tolerates_any("k2"),
            "n1: Pass",
        ),
        (two(), pod("a").tolerates_any(""), "n1: Pass"),
        (soft(), pod("a"), "n1: Pass"),
    ];
    for (node, pod, verdict) in cases {
        let cluster = cluster([node.clone()]);
        let verdicts = check_filter(&spec(), &Value::Null, &cluster, &pod);
        assert_eq!(verdicts, [verdict], "{} {}", node.json(), pod.json());
    }
}

fn soft_taints(name: &str, count: usize) -> NodeBuilder {
    let add = |node: NodeBuilder, index| node.taint(&format!("k{index}"), "", PreferNoSchedule);
    (0..count).fold(node(name), add)
}

#[test]
fn each_soft_taint_that_is_not_tolerated_costs() {
    let cluster = cluster([
        soft_taints("n0", 0),
        soft_taints("n1", 1),
        soft_taints("n3", 3),
    ]);
    let cases = [
        (pod("a"), ["n0: 0 -> 100", "n1: 1 -> 67", "n3: 3 -> 0"]),
        (
            pod("a").tolerates_any("k0"),
            ["n0: 0 -> 100", "n1: 0 -> 100", "n3: 2 -> 0"],
        ),
        (
            pod("a").tolerates_any(""),
            ["n0: 0 -> 100", "n1: 0 -> 100", "n3: 0 -> 100"],
        ),
        // A toleration of another effect does not count for soft taints.
        (
            pod("a").toleration("k0", "", NoSchedule),
            ["n0: 0 -> 100", "n1: 1 -> 67", "n3: 3 -> 0"],
        ),
    ];
    for (pod, scores) in cases {
        assert_eq!(
            check_score(&spec(), &Value::Null, &cluster, &pod),
            scores,
            "{}",
            pod.json()
        );
    }
}

#[test]
fn taints_that_forbid_cost_nothing_once_tolerated() {
    let cluster = cluster([node("n1").taint("k", "v", NoSchedule), node("n2")]);
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &pod("a").tolerates_any("k"),
    );
    assert_eq!(scores, ["n1: 0 -> 100", "n2: 0 -> 100"]);
}

#[test]
fn a_node_wakes_the_pod_when_it_becomes_tolerated() {
    let bare = node("n1").build();
    let tainted = node("n1").taint("k", "v", NoSchedule).build();
    let soft = node("n1").taint("k", "v", PreferNoSchedule).build();
    let hint = |old, new| {
        let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_TAINT);
        let change = Change::Node { old, new };
        check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
    };
    assert_eq!(hint(None, Some(&bare)), Some(Hint::Queue));
    assert_eq!(hint(None, Some(&tainted)), Some(Hint::Skip));
    assert_eq!(hint(Some(&tainted), Some(&bare)), Some(Hint::Queue));
    assert_eq!(hint(Some(&tainted), Some(&soft)), Some(Hint::Queue));
    assert_eq!(hint(Some(&bare), Some(&bare)), Some(Hint::Skip));
    assert_eq!(hint(Some(&bare), Some(&tainted)), Some(Hint::Skip));
}

#[test]
fn its_own_tolerations_wake_the_pod() {
    let event = ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_TOLERATION);
    let hint = |name| {
        let new = pod(name).build();
        let change = Change::Pod {
            old: None,
            new: Some(&new),
        };
        check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
    };
    assert_eq!(hint("a"), Some(Hint::Queue));
    assert_eq!(hint("b"), Some(Hint::Skip));
}
