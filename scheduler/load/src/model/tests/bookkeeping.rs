//! Which nodes are known, which samples are taken, and what a refresh touches.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{NodeId, NodeLoad};
use plimsoll_objects::Uid;

use crate::model::{Applied, LoadModel};
use crate::options::{AGE_STEP, LoadOptions};
use crate::sample::{Machine, Meter};
use crate::world::{EWMA, SECOND, at, figure, node, pod, pod_sample, running, sample};

const N1: NodeId = NodeId(0);
const N2: NodeId = NodeId(1);

fn model() -> LoadModel {
    let mut model = LoadModel::new(LoadOptions::default());
    model.node_set(N1, &node("n1", 8_000, 1 << 30));
    model.node_set(N2, &node("n2", 8_000, 1 << 30));
    model
}

fn uid(name: &str) -> Uid {
    Uid(Arc::from(name))
}

/// Refreshes; gives the nodes whose rows changed.
fn refresh(model: &mut LoadModel, now: Duration) -> Vec<NodeId> {
    let mut changed = Vec::new();
    model.refresh(now, &mut |id, _| changed.push(id));
    changed
}

fn cpu(model: &mut LoadModel, now: Duration) -> Option<f64> {
    refresh(model, now);
    model.row(N1).cpu.used
}

#[test]
fn wat_a1_a_ghost_agent_does_not_resurrect_a_node() {
    let mut model = model();
    assert_eq!(model.apply(&sample("n1", SECOND, 100.0)), Applied::Taken);
    model.node_gone(N1);
    assert_eq!(
        model.apply(&sample("n1", 2 * SECOND, 100.0)),
        Applied::UnknownNode
    );
    assert!(!refresh(&mut model, 2 * SECOND).contains(&N1));
    assert_eq!(*model.row(N1), NodeLoad::default());
}

#[test]
fn a_node_that_comes_back_begins_anew() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    model.node_gone(N1);
    model.node_set(N1, &node("n1", 8_000, 1 << 30));
    assert_eq!(cpu(&mut model, 2 * SECOND), Some(0.0));
    assert_eq!(model.apply(&sample("n1", SECOND, 100.0)), Applied::Taken);
}

#[test]
fn an_id_that_is_reused_knows_nothing_of_the_old_node() {
    let mut model = model();
    model.pod_set(N1, &pod("a", 500), at(1));
    model.apply(&sample("n1", SECOND, 100.0));
    model.node_set(N1, &node("n9", 4_000, 1 << 30));
    refresh(&mut model, 2 * SECOND);
    assert_eq!(model.row(N1).cpu.used, Some(0.0));
    assert_eq!(
        model.apply(&sample("n1", 2 * SECOND, 100.0)),
        Applied::UnknownNode
    );
    assert_eq!(
        model.apply(&sample("n9", 2 * SECOND, 100.0)),
        Applied::Taken
    );
}

#[test]
fn a_name_that_moved_to_another_id_outlives_the_old_one() {
    let mut model = model();
    model.node_set(NodeId(2), &node("n1", 4_000, 1 << 30));
    model.node_gone(N1);
    assert_eq!(model.apply(&sample("n1", SECOND, 100.0)), Applied::Taken);
    refresh(&mut model, SECOND);
    assert_eq!(model.row(NodeId(2)).cpu.measured, Some(100.0));
}

#[test]
fn a_pod_may_come_before_its_node() {
    let mut model = LoadModel::new(LoadOptions::default());
    model.pod_set(N1, &pod("a", 500), at(1));
    model.node_set(N1, &node("n1", 8_000, 1 << 30));
    refresh(&mut model, SECOND);
    let row = model.row(N1).cpu;
    assert_eq!((row.used, row.capacity), (Some(500.0), Some(8_000.0)));
}

#[test]
fn a_replayed_or_overtaken_sample_is_refused() {
    let mut model = model();
    assert_eq!(
        model.apply(&sample("n1", 5 * SECOND, 100.0)),
        Applied::Taken
    );
    assert_eq!(
        model.apply(&sample("n1", 5 * SECOND, 200.0)),
        Applied::Older
    );
    assert_eq!(
        model.apply(&sample("n1", 4 * SECOND, 200.0)),
        Applied::Older
    );
    let mut restarted = sample("n1", 4 * SECOND, 200.0);
    restarted.start_id = 2;
    assert_eq!(model.apply(&restarted), Applied::Older);
    restarted.arrived = 6 * SECOND;
    assert_eq!(model.apply(&restarted), Applied::Taken);
    assert_eq!(cpu(&mut model, 6 * SECOND), Some(200.0));
}

#[test]
fn a_sample_that_its_agent_does_not_trust_counts_as_no_figures() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    let mut doubtful = sample("n1", 100 * SECOND, 7_000.0);
    doubtful.untrusted = Some(Arc::from("counters went backwards"));
    assert_eq!(model.apply(&doubtful), Applied::Untrusted);
    refresh(&mut model, 100 * SECOND);
    assert_eq!(model.row(N1).cpu.measured, Some(100.0));
    assert_eq!(model.row(N1).sample_age, Some(99 * SECOND));
}

#[test]
fn the_age_of_a_sample_counts_from_when_it_was_taken() {
    let mut model = model();
    let mut late = sample("n1", 10 * SECOND, 100.0);
    late.age = 4 * SECOND;
    model.apply(&late);
    refresh(&mut model, 11 * SECOND);
    assert_eq!(model.row(N1).sample_age, Some(5 * SECOND));
    assert!(model.row(N1).confidence < 1.0);
}

#[test]
fn a_figure_that_is_missing_once_keeps_its_last_value() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    let mut without = sample("n1", 2 * SECOND, 0.0);
    without.figures = vec![figure(Meter::Rx, EWMA, 7.0)];
    model.apply(&without);
    refresh(&mut model, 2 * SECOND);
    assert_eq!(model.row(N1).cpu.used, Some(100.0));
    assert_eq!(model.row(N1).rx.used, Some(7.0));
    assert_eq!(model.row(N1).tx.used, None);
}

#[test]
fn steal_and_pressure_count_as_much_as_their_sample() {
    let mut model = model();
    let mut report = sample("n1", SECOND, 100.0);
    report.steal = Some(0.5);
    report.machine = Machine {
        cpus: Some(4),
        memory: None,
        link: Some(125),
    };
    report.figures.push(figure(Meter::PressureCpu, EWMA, 0.5));
    model.apply(&report);
    refresh(&mut model, SECOND);
    assert_eq!(model.row(N1).cpu.capacity, Some(2_000.0));
    assert_eq!(model.row(N1).pressure.cpu, Some(0.5));
    assert_eq!(model.row(N1).rx.capacity, Some(125.0));
    refresh(&mut model, 100_000 * SECOND);
    assert_eq!(model.row(N1).cpu.capacity, Some(4_000.0));
    assert_eq!(model.row(N1).pressure.cpu, Some(0.0));
}

#[test]
fn an_unknown_pod_or_node_is_no_matter() {
    let mut model = model();
    model.pod_removed(N1, &uid("nobody"), at(1));
    model.pod_removed(NodeId(77), &uid("nobody"), at(1));
    model.node_gone(NodeId(77));
    let mut report = sample("n1", SECOND, 200.0);
    report.pods.push(pod_sample("nobody", SECOND, 200.0));
    assert_eq!(model.apply(&report), Applied::Taken);
    assert_eq!(cpu(&mut model, SECOND), Some(200.0));
}

#[test]
fn between_two_age_steps_a_refresh_touches_only_what_changed() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    model.apply(&sample("n2", SECOND, 100.0));
    assert_eq!(refresh(&mut model, SECOND), [N1, N2]);
    assert_eq!(refresh(&mut model, SECOND + AGE_STEP / 2), []);
    model.pod_set(N2, &pod("a", 500), at(1));
    assert_eq!(refresh(&mut model, SECOND + AGE_STEP / 2), [N2]);
    assert_eq!(refresh(&mut model, SECOND + AGE_STEP), [N1, N2]);
}

#[test]
fn an_old_figure_of_a_fresh_node_is_judged_alike_by_every_refresh() {
    let mut model = model();
    model.node_set(NodeId(2), &node("n3", 8_000, 1 << 30));
    let mut first = sample("n1", SECOND, 100.0);
    first.figures.push(figure(Meter::Memory, EWMA, 1.0));
    model.apply(&first);
    model.apply(&sample("n3", SECOND, 100.0));
    // Memory is 99 s old then; n2 is full, n3 silent.
    model.apply(&sample("n1", 100 * SECOND, 100.0));
    let mut full = sample("n2", 100 * SECOND, 100.0);
    let memory = f64::from(1 << 30);
    full.figures.push(figure(Meter::Memory, EWMA, memory));
    model.apply(&full);
    refresh(&mut model, 100 * SECOND);
    let row = *model.row(N1);
    model.node_set(N1, &node("n1", 8_000, 1 << 30));
    assert_eq!(refresh(&mut model, 100 * SECOND), []);
    assert_eq!(*model.row(N1), row);
}

#[test]
fn a_row_that_stays_as_it_is_is_not_told() {
    let mut model = model();
    assert_eq!(refresh(&mut model, SECOND), [N1, N2]);
    assert_eq!(refresh(&mut model, 10 * SECOND), []);
}

#[test]
fn the_same_events_give_the_same_rows_in_any_order_of_pods() {
    let names = ["a", "b", "c", "d", "e"];
    let build = |names: &mut dyn Iterator<Item = &&str>| {
        let mut model = model();
        for name in names {
            let millicores = 100 + i64::from(name.as_bytes()[0]);
            model.pod_set(N1, &running(pod(name, millicores)), at(98));
        }
        model.apply(&sample("n1", 100 * SECOND, 700.3));
        refresh(&mut model, 101 * SECOND);
        *model.row(N1)
    };
    assert_eq!(build(&mut names.iter()), build(&mut names.iter().rev()));
}
