//! Which nodes are announced to pods that wait for load.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadMode, NodeId};
use plimsoll_kernel::Kernel;
use plimsoll_objects::Uid;

use crate::capacity::{EXCLUDE_BANDWIDTH, INSTANCE_TYPE};
use crate::model::LoadModel;
use crate::options::{LoadOptions, PEAK_WIDTH};
use crate::sample::{Machine, Meter};
use crate::world::{EWMA, SECOND, at, figure, node, pod, running, sample};

const NOBODY: [u32; 0] = [];

/// A model of nodes of 10 cores that all report `used`, and are announced as known.
fn model(nodes: u32, used: f64) -> LoadModel {
    let mut model = LoadModel::new(LoadOptions::default());
    for index in 0..nodes {
        model.node_set(NodeId(index), &node(&name(index), 10_000, 1 << 34));
        model.apply(&sample(&name(index), 100 * SECOND, used));
    }
    assert_eq!(falls(&mut model, 100 * SECOND).len(), nodes as usize);
    model
}

fn name(index: u32) -> String {
    format!("n{index}")
}

/// Refreshes; gives what is announced.
fn falls(model: &mut LoadModel, now: Duration) -> Vec<u32> {
    model.refresh(now, &mut |_, _| {});
    taken(model)
}

fn taken(model: &mut LoadModel) -> Vec<u32> {
    let mut ids = Vec::new();
    model.take_falls(&mut ids);
    ids.iter().map(|id| id.0).collect()
}

#[test]
fn a_fall_of_the_figure_announces_its_node_once() {
    let mut model = model(3, 8_000.0);
    for (seconds, used, announced) in [
        (101, 8_000.0, &[][..]),
        (102, 9_000.0, &[]),
        (103, 8_810.0, &[]),
        (104, 8_800.0, &[1]),
        (104, 8_800.0, &[]),
    ] {
        model.apply(&sample("n1", seconds * SECOND, used));
        assert_eq!(falls(&mut model, seconds * SECOND), announced, "{seconds}");
    }
}

#[test]
fn a_pod_that_leaves_announces_its_node_and_one_that_comes_does_not() {
    let mut model = model(2, 4_000.0);
    model.pod_set(NodeId(1), &pod("a", 3_000), at(100));
    assert_eq!(falls(&mut model, 100 * SECOND), NOBODY);
    model.pod_removed(NodeId(1), &Uid(Arc::from("a")), at(100));
    assert_eq!(falls(&mut model, 100 * SECOND), [1]);
}

#[test]
fn nodes_are_announced_in_the_order_of_their_ids_each_once() {
    let mut model = model(4, 8_000.0);
    for used in [6_000.0, 4_000.0] {
        let now = (110.0 - used / 1_000.0) as u32 * SECOND;
        for index in [3, 0, 2] {
            model.apply(&sample(&name(index), now, used));
            model.refresh(now, &mut |_, _| {});
        }
    }
    // Each once, however long nobody asks.
    assert_eq!(model.falls.len(), 3);
    assert_eq!(taken(&mut model), [0, 2, 3]);
    assert_eq!(taken(&mut model), NOBODY);
}

#[test]
fn a_node_that_went_is_not_announced_and_its_heir_is_once() {
    let mut model = model(2, 8_000.0);
    model.apply(&sample("n1", 101 * SECOND, 1_000.0));
    model.refresh(101 * SECOND, &mut |_, _| {});
    model.node_gone(NodeId(1));
    assert_eq!(taken(&mut model), NOBODY);
    model.apply(&sample("n0", 102 * SECOND, 1_000.0));
    model.refresh(102 * SECOND, &mut |_, _| {});
    model.node_gone(NodeId(0));
    model.node_set(NodeId(0), &node("heir", 10_000, 1 << 34));
    model.apply(&sample("heir", 103 * SECOND, 1_000.0));
    assert_eq!(falls(&mut model, 103 * SECOND), [0]);
}

#[test]
fn a_node_that_is_heard_again_is_announced() {
    let mut model = model(3, 8_000.0);
    model.apply(&sample("n0", 200 * SECOND, 8_000.0));
    model.apply(&sample("n1", 200 * SECOND, 8_000.0));
    falls(&mut model, 200 * SECOND);
    assert!(model.row(NodeId(2)).confidence < 1.0);
    model.apply(&sample("n2", 201 * SECOND, 8_000.0));
    assert_eq!(falls(&mut model, 201 * SECOND), [2]);
}

#[test]
fn peaks_that_leave_their_window_announce_the_node() {
    let mut model = model(1, 5_000.0);
    let with_peak = |seconds, peak| {
        let mut report = sample("n0", seconds * SECOND, 5_000.0);
        let kernel = Kernel::Quantile {
            q: 0.95,
            width: PEAK_WIDTH,
        };
        report.figures.push(figure(Meter::Cpu, kernel, peak));
        report
    };
    model.apply(&with_peak(101, 9_000.0));
    assert_eq!(falls(&mut model, 101 * SECOND), NOBODY);
    let row = model.row(NodeId(0)).cpu;
    assert_eq!((row.used, row.used_p95), (Some(5_000.0), Some(9_000.0)));
    model.apply(&with_peak(102, 8_700.0));
    assert_eq!(falls(&mut model, 102 * SECOND), [0]);
    // A sample without a peak has none.
    model.apply(&sample("n0", 103 * SECOND, 5_000.0));
    assert_eq!(falls(&mut model, 103 * SECOND), [0]);
    assert_eq!(model.row(NodeId(0)).cpu.used_p95, None);
}

#[test]
fn a_brown_out_announces_every_node_as_it_begins() {
    let mut model = model(4, 8_000.0);
    model.node_set(NodeId(4), &node("never", 10_000, 1 << 34));
    model.pod_set(NodeId(9), &running(pod("early", 1)), at(100));
    falls(&mut model, 140 * SECOND);
    assert_eq!(model.mode(), LoadMode::BrownOut);
    // The first half minute passed within one look; once is enough.
    assert_eq!(taken(&mut model), NOBODY);
    let mut model = self::model(4, 8_000.0);
    model.refresh(129 * SECOND, &mut |_, _| {});
    model.node_set(NodeId(4), &node("never", 10_000, 1 << 34));
    model.pod_set(NodeId(9), &running(pod("early", 1)), at(100));
    assert_eq!(taken(&mut model), NOBODY);
    assert_eq!(falls(&mut model, 131 * SECOND), [0, 1, 2, 3, 4]);
    assert_eq!(falls(&mut model, 132 * SECOND), NOBODY);
}

#[test]
fn a_link_speed_that_becomes_known_or_unknown_changes_the_judgement() {
    let mut model = LoadModel::new(LoadOptions::default());
    let mut typed = node("n0", 10_000, 1 << 34);
    let label = (Arc::from(INSTANCE_TYPE), Arc::from("small"));
    typed.meta.labels.extend([label]);
    model.node_set(NodeId(0), &typed);
    let mut report = sample("n0", 100 * SECOND, 100.0);
    report.machine = Machine {
        link: Some(1_000),
        ..Machine::default()
    };
    report.figures.push(figure(Meter::Rx, EWMA, 500.0));
    model.apply(&report);
    falls(&mut model, 100 * SECOND);
    let ratio = |model: &LoadModel| model.row(NodeId(0)).rx.ratio_with(0.0);
    assert_eq!(ratio(&model), Some(0.5));
    let table = |speed| Arc::new([(Arc::from("small"), speed)].into());
    model.set_link_speeds(table(600));
    assert_eq!(falls(&mut model, 100 * SECOND), NOBODY);
    assert_eq!(ratio(&model), Some(500.0 / 600.0));
    model.set_link_speeds(table(2_000));
    assert_eq!(falls(&mut model, 100 * SECOND), [0]);
    assert_eq!(ratio(&model), Some(0.25));
    let exclude = (Arc::from(EXCLUDE_BANDWIDTH), Arc::from("true"));
    typed.meta.annotations.extend([exclude]);
    model.node_set(NodeId(0), &typed);
    assert_eq!(falls(&mut model, 100 * SECOND), [0]);
    assert_eq!(ratio(&model), None);
}
