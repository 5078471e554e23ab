//! The cases of `tests/fixtures/cases/load.md`.

use std::time::Duration;

use plimsoll_framework::LoadResource::Cpu;
use plimsoll_framework::test_util::{Cluster, LoadBuilder, check_filter, cluster, load, node, pod};
use serde_json::{Value, json};

use super::{plain, verdicts};

fn hard(cpu: f64) -> Value {
    json!({"mode": "hard", "thresholds": {"cpu": cpu}})
}

fn load_a2(n1: Option<LoadBuilder>, n2: LoadBuilder) -> Cluster {
    cluster([node("n1").cpu("8"), node("n2").cpu("8")]).load(n1.into_iter().chain([n2]))
}

#[test]
fn load_a2_a_dead_agents_last_reading_closes_its_node_only_if_told_so() {
    let hour = Duration::from_hours(1);
    let dead = load("n1").share(Cpu, 0.95).aged(hour, 0.0);
    let live = load("n2")
        .share(Cpu, 0.60)
        .aged(Duration::from_secs(5), 1.0);
    let ignore = hard(0.8);
    let mut refuse = ignore.clone();
    refuse["stale"] = "refuse".into();
    let asks = pod("a").cpu("1");
    let stale = "n1: UnschedulableAndUnresolvable: node(s) without a fresh load sample";

    let cluster = load_a2(Some(dead), live.clone());
    assert_eq!(verdicts(&ignore, &cluster, &asks), ["n1: Pass", "n2: Pass"]);
    assert_eq!(
        verdicts(&refuse, &cluster, &asks),
        [&format!("{stale} (sample 3600 s old)"), "n2: Pass"]
    );

    // Without any sample it is the same.
    let cluster = load_a2(None, live);
    assert_eq!(verdicts(&ignore, &cluster, &asks), ["n1: Pass", "n2: Pass"]);
    assert_eq!(
        verdicts(&refuse, &cluster, &asks),
        [&format!("{stale} (no sample)"), "n2: Pass"]
    );
}

/// Which of the three nodes pass, each with a number of new pods in flight.
fn passing(shares: [f64; 3], placed: [u32; 3], estimate: &str, each: f64) -> Vec<usize> {
    let names = ["n1", "n2", "n3"];
    let rows = (0..3).map(|index| {
        let in_flight = f64::from(placed[index]) * each * 1000.0;
        load(names[index])
            .share(Cpu, shares[index])
            .in_flight_cpu(&format!("{in_flight}m"))
    });
    let cluster = cluster(names.map(|name| node(name).cpu("8"))).load(rows);
    let asks = pod("a").cpu("1").estimate_cpu(estimate);
    let found = plain(&hard(0.65), &cluster, &asks);
    (0..3)
        .filter(|index| found[*index].ends_with("Pass"))
        .collect()
}

/// Places pods one by one on the first node that passes; how many each gets.
fn burst(estimate: &str, each: f64) -> ([u32; 3], u32) {
    let (mut placed, mut pending) = ([0; 3], 0);
    for _ in 0..10 {
        match passing([0.10, 0.40, 0.40], placed, estimate, each).first() {
            Some(index) => placed[*index] += 1,
            None => pending += 1,
        }
    }
    (placed, pending)
}

#[test]
fn load_a3_a_burst_between_two_samples_does_not_overshoot() {
    assert_eq!(burst("1", 1.0), ([4, 2, 2], 2));
    assert_eq!(burst("850m", 0.85), ([5, 2, 2], 1));
}

#[test]
fn load_a3_a_newer_sample_that_shows_the_pods_counts_them_once() {
    let nowhere: [usize; 0] = [];
    assert_eq!(passing([0.60, 0.65, 0.65], [0; 3], "1", 1.0), nowhere);
    // The same figures still in flight would be twice the load; one pod less has room.
    assert_eq!(passing([0.475, 0.65, 0.65], [0; 3], "1", 1.0), [0]);
}

fn load_a4() -> Cluster {
    let names = ["n1", "n2", "n3"];
    let placed = names.map(|name| pod(&format!("on-{name}")).cpu("500m").on(name));
    let shares = [("n1", 0.95), ("n2", 0.95), ("n3", 0.05)];
    cluster(names.map(|name| node(name).cpu("4")))
        .pods(placed)
        .load(shares.map(|(name, share)| load(name).share(Cpu, share)))
}

#[test]
fn load_a4_nodes_busy_with_work_that_kubernetes_cannot_see_are_rejected() {
    let found = verdicts(&hard(0.85), &load_a4(), &pod("a").cpu("3"));
    let over = "Unschedulable: node(s) over cpu load 0.85 \
                (cpu 1.70 with the pod: measured 0.95, sample 1 s old)";
    assert_eq!(
        found,
        [&format!("n1: {over}"), &format!("n2: {over}"), "n3: Pass"]
    );
}

#[test]
fn load_a4_a_pod_that_must_go_to_a_busy_node_is_rejected_or_placed_with_a_warning() {
    let term = json!({"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["n1"]},
    ]});
    let bound = pod("a").cpu("3").requires_node(term);
    let affinity = crate::node_affinity::spec();
    assert_eq!(
        check_filter(&affinity, &Value::Null, &load_a4(), &bound)[..2],
        ["n1: Pass", "n2: not among PreFilter's nodes"]
    );
    assert_eq!(
        plain(&hard(0.85), &load_a4(), &bound)[0],
        "n1: Unschedulable: node(s) over cpu load 0.85"
    );
    let soft = json!({"thresholds": {"cpu": 0.85}});
    assert_eq!(
        plain(&soft, &load_a4(), &bound)[0],
        "n1: Soft 0.850: node(s) over cpu load 0.85"
    );
}
