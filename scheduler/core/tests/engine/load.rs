//! Measured load on its way to a decision.

use std::time::Duration;

use plimsoll_core::Event;
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{node, pod};
use plimsoll_load::{Machine, Sample};

use crate::harness::Harness;

/// A sample that says how many cores the agent sees.
fn sample(harness: &Harness, node: &str, cpus: u32) -> Sample {
    Sample {
        node: node.into(),
        start_id: 1,
        sequence: 1,
        arrived: harness.now,
        age: Duration::ZERO,
        period: Duration::from_secs(1),
        machine: Machine {
            cpus: Some(cpus),
            ..Machine::default()
        },
        steal: None,
        untrusted: None,
        figures: Vec::new(),
        pods: Vec::new(),
    }
}

#[test]
fn a_decision_sees_the_newest_sample_and_says_how_old_it_was() {
    let mut harness = Harness::start(&[node("a").cpu("8")]);
    let samples = vec![sample(&harness, "a", 4)];
    harness.step(Event::Samples(samples));
    harness.pass(Duration::from_millis(500));
    harness.set_pod(&pod("p"));
    let load = harness.decisions()[0].candidates[0].load;
    assert_eq!(load.cpu.capacity, Some(4_000.0));
    assert_eq!(load.sample_age, Some(Duration::from_millis(500)));
}

#[test]
fn a_pod_that_was_just_placed_is_in_the_load_of_the_very_next_decision() {
    let mut harness = Harness::start(&[node("a").cpu("8")]);
    let samples = vec![sample(&harness, "a", 8)];
    harness.step(Event::Samples(samples));
    harness.set_pod(&pod("p").cpu("2"));
    harness.set_pod(&pod("q").cpu("2"));
    let used: Vec<_> = harness
        .decisions()
        .iter()
        .map(|decision| decision.candidates[0].load.cpu.used)
        .collect();
    assert_eq!(used, [Some(0.0), Some(2_000.0)]);
}

#[test]
fn the_load_of_all_nodes_can_be_looked_at_between_cycles() {
    let mut harness = Harness::start(&[node("a").cpu("8"), node("b").cpu("8")]);
    let samples = vec![sample(&harness, "b", 4)];
    harness.step(Event::Samples(samples));
    let snapshot = harness.engine.snapshot(Now::at(harness.now));
    let capacity: Vec<_> = snapshot
        .order()
        .iter()
        .map(|id| snapshot.load(*id).cpu.capacity)
        .collect();
    assert_eq!(capacity, [Some(8_000.0), Some(4_000.0)]);
}

#[test]
fn a_ghost_agent_does_not_make_a_node() {
    // Case WAT-A1.
    let mut harness = Harness::start(&[node("a"), node("ghost")]);
    harness.node_gone("ghost");
    let samples = vec![sample(&harness, "ghost", 8), sample(&harness, "a", 8)];
    harness.step(Event::Samples(samples));
    let stats = harness.stats();
    assert_eq!(stats.cache.nodes, 1);
    let counters = stats.counters;
    assert_eq!(
        (counters.samples_taken, counters.samples_unknown_node),
        (1, 1)
    );
}
