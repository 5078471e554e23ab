//! Pods that were rejected for load: woken when it falls, and by nothing else.

use std::time::Duration;

use plimsoll_core::Event;
use plimsoll_framework::test_util::{node, pod};
use plimsoll_framework::{LoadMode, Now};
use plimsoll_load::{Figure, Machine, Meter, Sample};

use crate::fakes;
use crate::harness::Harness;

const FAKES: &str = "Sort Heavy Binder";
const CORES: u32 = 10;

/// A sample by which a node uses this share of its cpu.
fn sample(harness: &Harness, node: &str, share: f64) -> Sample {
    let cpu = Figure {
        meter: Meter::Cpu,
        kernel: plimsoll_kernel::Kernel::Ewma {
            tau: Duration::from_secs(10),
        },
        value: share * 1_000.0 * f64::from(CORES),
        window: Duration::from_mins(1),
        samples: 60,
    };
    Sample {
        node: node.into(),
        start_id: 1,
        sequence: harness.now.as_millis() as u64,
        arrived: harness.now,
        age: Duration::ZERO,
        period: Duration::from_secs(1),
        machine: Machine {
            cpus: Some(CORES),
            ..Machine::default()
        },
        steal: None,
        untrusted: None,
        figures: vec![cpu],
        pods: Vec::new(),
    }
}

/// Samples of all nodes for so many seconds, each second.
pub(crate) fn measure(harness: &mut Harness, loads: &[(&str, f64)], seconds: usize) {
    for _ in 0..seconds {
        harness.pass_seconds(1);
        let samples = loads
            .iter()
            .map(|(node, share)| sample(harness, node, *share));
        let samples = samples.collect();
        harness.step(Event::Samples(samples));
        harness.settle();
    }
}

/// One node that is too busy, and a pod that waits for it.
fn waiting() -> Harness {
    let mut harness = Harness::with(FAKES, "").started(&[node("a").cpu("10")]);
    measure(&mut harness, &[("a", 0.9)], 3);
    harness.set_pod(&pod("p"));
    assert_eq!(
        harness.last_message(),
        "0/1 nodes are available: 1 node(s) over cpu load 0.8."
    );
    // Its rest is long over.
    measure(&mut harness, &[("a", 0.9)], 30);
    assert_eq!(harness.tries("p"), 1);
    harness
}

#[test]
fn a_pod_rejected_for_load_is_tried_again_within_a_second_of_its_fall() {
    let mut harness = waiting();
    harness.pass_seconds(1);
    let samples = vec![sample(&harness, "a", 0.5)];
    harness.step(Event::Samples(samples));
    harness.pass_seconds(1);
    assert_eq!(harness.bound(), ["p -> a"]);
    let woken = harness.stats().incoming;
    assert!(
        woken.iter().any(|row| row.event == "NodeUpdateLoad"),
        "{woken:?}"
    );
}

#[test]
fn it_is_not_woken_by_rises_nor_by_falls_that_do_not_suffice() {
    let mut harness = waiting();
    measure(&mut harness, &[("a", 0.97)], 3);
    measure(&mut harness, &[("a", 0.99)], 3);
    measure(&mut harness, &[("a", 0.85)], 3);
    assert_eq!(harness.tries("p"), 1);
    measure(&mut harness, &[("a", 0.7)], 2);
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn while_nobody_waits_for_load_nobody_looks_at_it() {
    let mut harness = Harness::with(FAKES, "").started(&[node("a").cpu("10")]);
    measure(&mut harness, &[("a", 0.9)], 2);
    assert_eq!(harness.engine.next_wakeup(), None);
    harness.set_pod(&pod("p"));
    let look = harness.engine.next_wakeup().expect("a pod waits for load");
    assert!(look <= harness.now + Duration::from_secs(1));
    harness.pod_gone(&pod("p"));
    assert_eq!(harness.engine.next_wakeup(), None);
}

#[test]
fn the_switch_lets_everybody_in_at_once_and_judges_again_when_it_is_on() {
    let mut harness = waiting();
    harness.step(Event::LoadSwitched(false));
    harness.settle();
    assert_eq!(harness.bound(), ["p -> a"]);
    let now = Now::at(harness.now);
    assert_eq!(harness.engine.load_stats(now).mode, LoadMode::Off);
    let row = harness.engine.node_load(now, "a").expect("it is known");
    assert_eq!(row.cpu.used, None, "rows are empty");

    harness.step(Event::LoadSwitched(true));
    let row = harness.engine.node_load(now, "a").expect("it is known");
    assert_eq!(
        row.cpu.measured,
        Some(9_000.0),
        "samples were kept meanwhile"
    );
    harness.set_pod(&pod("q"));
    assert_eq!(harness.tries("q"), 1);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_thousand_waiting_pods_hear_of_five_hundred_nodes_in_one_go() {
    const NODES: usize = 500;
    const PODS: usize = 1_000;
    let names: Vec<String> = (0..NODES).map(|n| format!("n{n}")).collect();
    let nodes: Vec<_> = names.iter().map(|name| node(name).cpu("10")).collect();
    let mut harness = Harness::with(FAKES, "").started(&nodes);
    let at = |share: f64| -> Vec<(&str, f64)> {
        names.iter().map(|name| (name.as_str(), share)).collect()
    };
    measure(&mut harness, &at(0.99), 3);
    for n in 0..PODS {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    measure(&mut harness, &at(0.99), 2);
    fakes::hints();
    // Every node fell, and none far enough: the worst case.
    measure(&mut harness, &at(0.9), 2);
    assert_eq!(fakes::hints(), NODES * PODS, "each pod and node once");
    // All far enough: one look at the first node is enough for each pod.
    measure(&mut harness, &at(0.1), 1);
    harness.pass_seconds(1);
    assert_eq!(fakes::hints(), PODS);
    assert!(harness.tries("p0") == 2);
}
