//! The three strategies, and that no quantity upsets them.

use plimsoll_framework::test_util::{Cluster, PodBuilder, Trial, check_score, cluster, node, pod};
use plimsoll_framework::{CycleState, NodeId};
use proptest::prelude::{Strategy, prop_assert, prop_oneof, proptest};
use serde_json::{Value, json};

use crate::node_resources_fit::spec;

fn strategy(kind: &str, resources: &Value) -> Value {
    let mut strategy = json!({"type": kind, "resources": resources});
    if kind == "RequestedToCapacityRatio" {
        let points = json!([{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]);
        strategy["requestedToCapacityRatio"] = json!({"shape": points});
    }
    json!({"scoringStrategy": strategy})
}

/// A node of 4 cpus and 8 GiB of which 1 cpu and 6 GiB are requested, and an empty one of
/// 8 cpus and 8 GiB.
fn two_nodes() -> Cluster {
    let nodes = [
        node("used").memory("8Gi"),
        node("empty").cpu("8").memory("8Gi"),
    ];
    cluster(nodes).pods([pod("p").cpu("1").memory("6Gi").on("used")])
}

fn scores(args: &Value, pod: &PodBuilder) -> Vec<String> {
    check_score(&spec(), args, &two_nodes(), pod)
}

#[test]
fn the_default_prefers_the_emptier_node() {
    let asks = pod("a").cpu("1").memory("1Gi");
    // used: cpu (4 - 2) / 4 = 50, memory (8 - 7) / 8 = 12; empty: 87 and 87.
    let expected = ["used: 31 -> 31", "empty: 87 -> 87"];
    assert_eq!(scores(&Value::Null, &asks), expected);
    let explicit = strategy(
        "LeastAllocated",
        &json!([{"name": "cpu"}, {"name": "memory"}]),
    );
    assert_eq!(scores(&explicit, &asks), expected);
}

#[test]
fn most_allocated_prefers_the_fuller_node() {
    let args = strategy("MostAllocated", &json!([]));
    let asks = pod("a").cpu("1").memory("1Gi");
    assert_eq!(scores(&args, &asks), ["used: 68 -> 68", "empty: 12 -> 12"]);
}

#[test]
fn weights_count() {
    let resources = json!([{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]);
    let args = strategy("LeastAllocated", &resources);
    let asks = pod("a").cpu("1").memory("1Gi");
    // (50 * 3 + 12) / 4.
    assert_eq!(scores(&args, &asks), ["used: 40 -> 40", "empty: 87 -> 87"]);
}

#[test]
fn the_ratio_leaves_out_what_scores_nothing_and_rounds() {
    let args = strategy("RequestedToCapacityRatio", &json!([]));
    // used: cpu 50, memory 87 -> 68.5 -> 69; empty: 12 and 12.
    let asks = pod("a").cpu("1").memory("1Gi");
    assert_eq!(scores(&args, &asks), ["used: 69 -> 69", "empty: 12 -> 12"]);
    // empty: cpu 10m of 8000m is 0 and is left out; memory 1 of 8 GiB is 12.
    let little = pod("a").cpu("10m").memory("1Gi");
    assert_eq!(
        scores(&args, &little),
        ["used: 56 -> 56", "empty: 12 -> 12"]
    );
}

#[test]
fn a_pod_without_requests_is_scored_with_defaults() {
    // used: cpu (4000 - 1100) / 4000 = 72, memory (8 - 6 - 0.2) / 8 = 22.
    assert_eq!(
        scores(&Value::Null, &pod("a")),
        ["used: 47 -> 47", "empty: 97 -> 97"]
    );
}

#[test]
fn scores_do_not_see_requests_at_the_level_of_the_pod() {
    // kube-scheduler's example: 4 cpus on an empty node of 8 give 96, not 47.
    let empty = cluster([node("n1").cpu("8").memory("4Gi")]);
    let asks = pod("a").pod_level("cpu", "4");
    assert_eq!(
        check_score(&spec(), &Value::Null, &empty, &asks),
        ["n1: 96 -> 96"]
    );
}

#[test]
fn scores_do_not_see_huge_pages_requested_at_the_level_of_the_pod() {
    let pages = "hugepages-2Mi";
    let nodes = cluster([node("n1").resource(pages, "8Mi")]);
    let args = strategy("MostAllocated", &json!([{"name": pages, "weight": 1}]));
    let by_container = pod("a").request(pages, "4Mi");
    assert_eq!(
        check_score(&spec(), &args, &nodes, &by_container),
        ["n1: 50 -> 50"]
    );
    let by_pod = pod("a").pod_level(pages, "4Mi");
    assert_eq!(check_score(&spec(), &args, &nodes, &by_pod), ["n1: 0 -> 0"]);
}

#[test]
fn a_scalar_counts_only_for_pods_that_ask_for_it() {
    let nodes = cluster([node("n1").resource("example.com/gpu", "4"), node("n2")]);
    let args = strategy(
        "MostAllocated",
        &json!([{"name": "example.com/gpu", "weight": 1}]),
    );
    let asks = pod("a").request("example.com/gpu", "1");
    assert_eq!(check_score(&spec(), &args, &nodes, &asks), ["n1: 25 -> 25"]);
    let not = check_score(&spec(), &args, &nodes, &pod("a"));
    assert_eq!(not, ["n1: 0 -> 0", "n2: 0 -> 0"]);
}

fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![0..10_000_i64, 0..1_i64 << 45, i64::MAX - 3..=i64::MAX]
}

proptest! {
    #[test]
    fn every_score_lies_in_range_whatever_the_quantities(
        node_cpu in amount(), node_memory in amount(), placed in amount(), asked in amount(),
        kind in 0..3_usize,
    ) {
        let node = node("n1").cpu(&format!("{node_cpu}m")).memory(&node_memory.to_string());
        let amounts = |name| pod(name).cpu(&format!("{placed}m")).memory(&placed.to_string());
        let asks = pod("a").cpu(&format!("{asked}m")).memory(&asked.to_string());
        let placed = [amounts("p1").on("n1"), amounts("p2").on("n1")];
        let kind = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"][kind];
        let trial = Trial::new(&spec(), &strategy(kind, &json!([])));
        let scene = cluster([node]).pods(placed).scene(&asks);
        let scored = trial.scores(&scene.cycle(), &mut CycleState::new(), &[NodeId(0)]);
        prop_assert!(scored.is_ok_and(|rows| rows.is_some()));
        let verdict = trial.filter(&scene.cycle(), &CycleState::new(), scene.node("n1"));
        prop_assert!(verdict.is_ok() || asked > 0);
    }
}
