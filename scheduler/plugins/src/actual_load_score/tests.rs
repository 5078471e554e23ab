//! The plugin as the engine runs it: measured load decides, requests break ties, and what
//! is unknown is neither empty nor full.

mod pack;

use plimsoll_framework::LoadResource::{Cpu, Memory, Rx};
use plimsoll_framework::test_util::{
    Cluster, Trial, check_args, check_score, cluster, load, node, pod,
};
use plimsoll_framework::{CycleState, NodeId};
use proptest::prelude::{any, prop_assert, proptest};
use serde_json::{Value, json};

use super::spec;

#[test]
fn load_a4_work_that_kubernetes_cannot_see_decides() {
    // Three nodes with the same requests; two are busy with plain processes.
    let names = ["n1", "n2", "n3"];
    let placed = names.map(|name| pod(&format!("on-{name}")).cpu("500m").on(name));
    let shares = [("n1", 0.95), ("n2", 0.95), ("n3", 0.05)];
    let rows = shares.map(|(name, share)| load(name).share(Cpu, share));
    let cluster = cluster(names.map(|name| node(name).cpu("4")))
        .pods(placed)
        .load(rows);
    let asks = pod("a").cpu("3");
    // Requests: cpu 12, memory 97, so 54, of which 0.3 count.
    assert_eq!(
        check_score(&spec(), &Value::Null, &cluster, &asks),
        ["n1: 16 -> 16", "n2: 16 -> 16", "n3: 86 -> 86"]
    );
    // By requests alone, as the stock scheduler judges, the three are the same.
    assert_eq!(
        check_score(&spec(), &json!({"loadWeight": 0}), &cluster, &asks),
        ["n1: 54 -> 54", "n2: 54 -> 54", "n3: 54 -> 54"]
    );
}

/// Two nodes of 4 cpus and 16 GiB; on `n1` half of both is requested.
fn half_requested() -> Cluster {
    let placed = pod("p").cpu("2").memory("8Gi").on("n1");
    cluster([node("n1"), node("n2")]).pods([placed])
}

#[test]
fn requests_decide_between_nodes_of_the_same_load() {
    let rows = [load("n1").share(Cpu, 0.50), load("n2").share(Cpu, 0.51)];
    let cluster = half_requested().load(rows);
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &pod("a").cpu("1").memory("4Gi"),
    );
    // 0.51 lies within the tie band; requests give 25 and 75, at 0.3.
    assert_eq!(scores, ["n1: 11 -> 11", "n2: 26 -> 26"]);
}

#[test]
fn requests_alone_decide_where_nothing_was_measured() {
    let scores = check_score(
        &spec(),
        &Value::Null,
        &half_requested(),
        &pod("a").cpu("1").memory("4Gi"),
    );
    assert_eq!(scores, ["n1: 25 -> 25", "n2: 75 -> 75"]);
}

#[test]
fn an_unknown_node_is_taken_for_the_median_of_the_others() {
    let nodes = ["idle", "middle", "busy", "unknown"].map(node);
    let rows = [("idle", 0.1), ("middle", 0.5), ("busy", 0.9)];
    let rows = rows.map(|(name, share)| load(name).share(Cpu, share));
    let cluster = cluster(nodes).load(rows);
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &pod("a").cpu("1").memory("4Gi"),
    );
    let expected = [
        "idle: 93 -> 93",
        "middle: 58 -> 58",
        "busy: 23 -> 23",
        "unknown: 58 -> 58",
    ];
    assert_eq!(scores, expected);
}

#[test]
fn what_is_in_flight_counts_like_what_is_measured() {
    let rows = [load("n1").cpu("1"), load("n2").cpu("1").in_flight_cpu("2")];
    let cluster = cluster([node("n1"), node("n2")]).load(rows);
    let args = json!({"loadWeight": 1});
    let scores = check_score(&spec(), &args, &cluster, &pod("a"));
    assert_eq!(scores, ["n1: 100 -> 100", "n2: 0 -> 0"]);
}

#[test]
fn a_resource_that_is_not_named_does_not_count() {
    let rows = [
        load("n1").share(Cpu, 0.9).share(Memory, 0.1),
        load("n2").share(Cpu, 0.1).share(Memory, 0.9),
    ];
    let cluster = cluster([node("n1"), node("n2")]).load(rows);
    let by = |resources: Value| {
        let args = json!({"loadWeight": 1, "resources": resources});
        check_score(&spec(), &args, &cluster, &pod("a"))
    };
    assert_eq!(
        by(json!([{"name": "cpu"}])),
        ["n1: 0 -> 0", "n2: 100 -> 100"]
    );
    assert_eq!(
        by(json!([{"name": "cpu", "weight": 0}, {"name": "memory"}])),
        ["n1: 100 -> 100", "n2: 0 -> 0"]
    );
}

#[test]
fn a_saturated_link_counts_where_its_speed_is_known() {
    let nodes = [
        node("n1").link_speed("10G"),
        node("n2").link_speed("10G"),
        node("n3"),
    ];
    let rows = [
        load("n1").share(Cpu, 0.3).share(Rx, 0.9),
        load("n2").share(Cpu, 0.3).share(Rx, 0.1),
        load("n3").share(Cpu, 0.3).rx("9G"),
    ];
    let cluster = cluster(nodes).load(rows);
    let scores = check_score(&spec(), &json!({"loadWeight": 1}), &cluster, &pod("a"));
    // n3: as loaded in its unknown link as in its cpu.
    assert_eq!(scores, ["n1: 0 -> 0", "n2: 100 -> 100", "n3: 91 -> 91"]);
}

#[test]
fn the_defaults_are_filled_in() {
    let entry = |name: &str| json!({"name": name, "weight": 1});
    let defaults = json!({
        "loadWeight": 0.7, "strategy": "spread", "spanFloor": 0.2, "tieBand": 0.02,
        "resources": [entry("cpu"), entry("memory"), entry("network")],
    });
    assert_eq!(check_args(&spec(), &Value::Null), Ok(defaults));
}

#[test]
fn every_mistake_in_the_args_is_found() {
    let args = json!({
        "loadWeight": 1.5, "strategy": "fill", "spanFloor": 0, "tieBand": -0.1, "load": 1,
        "resources": [{"name": "disk"}, {"name": "cpu", "weight": 101}, {"name": "cpu"}],
    });
    let expected = [
        "args.loadWeight: must be from 0 to 1, is 1.5",
        "args.resources[0].name: `disk` is not one of cpu, memory, network",
        "args.resources[1].weight: must be from 0 to 100, is 101",
        "args.resources[2].name: `cpu` is named twice",
        "args.strategy: `fill` is no strategy: use `spread` or `pack`",
        "args.spanFloor: must be above 0 and at most 1, is 0",
        "args.tieBand: must be from 0 to 1, is -0.1",
        "args.load: unknown field",
    ];
    assert_eq!(
        check_args(&spec(), &args),
        Err(expected.map(str::to_owned).to_vec())
    );
}

#[test]
fn load_cannot_count_with_all_weights_zero() {
    let resources = json!([{"name": "cpu", "weight": 0}]);
    let problem = "args.resources: must have a weight above 0; to judge by requests alone, set \
                   loadWeight to 0";
    let args = json!({"resources": resources});
    assert_eq!(check_args(&spec(), &args), Err(vec![problem.to_owned()]));
    let off = json!({"resources": resources, "loadWeight": 0});
    assert!(check_args(&spec(), &off).is_ok());
}

#[test]
fn a_node_that_was_not_prepared_is_an_error_not_a_zero() {
    let scene = half_requested().scene(&pod("a"));
    let trial = Trial::new(&spec(), &Value::Null);
    let hook = trial.hooks.score.as_ref().expect("it scores");
    let answer = hook.score(&scene.cycle(), &CycleState::new(), scene.node("n1"));
    let rejection = answer.expect_err("PreScore did not run");
    assert_eq!(
        rejection.message(),
        "no load score was prepared for node n1"
    );
}

proptest! {
    #[test]
    fn every_score_lies_in_range_whatever_the_figures(
        shares in proptest::collection::vec(any::<Option<f64>>(), 1..5),
        asked in any::<i64>(), weight in 0.0..=1.0_f64,
    ) {
        let named = |index: usize| format!("n{index}");
        let nodes = (0..shares.len()).map(|index| node(&named(index)));
        let rows = shares.iter().enumerate().filter_map(|(index, share)| {
            share.map(|share| load(&named(index)).share(Cpu, share))
        });
        let asks = pod("a").cpu(&format!("{}m", asked.unsigned_abs() / 2));
        let scene = cluster(nodes).load(rows).scene(&asks);
        let trial = Trial::new(&spec(), &json!({"loadWeight": weight}));
        let ids: Vec<NodeId> = scene.snapshot.order().to_vec();
        let scored = trial.scores(&scene.cycle(), &mut CycleState::new(), &ids);
        prop_assert!(scored.is_ok_and(|rows| rows.is_some_and(|rows| rows.len() == ids.len())));
    }
}
