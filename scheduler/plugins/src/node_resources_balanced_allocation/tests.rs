//! Tables from the contract (kube-scheduler.md 2.16): scores, skip, args.

use plimsoll_framework::test_util::{Trial, check_args, check_score, cluster, node, pod};
use plimsoll_framework::{CycleState, NodeId};
use proptest::prelude::{prop_assert, proptest};
use serde_json::{Value, json};

use super::spec;

const GPU: &str = "example.com/gpu";

#[test]
fn the_node_that_gets_more_even_scores_higher() {
    let nodes = [
        node("cpu-heavy").memory("4Gi"),
        node("memory-heavy").memory("4Gi"),
    ];
    let placed = [
        pod("p1").cpu("2").on("cpu-heavy"),
        pod("p2").memory("2Gi").on("memory-heavy"),
    ];
    let cluster = cluster(nodes).pods(placed);
    // cpu-heavy: 50 % and 0 % (evenness 75) become 50 % and 25 % (87): 50 + (50 + 12) / 2.
    // memory-heavy: 0 % and 50 % (75) become 0 % and 75 % (62): 50 + (50 - 13) / 2.
    let scores = check_score(&spec(), &Value::Null, &cluster, &pod("a").memory("1Gi"));
    assert_eq!(scores, ["cpu-heavy: 81 -> 81", "memory-heavy: 68 -> 68"]);
}

#[test]
fn containers_without_requests_count_nothing_here() {
    // With defaults the placed pod would take 100m and 200 MiB.
    let cluster = cluster([node("n1").memory("4Gi")]).pods([pod("p").on("n1")]);
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &pod("a").cpu("2").memory("2Gi"),
    );
    assert_eq!(scores, ["n1: 75 -> 75"]);
}

#[test]
fn requests_at_the_level_of_the_pod_count() {
    let cluster = cluster([node("n1").memory("4Gi")]);
    // 50 % of cpu: evenness 75 against 100, so 50 + (50 - 25) / 2.
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &pod("a").pod_level("cpu", "2"),
    );
    assert_eq!(scores, ["n1: 62 -> 62"]);
}

#[test]
fn a_resize_that_the_status_of_the_pod_reports_counts() {
    let cluster = cluster([node("n1").memory("4Gi")]);
    let status = json!({"containerStatuses": [{
        "name": "main", "allocatedResources": {"cpu": "2"},
    }]});
    let resized = pod("a").merge(json!({"status": status}));
    let scores = check_score(&spec(), &Value::Null, &cluster, &resized);
    assert_eq!(scores, ["n1: 62 -> 62"]);
}

#[test]
fn a_pod_that_asks_for_none_of_the_resources_is_not_scored() {
    let cluster = cluster([node("n1").resource(GPU, "4"), node("n2")]);
    let gpus_only = json!({"resources": [{"name": GPU}]});
    let skip = ["PreScore: Skip"];
    assert_eq!(
        check_score(&spec(), &Value::Null, &cluster, &pod("a")),
        skip
    );
    assert_eq!(
        check_score(&spec(), &Value::Null, &cluster, &pod("a").request(GPU, "1")),
        skip
    );
    assert_eq!(
        check_score(&spec(), &gpus_only, &cluster, &pod("a").cpu("1")),
        skip
    );
    assert_ne!(
        check_score(&spec(), &Value::Null, &cluster, &pod("a").cpu("1")),
        skip
    );
}

#[test]
fn a_scalar_that_the_node_has_not_is_left_out() {
    let cluster = cluster([
        node("gpus").memory("4Gi").resource(GPU, "4"),
        node("none").memory("4Gi"),
    ]);
    let args = json!({"resources": [{"name": "cpu"}, {"name": "memory"}, {"name": GPU}]});
    let asks = pod("a").cpu("2").memory("2Gi").request(GPU, "4");
    // gpus: shares 0.5, 0.5, 1: deviation 0.2357, evenness 76 against 100.
    let scores = check_score(&spec(), &args, &cluster, &asks);
    assert_eq!(scores, ["gpus: 63 -> 63", "none: 75 -> 75"]);
}

#[test]
fn the_defaults_and_rules_of_the_args_are_those_of_kube_scheduler() {
    let entry = |name: &str| json!({"name": name, "weight": 1});
    let defaults = json!({"resources": [entry("cpu"), entry("memory")]});
    assert_eq!(check_args(&spec(), &Value::Null), Ok(defaults));
    let args = json!({"resources": [
        {"name": "cpu"}, {"name": "memory", "weight": 2}, {"name": "cpu", "weight": 1},
        {"name": "no name check", "weight": 1},
    ], "typo": 1});
    assert_eq!(
        check_args(&spec(), &args),
        Err(vec![
            "args.resources[1].weight: Invalid value: 2: must be 1".to_owned(),
            "args.resources[2].name: Duplicate value: \"cpu\"".to_owned(),
            "args.typo: unknown field".to_owned(),
        ])
    );
}

proptest! {
    #[test]
    fn every_score_lies_between_fifty_and_a_hundred(
        cpu: u32, memory: u64, placed: u64, asked_cpu: u32, asked_memory: u64,
    ) {
        let node = node("n1").cpu(&cpu.to_string()).memory(&memory.to_string());
        let placed = pod("p").cpu(&asked_cpu.to_string()).memory(&placed.to_string()).on("n1");
        let asks = pod("a").cpu(&asked_cpu.to_string()).memory(&asked_memory.to_string());
        let scene = cluster([node]).pods([placed]).scene(&asks);
        let trial = Trial::new(&spec(), &Value::Null);
        let scored = trial.scores(&scene.cycle(), &mut CycleState::new(), &[NodeId(0)]);
        let rows = scored.expect("scoring never fails").unwrap_or_default();
        prop_assert!(rows.iter().all(|row| (50..=100).contains(&row.normalised)), "{rows:?}");
    }
}
