//! Brown-out and the switch: what rows say, what is counted.

use std::time::Duration;

use plimsoll_framework::{LoadMode, NodeId, NodeLoad};
use plimsoll_objects::{Taint, TaintEffect};

use crate::LoadCensus;
use crate::model::{LoadModel, OUT_TAINTS};
use crate::options::{AGE_STEP, LoadOptions, SILENCE_MARGIN};
use crate::world::{SECOND, at, node, pod, pod_sample, running, sample};

/// Nodes of 10 cores whose pods request `requested` millicores, each.
fn cluster(nodes: u32, requested: i64) -> LoadModel {
    let mut model = LoadModel::new(LoadOptions::default());
    for index in 0..nodes {
        model.node_set(NodeId(index), &node(&name(index), 10_000, 1 << 34));
        let pod = running(pod(&format!("pod-{index}"), requested));
        model.pod_set(NodeId(index), &pod, at(0));
    }
    refresh(&mut model, Duration::ZERO);
    model
}

/// What becomes of a node.
type Fate<'a> = &'a dyn Fn(u32, &mut LoadModel);

fn name(index: u32) -> String {
    format!("n{index}")
}

/// Samples of these nodes, each carrying `used`.
fn report(model: &mut LoadModel, nodes: std::ops::Range<u32>, now: Duration, used: f64) {
    for index in nodes {
        model.apply(&sample(&name(index), now, used));
    }
}

fn refresh(model: &mut LoadModel, now: Duration) -> Vec<(NodeId, NodeLoad)> {
    let mut told = Vec::new();
    model.refresh(now, &mut |id, row| told.push((id, *row)));
    told
}

/// A look a second before `now`, as a scheduler has it that was not away.
fn look_before(now: Duration, model: &mut LoadModel) {
    refresh(model, now.saturating_sub(SECOND));
}

fn falls(model: &mut LoadModel) -> Vec<u32> {
    let mut ids = Vec::new();
    model.take_falls(&mut ids);
    ids.iter().map(|id| id.0).collect()
}

fn cpu(model: &LoadModel, index: u32) -> f64 {
    model.row(NodeId(index)).cpu.used.unwrap()
}

#[test]
fn a_brown_out_judges_silent_nodes_by_scaled_expectation_without_a_floor() {
    let mut model = cluster(10, 4_000);
    report(&mut model, 0..10, 100 * SECOND, 1_000.0);
    refresh(&mut model, 100 * SECOND);
    assert_eq!(model.mode(), LoadMode::Live);
    let later = 1_000 * SECOND;
    look_before(later, &mut model);
    report(&mut model, 0..6, later, 1_000.0);
    refresh(&mut model, later);
    assert_eq!(model.mode(), LoadMode::BrownOut);
    assert_eq!(model.mode_since(), later);
    // Fresh nodes keep their measurement, and expectation as it is.
    let fresh = model.row(NodeId(0));
    assert_eq!(
        (fresh.cpu.used, fresh.cpu.expected),
        (Some(1_000.0), Some(4_000.0))
    );
    // Of what its pods request a fresh node carries a quarter; so do the silent.
    let silent = model.row(NodeId(9));
    assert!((silent.cpu.expected.unwrap() - 1_000.0).abs() < 1e-6);
    assert!((silent.cpu.used.unwrap() - 1_000.0).abs() < 1.0);
    assert!(silent.confidence < 0.06);
}

#[test]
fn out_of_a_brown_out_silence_is_judged_as_ever() {
    let mut model = cluster(10, 4_000);
    report(&mut model, 0..10, 100 * SECOND, 1_000.0);
    refresh(&mut model, 100 * SECOND);
    look_before(200 * SECOND, &mut model);
    report(&mut model, 0..6, 200 * SECOND, 1_000.0);
    refresh(&mut model, 200 * SECOND);
    assert_eq!(model.mode(), LoadMode::BrownOut);
    look_before(300 * SECOND, &mut model);
    report(&mut model, 0..9, 300 * SECOND, 1_000.0);
    refresh(&mut model, 300 * SECOND);
    assert_eq!(
        (model.mode(), model.mode_since()),
        (LoadMode::Live, 300 * SECOND)
    );
    let confidence = model.row(NodeId(9)).confidence;
    let floor = ((0.1 + SILENCE_MARGIN) * 10_000.0_f64).max(4_000.0);
    let used = confidence * 1_000.0 + (1.0 - confidence) * floor;
    assert!((cpu(&model, 9) - used).abs() < 1.0);
}

#[test]
fn all_agents_gone_at_once_leave_everybody_where_they_were() {
    let mut model = cluster(5, 4_000);
    for index in 0..5 {
        let mut last = sample(&name(index), 100 * SECOND, 1_000.0);
        let pod = format!("pod-{index}");
        last.pods.push(pod_sample(&pod, 1_000 * SECOND, 1_000.0));
        model.apply(&last);
    }
    refresh(&mut model, 100 * SECOND);
    for seconds in [104, 160, 800] {
        look_before(seconds * SECOND, &mut model);
        refresh(&mut model, seconds * SECOND);
        assert_eq!(model.mode(), LoadMode::BrownOut, "{seconds}");
        // The pods' own rates drift to their requests over half an hour.
        assert!((1_000.0..2_000.0).contains(&cpu(&model, 0)), "{seconds}");
    }
    look_before(900 * SECOND, &mut model);
    report(&mut model, 0..5, 900 * SECOND, 1_000.0);
    refresh(&mut model, 900 * SECOND);
    assert_eq!(model.mode(), LoadMode::Live);
    assert_eq!(model.census().brown_outs, 1);
}

#[test]
fn a_scheduler_that_was_stopped_for_a_while_sees_no_brown_out() {
    let mut model = cluster(5, 1_000);
    report(&mut model, 0..5, 100 * SECOND, 500.0);
    refresh(&mut model, 100 * SECOND);
    falls(&mut model);
    // What came meanwhile is taken after the first look.
    refresh(&mut model, 130 * SECOND);
    assert_eq!(model.mode(), LoadMode::Live);
    report(&mut model, 0..5, 130 * SECOND, 500.0);
    for step in 1..20 {
        refresh(&mut model, 130 * SECOND + step * AGE_STEP);
        assert_eq!(model.mode(), LoadMode::Live, "{step}");
    }
    assert_eq!(model.census().brown_outs, 0);
}

#[test]
fn a_restarted_scheduler_waits_for_the_agents_without_a_brown_out() {
    // The agents come back one by one over half a minute.
    let mut model = cluster(30, 1_000);
    for second in 0..120_u32 {
        report(&mut model, 0..30.min(second), second * SECOND, 500.0);
        refresh(&mut model, second * SECOND);
        assert_eq!(model.mode(), LoadMode::Live, "{second}");
    }
    // Some never do: they were never there.
    let mut model = cluster(30, 1_000);
    for second in 0..120_u32 {
        report(&mut model, 0..10, second * SECOND, 500.0);
        refresh(&mut model, second * SECOND);
        assert_eq!(model.mode(), LoadMode::Live, "{second}");
    }
}

#[test]
fn nodes_that_leave_are_not_lost() {
    let cordoned = |index| {
        let mut node = node(&name(index), 10_000, 1 << 34);
        node.unschedulable = true;
        node
    };
    let removed = |index: u32| {
        let mut node = node(&name(index), 10_000, 1 << 34);
        node.taints.push(Taint {
            key: OUT_TAINTS[index as usize % OUT_TAINTS.len()].into(),
            value: "".into(),
            effect: TaintEffect::NoSchedule,
        });
        node
    };
    let cordon = |index, model: &mut LoadModel| model.node_set(NodeId(index), &cordoned(index));
    let taint = |index, model: &mut LoadModel| model.node_set(NodeId(index), &removed(index));
    let delete = |index, model: &mut LoadModel| model.node_gone(NodeId(index));
    let fates: [Fate<'_>; 3] = [&cordon, &taint, &delete];
    for leave in fates {
        let mut model = cluster(10, 1_000);
        report(&mut model, 0..10, 100 * SECOND, 500.0);
        refresh(&mut model, 100 * SECOND);
        (5..10).for_each(|index| leave(index, &mut model));
        report(&mut model, 0..5, 110 * SECOND, 500.0);
        refresh(&mut model, 110 * SECOND);
        assert_eq!(model.mode(), LoadMode::Live);
    }
}

#[test]
fn the_loss_of_a_zone_is_no_brown_out_once_its_nodes_are_known_to_be_lost() {
    let mut model = cluster(9, 1_000);
    for second in 100..200 {
        let reporting = if second < 110 { 9 } else { 6 };
        report(&mut model, 0..reporting, second * SECOND, 500.0);
        if second == 150 {
            for index in 6..9 {
                let mut lost = node(&name(index), 10_000, 1 << 34);
                lost.taints.push(Taint {
                    key: "node.kubernetes.io/unreachable".into(),
                    value: "".into(),
                    effect: TaintEffect::NoSchedule,
                });
                model.node_set(NodeId(index), &lost);
            }
        }
        refresh(&mut model, second * SECOND);
        let is_dim = (113..150).contains(&second);
        assert_eq!(model.mode() == LoadMode::BrownOut, is_dim, "{second}");
    }
}

#[test]
fn the_census_counts_nodes_by_what_their_agents_do() {
    let mut model = cluster(6, 1_000);
    report(&mut model, 0..5, 100 * SECOND, 500.0);
    report(&mut model, 0..3, 110 * SECOND, 500.0);
    // A pod may come before its node: that is none.
    model.pod_set(NodeId(77), &pod("early", 1), at(1));
    refresh(&mut model, 110 * SECOND);
    let census = |reporting, silent, never| LoadCensus {
        reporting,
        silent,
        never,
        brown_outs: 0,
    };
    assert_eq!(model.census(), census(3, 2, 1));
    model.node_gone(NodeId(5));
    refresh(&mut model, 111 * SECOND);
    assert_eq!(model.census(), census(3, 2, 0));
}

#[test]
fn switched_off_every_row_is_empty_and_told_once() {
    let mut model = cluster(3, 1_000);
    report(&mut model, 0..3, 100 * SECOND, 500.0);
    refresh(&mut model, 100 * SECOND);
    falls(&mut model);
    model.set_enabled(false);
    assert_eq!(model.mode(), LoadMode::Off);
    let told = refresh(&mut model, 100 * SECOND);
    assert_eq!(told, [0, 1, 2].map(|id| (NodeId(id), NodeLoad::default())));
    assert_eq!(falls(&mut model), [0, 1, 2]);
    for seconds in [101, 102, 103] {
        report(&mut model, 0..3, seconds * SECOND, 700.0);
        assert!(refresh(&mut model, seconds * SECOND).is_empty());
        assert_eq!(*model.row(NodeId(0)), NodeLoad::default());
        assert_eq!(model.census().reporting, 3);
    }
    assert!(falls(&mut model).is_empty());
    // Samples were taken all the while.
    model.set_enabled(true);
    let told = refresh(&mut model, 103 * SECOND);
    assert_eq!(told.len(), 3);
    assert_eq!(model.mode(), LoadMode::Live);
    assert!((cpu(&model, 2) - 700.0).abs() < 0.1);
    assert_eq!(model.mode_since(), 103 * SECOND);
}

#[test]
fn switched_off_a_node_and_a_pod_that_come_stay_unknown() {
    let mut model = cluster(1, 1_000);
    model.set_enabled(false);
    refresh(&mut model, SECOND);
    model.node_set(NodeId(1), &node("n1", 10_000, 1 << 34));
    model.pod_set(NodeId(1), &pod("a", 100), at(1));
    assert!(refresh(&mut model, SECOND + AGE_STEP / 2).is_empty());
    assert!(refresh(&mut model, 2 * SECOND).is_empty());
    model.set_enabled(true);
    refresh(&mut model, 2 * SECOND);
    assert_eq!(cpu(&model, 1), 100.0);
}

#[test]
fn a_switch_thrown_twice_between_two_refreshes_changes_nothing() {
    let mut model = cluster(3, 1_000);
    refresh(&mut model, SECOND);
    model.set_enabled(false);
    model.set_enabled(true);
    assert!(refresh(&mut model, SECOND).is_empty());
    assert!(falls(&mut model).is_empty());
}

#[test]
fn a_brown_out_that_began_while_load_was_off_is_one_when_it_is_on_again() {
    let mut model = cluster(4, 1_000);
    report(&mut model, 0..4, 100 * SECOND, 500.0);
    refresh(&mut model, 100 * SECOND);
    model.set_enabled(false);
    refresh(&mut model, 101 * SECOND);
    refresh(&mut model, 110 * SECOND);
    assert_eq!(model.mode(), LoadMode::Off);
    model.set_enabled(true);
    refresh(&mut model, 111 * SECOND);
    assert_eq!(model.mode(), LoadMode::BrownOut);
}
