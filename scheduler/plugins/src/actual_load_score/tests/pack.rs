//! The strategy `pack`, and load that is not judged.

use plimsoll_framework::LoadMode;
use plimsoll_framework::LoadResource::Cpu;
use plimsoll_framework::test_util::{Trial, check_args, check_score, cluster, load, node, pod};
use plimsoll_framework::{CycleState, NodeId};
use proptest::prelude::{prop, prop_assert, proptest};
use serde_json::{Value, json};

use super::{half_requested, spec};

fn pack(target: f64, weight: f64) -> Value {
    json!({"strategy": "pack", "packTarget": target, "loadWeight": weight})
}

/// The scores of nodes of 100 cpus that carry so many, for a pod that adds nothing.
fn load_a1(target: f64) -> Vec<i64> {
    let cores = [1, 5, 25, 50, 99, 20, 101];
    let name = |cores: u32| format!("n{cores}");
    let nodes = cores.map(|cores| node(&name(cores)).cpu("100"));
    let rows = cores.map(|cores| load(&name(cores)).cpu(&cores.to_string()));
    let scene = cluster(nodes).load(rows).scene(&pod("a"));
    let trial = Trial::new(&spec(), &pack(target, 1.0));
    let ids: Vec<NodeId> = scene.snapshot.order().to_vec();
    let rows = trial.scores(&scene.cycle(), &mut CycleState::new(), &ids);
    let rows = rows.expect("no failure").expect("no skip");
    rows.iter().map(|row| row.normalised).collect()
}

#[test]
fn load_a1_packing_does_not_invert_the_order_whatever_the_target() {
    // a 1, b 5, c 25, d 50, e 99, edge 20, over 101.
    assert_eq!(load_a1(0.20), [24, 40, 19, 13, 0, 100, 0]);
    assert_eq!(load_a1(0.50), [51, 55, 75, 100, 1, 70, 0]);
    assert_eq!(load_a1(0.70), [70, 72, 81, 91, 2, 79, 0]);
}

#[test]
fn load_a1_targets_that_leave_no_room_on_one_side_are_refused() {
    for target in [json!(0), json!(1), json!(-1), json!(101), json!("0.5")] {
        let args = json!({"strategy": "pack", "packTarget": target});
        assert!(check_args(&spec(), &args).is_err(), "{target}");
    }
}

#[test]
fn the_defaults_of_packing_are_filled_in() {
    let args = check_args(&spec(), &json!({"strategy": "pack"})).expect("right args");
    assert_eq!(args["packTarget"], json!(0.6));
    assert_eq!((args.get("spanFloor"), args.get("tieBand")), (None, None));
    assert_eq!(check_args(&spec(), &args), Ok(args.clone()));
}

#[test]
fn a_field_of_the_other_strategy_is_a_mistake() {
    let args = json!({"strategy": "pack", "spanFloor": 0.1, "tieBand": 0.1});
    let expected = [
        "args.spanFloor: counts with strategy `spread` only",
        "args.tieBand: counts with strategy `spread` only",
    ];
    assert_eq!(
        check_args(&spec(), &args),
        Err(expected.map(str::to_owned).to_vec())
    );
    let problem = "args.packTarget: counts with strategy `pack` only";
    assert_eq!(
        check_args(&spec(), &json!({"packTarget": 0.5})),
        Err(vec![problem.to_owned()])
    );
}

#[test]
fn requests_fill_the_fuller_of_two_nodes_with_the_same_load() {
    let rows = [load("n1").share(Cpu, 0.3), load("n2").share(Cpu, 0.3)];
    let cluster = half_requested().load(rows);
    let asks = pod("a").cpu("1").memory("4Gi");
    let asks = asks.estimate_cpu("0").estimate_memory("0");
    // Load 80 each, of which 0.7 count; requests 75 and 25.
    assert_eq!(
        check_score(&spec(), &pack(0.6, 0.7), &cluster, &asks),
        ["n1: 79 -> 79", "n2: 64 -> 64"]
    );
}

#[test]
fn requests_alone_decide_while_load_is_off_and_rows_do_in_a_brown_out() {
    let asks = pod("a").cpu("1").memory("4Gi");
    let off = half_requested().load_mode(LoadMode::Off);
    assert_eq!(
        check_score(&spec(), &Value::Null, &off, &asks),
        ["n1: 25 -> 25", "n2: 75 -> 75"]
    );
    assert_eq!(
        check_score(&spec(), &pack(0.6, 0.7), &off, &asks),
        ["n1: 75 -> 75", "n2: 25 -> 25"]
    );
    let rows = [load("n1").share(Cpu, 0.1), load("n2").share(Cpu, 0.9)];
    let dim = half_requested().load(rows).load_mode(LoadMode::BrownOut);
    let live = dim.clone().load_mode(LoadMode::Live);
    let scores = |cluster| check_score(&spec(), &Value::Null, cluster, &asks);
    assert_eq!(scores(&dim), scores(&live));
}

proptest! {
    #[test]
    fn no_node_over_the_target_beats_one_that_is_not_whatever_they_request(
        nodes in prop::collection::vec((0.0..1.2_f64, 0..4_u32), 2..6),
        target in 0.05..0.95_f64, weight in 0.1..=1.0_f64,
    ) {
        let name = |index: usize| format!("n{index}");
        let made = (0..nodes.len()).map(|index| node(&name(index)));
        let rows = nodes.iter().enumerate().map(|(index, (share, _))| load(&name(index)).share(Cpu, *share));
        let placed = nodes.iter().enumerate().map(|(index, (_, cpus))| {
            pod(&format!("p{index}")).cpu(&cpus.to_string()).on(&name(index))
        });
        let scene = cluster(made).pods(placed).load(rows).scene(&pod("a"));
        let trial = Trial::new(&spec(), &pack(target, weight));
        let ids: Vec<NodeId> = scene.snapshot.order().to_vec();
        let scored = trial.scores(&scene.cycle(), &mut CycleState::new(), &ids);
        let scored = scored.expect("no failure").expect("no skip");
        let at_most = |over: bool| {
            let rows = scored.iter().zip(&nodes).filter(move |(_, (share, _))| (*share > target) == over);
            rows.map(|(row, _)| row.normalised)
        };
        let (worst, best) = (at_most(false).min(), at_most(true).max());
        if let (Some(worst), Some(best)) = (worst, best) {
            prop_assert!(worst >= best, "{worst} {best}");
        }
    }
}
