//! Situations from the field, by their id, and what every peer gets wrong.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadResource, NodeId};
use plimsoll_kernel::Kernel;
use plimsoll_objects::Uid;

use crate::model::{Applied, LoadModel};
use crate::options::{LoadOptions, SILENCE_MARGIN};
use crate::sample::Meter;
use crate::world::{SECOND, at, figure, node, pod, pod_sample, running, sample};

/// A model of nodes with `cores` each, named n1, n2, ...
fn cluster(nodes: u32, cores: i64, options: LoadOptions) -> LoadModel {
    let mut model = LoadModel::new(options);
    for index in 0..nodes {
        let name = format!("n{}", index + 1);
        model.node_set(NodeId(index), &node(&name, cores * 1_000, 1 << 34));
    }
    model
}

fn refresh(model: &mut LoadModel, now: Duration) {
    model.refresh(now, &mut |_, _| {});
}

fn cpu(model: &LoadModel, index: u32) -> f64 {
    model.row(NodeId(index)).cpu.used.unwrap()
}

/// Load after a pod of `millicores`.
fn ratio_with(model: &LoadModel, index: u32, millicores: f64) -> f64 {
    model.row(NodeId(index)).cpu.ratio_with(millicores).unwrap()
}

/// Places pods of one core, one by one, on the first node that stays within `threshold`;
/// gives how many each node got.
fn place(model: &mut LoadModel, pods: usize, threshold: f64) -> [usize; 3] {
    let mut placed = [0; 3];
    for index in 0..pods {
        let pod = pod(&format!("pod-{index}"), 1_000);
        let estimate = model.estimate(&pod).cpu;
        refresh(model, SECOND);
        let fits = |node: &u32| ratio_with(model, *node, estimate) <= threshold;
        if let Some(node) = (0..3).find(fits) {
            model.pod_set(NodeId(node), &pod, at(1));
            placed[node as usize] += 1;
        }
    }
    placed
}

fn three_nodes(options: LoadOptions) -> LoadModel {
    let mut model = cluster(3, 8, options);
    for (name, used) in [("n1", 800.0), ("n2", 3_200.0), ("n3", 3_200.0)] {
        assert_eq!(model.apply(&sample(name, SECOND, used)), Applied::Taken);
    }
    model
}

#[test]
fn load_a2_a_dead_agents_last_high_reading_does_not_block_its_node_for_ever() {
    let mut model = cluster(2, 8, LoadOptions::default());
    let threshold = 0.80;
    model.apply(&sample("n1", SECOND, 7_600.0));
    let later = 3_600 * SECOND;
    model.apply(&sample("n2", 3_595 * SECOND, 4_800.0));
    refresh(&mut model, later);
    let (n1, n2) = (*model.row(NodeId(0)), *model.row(NodeId(1)));
    assert_eq!(n1.sample_age, Some(3_599 * SECOND));
    assert!(n1.confidence < 1e-3 && n2.confidence > 0.99);
    // The fresh node wins, but the silent one is within the line as soon as it is needed.
    assert!(ratio_with(&model, 0, 1_000.0) > ratio_with(&model, 1, 1_000.0));
    assert!(ratio_with(&model, 0, 1_000.0) <= threshold);
}

#[test]
fn load_a2_a_deleted_sample_is_no_worse_than_a_stale_one() {
    let mut model = cluster(2, 8, LoadOptions::default());
    model.apply(&sample("n2", SECOND, 4_800.0));
    refresh(&mut model, SECOND);
    assert_eq!(model.row(NodeId(0)).sample_age, None);
    assert_eq!(model.row(NodeId(0)).cpu.used, Some(0.0));
}

#[test]
fn load_a3_a_burst_between_two_samples_is_counted_at_once() {
    let mut model = three_nodes(LoadOptions::default());
    assert_eq!(place(&mut model, 10, 0.65), [4, 2, 2]);
    let mut model = three_nodes(LoadOptions {
        prior_ratio: 0.85,
        ..LoadOptions::default()
    });
    assert_eq!(place(&mut model, 10, 0.65), [5, 2, 2]);
}

#[test]
fn load_a3_a_newer_sample_that_includes_a_pod_does_not_count_it_twice() {
    let mut model = three_nodes(LoadOptions::default());
    assert_eq!(place(&mut model, 8, 0.65), [4, 2, 2]);
    for (node, pods) in [(0, 0..4), (1, 4..6), (2, 6..8)] {
        for index in pods {
            let pod = running(pod(&format!("pod-{index}"), 1_000));
            model.pod_set(NodeId(node), &pod, at(3));
        }
    }
    // At every age the figure and the ledger add up to the same node.
    for seconds in [4_u32, 8, 13, 23, 43, 123] {
        let shown = 1.0 - (-f64::from(seconds - 3) / 10.0).exp();
        let figures = [800.0 + 4_000.0 * shown, 3_200.0 + 2_000.0 * shown];
        for (name, figure) in ["n1", "n2", "n3"]
            .iter()
            .zip([figures[0], figures[1], figures[1]])
        {
            model.apply(&sample(name, seconds * SECOND, figure));
        }
        refresh(&mut model, seconds * SECOND);
        assert!((cpu(&model, 0) / 8_000.0 - 0.60).abs() < 1e-6, "{seconds}");
        assert!((cpu(&model, 1) / 8_000.0 - 0.65).abs() < 1e-6, "{seconds}");
    }
    assert!(model.row(NodeId(0)).cpu.in_flight < 0.1);
}

#[test]
fn load_a3_a_newer_sample_with_pods_by_their_own_figures_does_not_count_them_twice() {
    let mut model = three_nodes(LoadOptions::default());
    assert_eq!(place(&mut model, 8, 0.65), [4, 2, 2]);
    let nodes = [(0, 0..4, 800.0), (1, 4..6, 3_200.0), (2, 6..8, 3_200.0)];
    // Begun at 3 s; read by their agents one after the other, up to 10 s before the node.
    for seconds in [4_u32, 8, 13, 23, 43, 123] {
        for (node, pods, before) in nodes.clone() {
            let shown = 1.0 - (-f64::from(seconds - 3) / 10.0).exp();
            let used = before + pods.len() as f64 * 1_000.0 * shown;
            let mut newer = sample(&format!("n{}", node + 1), seconds * SECOND, used);
            for index in pods {
                let behind = (index * 3).min(seconds - 3).min(10);
                let age = (seconds - 3 - behind) * SECOND;
                let mut own = pod_sample(&format!("pod-{index}"), age, 1_000.0);
                own.behind = behind * SECOND;
                newer.pods.push(own);
            }
            model.apply(&newer);
        }
        refresh(&mut model, seconds * SECOND);
        assert!((cpu(&model, 0) / 8_000.0 - 0.60).abs() < 1e-6, "{seconds}");
        assert!((cpu(&model, 1) / 8_000.0 - 0.65).abs() < 1e-6, "{seconds}");
        assert!((cpu(&model, 2) / 8_000.0 - 0.65).abs() < 1e-6, "{seconds}");
    }
    assert!(model.row(NodeId(0)).cpu.in_flight < 0.1);
}

#[test]
fn load_a4_load_that_kubernetes_cannot_see_counts() {
    let mut model = cluster(3, 4, LoadOptions::default());
    for (index, used) in [(0_u32, 3_800.0), (1, 3_800.0), (2, 200.0)] {
        let pod = running(pod(&format!("pod-{index}"), 500));
        model.pod_set(NodeId(index), &pod, at(1));
        model.apply(&sample(&format!("n{}", index + 1), 600 * SECOND, used));
    }
    refresh(&mut model, 600 * SECOND);
    assert!(ratio_with(&model, 0, 3_000.0) > 1.6);
    assert!(ratio_with(&model, 1, 3_000.0) > 1.6);
    assert!(ratio_with(&model, 2, 3_000.0) < 0.85);
}

#[test]
fn a_freed_node_is_not_shunned() {
    let mut model = cluster(1, 8, LoadOptions::default());
    model.pod_set(NodeId(0), &running(pod("a", 6_000)), at(1));
    model.apply(&sample("n1", 600 * SECOND, 6_500.0));
    model.pod_removed(NodeId(0), &Uid(Arc::from("a")), at(600));
    for seconds in [600_u32, 601, 605, 620, 700] {
        if seconds > 600 {
            let shown = (-f64::from(seconds - 600) / 10.0).exp();
            model.apply(&sample("n1", seconds * SECOND, 500.0 + 6_000.0 * shown));
        }
        refresh(&mut model, seconds * SECOND);
        assert!(
            (cpu(&model, 0) - 500.0).abs() < 10.0,
            "{} at {seconds}",
            cpu(&model, 0)
        );
    }
}

#[test]
fn an_agent_restart_neither_hides_nor_doubles_pods() {
    let mut model = cluster(1, 8, LoadOptions::default());
    model.pod_set(NodeId(0), &running(pod("old", 2_000)), at(1));
    model.pod_set(NodeId(0), &running(pod("young", 1_000)), at(595));
    // The new agent's window is 2 s old: it shows all that ran since before it.
    let mut report = sample("n1", 600 * SECOND, 3_000.0);
    report.start_id = 2;
    report.figures[0].window = 2 * SECOND;
    model.apply(&report);
    model.pod_set(NodeId(0), &pod("new", 500), at(600));
    refresh(&mut model, 600 * SECOND);
    assert_eq!(cpu(&model, 0), 3_500.0);
}

#[test]
fn a_pods_own_measurement_takes_over_from_its_request() {
    let mut model = cluster(1, 8, LoadOptions::default());
    model.pod_set(NodeId(0), &running(pod("a", 4_000)), at(100));
    for (seconds, off) in [(105_u32, 4_000.0), (160, 1_500.0), (400, 30.0)] {
        let age = (seconds - 100) * SECOND;
        let shown = 1.0 - (-age.as_secs_f64() / 10.0).exp();
        let mut report = sample("n1", seconds * SECOND, 200.0 * shown);
        report.pods.push(pod_sample("a", age, 200.0));
        model.apply(&report);
        refresh(&mut model, seconds * SECOND);
        let over = cpu(&model, 0) - 200.0;
        assert!((0.0..off).contains(&over), "{over} at {seconds}");
    }
}

#[test]
fn a_silent_node_is_no_better_than_the_median_of_the_fresh() {
    let mut model = cluster(4, 10, LoadOptions::default());
    model.apply(&sample("n1", SECOND, 100.0));
    for seconds in [4_u32, 100, 300, 3_600] {
        for (name, used) in [("n2", 2_000.0), ("n3", 5_000.0), ("n4", 9_000.0)] {
            model.apply(&sample(name, seconds * SECOND, used));
        }
        refresh(&mut model, seconds * SECOND);
        let confidence = model.row(NodeId(0)).confidence;
        let floor = (0.5 + SILENCE_MARGIN) * 10_000.0;
        let used = confidence * 100.0 + (1.0 - confidence) * floor;
        assert!(
            (cpu(&model, 0) - used).abs() < 1e-6,
            "{} at {seconds}",
            cpu(&model, 0)
        );
    }
}

#[test]
fn where_all_are_silent_nobody_is_judged_by_silence() {
    let mut model = cluster(2, 10, LoadOptions::default());
    model.apply(&sample("n1", SECOND, 100.0));
    model.apply(&sample("n2", SECOND, 9_000.0));
    model.pod_set(NodeId(1), &pod("a", 500), at(1));
    refresh(&mut model, 100_000 * SECOND);
    assert!(cpu(&model, 0) < 1.0);
    assert!((cpu(&model, 1) - 500.0).abs() < 1.0);
}

#[test]
fn a_node_that_never_reported_is_judged_by_its_pods_without_penalty() {
    let mut model = cluster(2, 10, LoadOptions::default());
    model.apply(&sample("n2", SECOND, 9_000.0));
    model.pod_set(NodeId(0), &running(pod("a", 500)), at(1));
    model.pod_set(NodeId(0), &pod("b", 250), at(1));
    refresh(&mut model, SECOND);
    let row = model.row(NodeId(0));
    assert_eq!((row.cpu.used, row.cpu.expected), (Some(750.0), Some(750.0)));
    assert_eq!(
        (row.cpu.measured, row.cpu.in_flight, row.confidence),
        (None, 0.0, 0.0)
    );
    for resource in [LoadResource::Rx, LoadResource::Tx] {
        assert_eq!(row.get(resource).used, None);
    }
}

#[test]
fn mem_a2_load_is_a_share_of_what_the_machine_has_not_of_what_pods_may_ask_for() {
    const GIB: i64 = 1 << 30;
    let mut machine = node("n1", 4_000, 10 * GIB);
    machine.status.allocatable.cpu = 2_000;
    machine.status.allocatable.memory = 8 * GIB;
    let mut model = LoadModel::new(LoadOptions::default());
    model.node_set(NodeId(0), &machine);
    let mut used = sample("n1", SECOND, 320.0);
    let memory = (8 * GIB) as f64;
    used.figures
        .push(figure(Meter::Memory, Kernel::Instant, memory));
    assert_eq!(model.apply(&used), Applied::Taken);
    refresh(&mut model, SECOND);
    let row = model.row(NodeId(0));
    assert_eq!(row.memory.capacity, Some((10 * GIB) as f64));
    assert_eq!(row.memory.ratio_with(0.0), Some(0.80));
    assert_eq!(row.cpu.capacity, Some(4_000.0));
    assert_eq!(row.cpu.ratio_with(0.0), Some(0.08));
}
