//! Lines, modes, statistics, silence, exemptions.

use std::time::Duration;

use plimsoll_framework::LoadMode;
use plimsoll_framework::LoadResource::{Cpu, Memory, Rx, Tx};
use plimsoll_framework::test_util::{Cluster, LoadBuilder, Trial, cluster, load, node, pod};
use plimsoll_framework::{CycleState, FilterOutcome};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{plain, spec, verdicts};

fn one(row: LoadBuilder) -> Cluster {
    cluster([node("n1").link_speed("10G")]).load([row])
}

#[test]
fn a_node_at_its_line_passes_and_one_above_it_does_not() {
    let args = json!({"mode": "hard"});
    let verdict = |share| {
        plain(
            &args,
            &one(load("n1").share(Cpu, share)),
            &pod("a").cpu("1"),
        )
    };
    assert_eq!(verdict(0.60), ["n1: Pass"]);
    assert_eq!(
        verdict(0.6001),
        ["n1: Unschedulable: node(s) over cpu load 0.85"]
    );
}

#[test]
fn every_line_that_is_crossed_is_named_and_the_furthest_has_the_figures() {
    let row = load("n1")
        .share(Cpu, 0.88)
        .share(Memory, 0.99)
        .share(Rx, 0.2)
        .share(Tx, 0.86);
    assert_eq!(
        verdicts(&json!({"mode": "hard"}), &one(row.clone()), &pod("a")),
        [
            "n1: Unschedulable: node(s) over cpu load 0.85, node(s) over memory load 0.9, \
             node(s) over network load 0.85 \
             (memory 0.99 with the pod: measured 0.99, sample 1 s old)"
        ]
    );
    assert_eq!(
        verdicts(&Value::Null, &one(row), &pod("a")),
        ["n1: Soft 0.090: node(s) over memory load 0.9 \
             (memory 0.99 with the pod: measured 0.99, sample 1 s old)"]
    );
}

#[test]
fn what_is_in_flight_counts_and_is_shown() {
    let row = load("n1").share(Cpu, 0.80).in_flight_cpu("480m");
    assert_eq!(
        verdicts(&Value::Null, &one(row), &pod("a").cpu("200m")),
        ["n1: Soft 0.120: node(s) over cpu load 0.85 \
             (cpu 0.97 with the pod: measured 0.80, in flight 0.12, sample 1 s old)"]
    );
}

#[test]
fn the_busier_direction_of_the_network_is_judged_with_what_the_pod_declares() {
    let args = json!({"mode": "hard", "thresholds": {"network": 0.5}});
    let row = load("n1").rx("4G").tx("1G");
    let judged = |pod| verdicts(&args, &one(row.clone()), &pod);
    assert_eq!(judged(pod("a").egress("3G")), ["n1: Pass"]);
    assert_eq!(
        judged(pod("a").ingress("2G")),
        ["n1: Unschedulable: node(s) over network load 0.5 \
             (rx 0.60 with the pod: measured 0.40, sample 1 s old)"]
    );
}

#[test]
fn a_resource_that_is_not_measured_or_has_no_capacity_rejects_nobody() {
    let args = json!({"mode": "hard"});
    let expected = load("n1").share(Memory, 0.5).expected_cpu("4");
    assert_eq!(
        verdicts(&args, &one(expected), &pod("a").cpu("4")),
        ["n1: Pass"]
    );
    let no_speed = cluster([node("n1")]).load([load("n1").rx("9G")]);
    assert_eq!(verdicts(&args, &no_speed, &pod("a")), ["n1: Pass"]);
}

#[test]
fn a_resource_without_a_threshold_is_not_judged() {
    let args = json!({"mode": "hard", "thresholds": {"memory": 0.5}});
    let row = load("n1").share(Cpu, 1.0).share(Memory, 0.4);
    assert_eq!(verdicts(&args, &one(row), &pod("a")), ["n1: Pass"]);
}

#[test]
fn peaks_are_judged_where_they_are_asked_for_and_known() {
    let by = |statistic| json!({"mode": "hard", "statistic": statistic});
    let bursty = || one(load("n1").share(Cpu, 0.3).peak(Cpu, 0.95));
    assert_eq!(verdicts(&by("mean"), &bursty(), &pod("a")), ["n1: Pass"]);
    assert_eq!(
        plain(&by("p95"), &bursty(), &pod("a")),
        ["n1: Unschedulable: node(s) over cpu load 0.85"]
    );
    let young = one(load("n1").share(Cpu, 0.9));
    assert_eq!(
        plain(&by("p95"), &young, &pod("a")),
        ["n1: Unschedulable: node(s) over cpu load 0.85"]
    );
}

#[test]
fn a_sample_is_judged_up_to_its_last_moment() {
    let args = json!({"mode": "hard", "staleAfter": "1m"});
    let aged = |seconds| {
        load("n1")
            .share(Cpu, 0.9)
            .aged(Duration::from_secs(seconds), 0.9)
    };
    assert_eq!(
        plain(&args, &one(aged(60)), &pod("a")),
        ["n1: Unschedulable: node(s) over cpu load 0.85"]
    );
    assert_eq!(verdicts(&args, &one(aged(61)), &pod("a")), ["n1: Pass"]);
}

#[test]
fn a_sample_that_is_fresh_for_its_agents_period_is_never_too_old() {
    let args = json!({"mode": "hard", "stale": "refuse", "staleAfter": "10s"});
    let aged = |confidence| {
        let row = load("n1").share(Cpu, 0.5);
        one(row.aged(Duration::from_secs(25), confidence))
    };
    assert_eq!(verdicts(&args, &aged(1.0), &pod("a")), ["n1: Pass"]);
    assert_eq!(
        verdicts(&args, &aged(0.99), &pod("a")),
        ["n1: UnschedulableAndUnresolvable: node(s) without a fresh load sample (sample 25 s old)"]
    );
}

#[test]
fn silence_rejects_in_both_modes_where_it_is_refused() {
    for mode in ["soft", "hard"] {
        let args = json!({"mode": mode, "stale": "refuse"});
        assert_eq!(
            verdicts(&args, &cluster([node("n1")]), &pod("a")),
            ["n1: UnschedulableAndUnresolvable: node(s) without a fresh load sample (no sample)"]
        );
    }
}

#[test]
fn nobody_is_rejected_in_a_brown_out_or_while_load_is_off() {
    let args = json!({"mode": "hard", "stale": "refuse"});
    let both = cluster([node("hot"), node("silent")]).load([load("hot").share(Cpu, 1.0)]);
    for mode in [LoadMode::BrownOut, LoadMode::Off] {
        let cluster = both.clone().load_mode(mode);
        assert_eq!(
            verdicts(&args, &cluster, &pod("a")),
            ["hot: Pass", "silent: Pass"],
            "{mode:?}"
        );
    }
}

#[test]
fn daemons_pass_unless_they_are_to_be_judged() {
    let hot = one(load("n1").share(Cpu, 1.0));
    let daemon = pod("d").owner("DaemonSet", "logs");
    assert_eq!(
        verdicts(&json!({"mode": "hard"}), &hot, &daemon),
        ["n1: Pass"]
    );
    let judged = json!({"mode": "hard", "exemptDaemons": false});
    let over = ["n1: Unschedulable: node(s) over cpu load 0.85"];
    assert_eq!(plain(&judged, &hot, &daemon), over);
    let other = pod("r").owner("ReplicaSet", "web");
    assert_eq!(plain(&json!({"mode": "hard"}), &hot, &other), over);
}

proptest! {
    #[test]
    fn soft_and_hard_draw_the_same_lines_and_more_load_never_passes_where_less_fails(
        shares in (0.0..1.5_f64, 0.0..1.5_f64), asked in 0..6000_u32, threshold in 0.01..=1.0_f64,
    ) {
        let (low, high) = (shares.0.min(shares.1), shares.0.max(shares.1));
        let asks = pod("a").cpu(&format!("{asked}m"));
        let judge = |mode: &str, share| {
            let scene = one(load("n1").share(Cpu, share)).scene(&asks);
            let args = json!({"mode": mode, "thresholds": {"cpu": threshold}});
            let trial = Trial::new(&spec(), &args);
            trial.filter(&scene.cycle(), &CycleState::new(), scene.node("n1"))
        };
        let excess = |share| match judge("soft", share) {
            Ok(FilterOutcome::Soft { excess, .. }) => excess,
            Ok(FilterOutcome::Pass) | Err(_) => 0.0,
        };
        prop_assert!(excess(low) <= excess(high));
        for share in [low, high] {
            prop_assert_eq!(judge("hard", share).is_err(), excess(share) > 0.0);
        }
    }
}
