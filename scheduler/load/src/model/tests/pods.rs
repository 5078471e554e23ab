//! Pods that come, go, and are forgotten.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::NodeId;
use plimsoll_objects::{OwnerReference, Phase, Uid};

use crate::model::LoadModel;
use crate::options::{LoadOptions, MAX_DEPARTED};
use crate::pod_entry::STATIC_UIDS;
use crate::world::{SECOND, at, node, pod, pod_sample, running, sample};

const N1: NodeId = NodeId(0);

fn model() -> LoadModel {
    let mut model = LoadModel::new(LoadOptions::default());
    model.node_set(N1, &node("n1", 8_000, 1 << 30));
    model
}

fn uid(name: &str) -> Uid {
    Uid(Arc::from(name))
}

fn refresh(model: &mut LoadModel, now: Duration) {
    model.refresh(now, &mut |_, _| {});
}

fn cpu(model: &mut LoadModel, now: Duration) -> Option<f64> {
    refresh(model, now);
    model.row(N1).cpu.used
}

fn kept(model: &LoadModel) -> usize {
    model.state(N1).unwrap().pods.len()
}

#[test]
fn saying_the_same_pod_again_changes_nothing() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    for _ in 0..3 {
        model.pod_set(N1, &pod("a", 500), at(1));
    }
    assert_eq!(cpu(&mut model, SECOND), Some(600.0));
}

#[test]
fn a_forgotten_assumption_leaves_no_trace() {
    let mut model = model();
    model.apply(&sample("n1", SECOND, 100.0));
    model.pod_set(N1, &pod("a", 500), at(1));
    model.pod_removed(N1, &uid("a"), at(2));
    assert_eq!(cpu(&mut model, 2 * SECOND), Some(100.0));
    assert_eq!(kept(&model), 0);
}

#[test]
fn a_terminal_phase_is_an_end_and_the_deletion_after_it_is_none() {
    let mut model = model();
    model.pod_set(N1, &running(pod("a", 500)), at(1));
    model.apply(&sample("n1", 100 * SECOND, 500.0));
    let mut done = pod("a", 500);
    done.status.phase = Phase::Succeeded;
    model.pod_set(N1, &done, at(100));
    let ended = cpu(&mut model, 100 * SECOND).unwrap();
    assert!(ended < 0.1, "{ended}");
    model.pod_removed(N1, &uid("a"), at(102));
    assert_eq!(cpu(&mut model, 100 * SECOND), Some(ended));
}

#[test]
fn a_pod_that_came_and_went_between_two_samples_shows_in_the_second() {
    let mut model = model();
    model.apply(&sample("n1", 100 * SECOND, 50.0));
    model.pod_set(N1, &running(pod("a", 500)), at(101));
    model.pod_removed(N1, &uid("a"), at(103));
    assert_eq!(cpu(&mut model, 103 * SECOND), Some(50.0));
    let shown = (-0.1_f64).exp() - (-0.3_f64).exp();
    model.apply(&sample("n1", 104 * SECOND, 50.0 + 500.0 * shown));
    assert!((cpu(&mut model, 104 * SECOND).unwrap() - 50.0).abs() < 1e-6);
}

#[test]
fn a_departed_pod_is_forgotten_once_nothing_shows_it() {
    let mut model = model();
    model.pod_set(N1, &running(pod("a", 500)), at(1));
    model.apply(&sample("n1", 100 * SECOND, 500.0));
    model.pod_removed(N1, &uid("a"), at(100));
    refresh(&mut model, 100 * SECOND);
    assert_eq!(kept(&model), 1);
    model.apply(&sample("n1", 200 * SECOND, 0.0));
    refresh(&mut model, 200 * SECOND);
    assert_eq!(kept(&model), 0);
}

#[test]
fn departed_pods_of_a_silent_or_unreporting_node_are_bounded() {
    let mut model = model();
    model.pod_set(N1, &running(pod("a", 500)), at(1));
    model.pod_removed(N1, &uid("a"), at(2));
    refresh(&mut model, 2 * SECOND);
    assert_eq!(kept(&model), 0);
    model.apply(&sample("n1", 3 * SECOND, 500.0));
    for index in 0..2 * MAX_DEPARTED as u64 {
        let name = format!("pod-{index}");
        model.pod_set(N1, &running(pod(&name, 1)), at(index));
        model.pod_removed(N1, &uid(&name), at(index));
    }
    assert_eq!(kept(&model), MAX_DEPARTED);
    refresh(&mut model, 10_000 * SECOND);
    assert_eq!(kept(&model), 0);
}

#[test]
fn a_static_pod_is_found_by_either_uid() {
    for annotation in STATIC_UIDS {
        let mut model = model();
        let mut mirror = running(pod("mirror", 4_000));
        let (key, hash) = (Arc::from(annotation), Arc::from("3f2a"));
        mirror.meta.annotations.insert(key, hash);
        let (kind, name) = (Arc::from("Node"), Arc::from("n1"));
        mirror.meta.controller = Some(OwnerReference {
            api_version: Arc::from("v1"),
            kind,
            name,
            uid: uid("n1"),
        });
        model.pod_set(N1, &mirror, at(1));
        let mut report = sample("n1", 1_000 * SECOND, 200.0);
        report.pods.push(pod_sample("3f2a", 999 * SECOND, 200.0));
        model.apply(&report);
        refresh(&mut model, 1_000 * SECOND);
        assert!((model.row(N1).cpu.expected.unwrap() - 200.0).abs() < 1e-2);
        model.pod_removed(N1, &uid("mirror"), at(1_000));
        assert!(cpu(&mut model, 1_000 * SECOND).unwrap() < 1e-2);
    }
}

#[test]
fn a_pod_is_as_old_as_it_was_when_it_was_read_and_the_time_since() {
    let mut model = model();
    model.pod_set(N1, &running(pod("a", 4_000)), at(1));
    // Read at 15 s, 5 s old: begun at 10 s, and the node's sample is of 20 s.
    let shown = 400.0 * (1.0 - (-1.0_f64).exp());
    let mut report = sample("n1", 20 * SECOND, shown);
    let mut read = pod_sample("a", 5 * SECOND, 400.0);
    read.behind = 5 * SECOND;
    report.pods.push(read);
    model.apply(&report);
    let trust = (-10.0_f64 / 60.0).exp();
    let used = 4_000.0 * trust + 400.0 * (1.0 - trust);
    let found = cpu(&mut model, 20 * SECOND).unwrap();
    assert!((found - used).abs() < 1e-6, "{found} is not {used}");
}

#[test]
fn a_pod_read_dead_before_the_sample_ended_then() {
    let mut model = model();
    model.pod_set(N1, &running(pod("a", 500)), at(1));
    model.apply(&sample("n1", 100 * SECOND, 500.0));
    let left = 500.0 * (-0.8_f64).exp();
    let mut report = sample("n1", 110 * SECOND, left);
    let mut read = pod_sample("a", 101 * SECOND, 500.0);
    (read.behind, read.ended) = (8 * SECOND, true);
    report.pods.push(read);
    model.apply(&report);
    assert!(cpu(&mut model, 110 * SECOND).unwrap() < 0.1);
}
