//! An engine that does not lead yet: it takes everything in and asks for nothing.

use plimsoll_core::{EngineOptions, Event};
use plimsoll_framework::test_util::{node, pod};

use crate::harness::{Harness, NO_RESCUE};

fn standby(plugins: &str) -> Harness {
    let options = EngineOptions {
        leads: false,
        ..EngineOptions::default()
    };
    Harness::with_options(plugins, "", options).started(&[node("a").cpu("4")])
}

#[test]
fn pods_wait_until_it_leads_and_are_placed_in_the_same_step_then() {
    let mut harness = standby(NO_RESCUE);
    harness.set_pod(&pod("taken").cpu("3").on("a"));
    harness.set_pod(&pod("web").cpu("1"));
    harness.set_pod(&pod("huge").cpu("64"));
    harness.pass_seconds(600);
    assert!(harness.said.is_empty(), "{:?}", harness.said);
    assert_eq!(harness.engine.next_wakeup(), None);
    let stats = harness.stats();
    assert_eq!((stats.queue.active, stats.cache.pods), (2, 1), "{stats:?}");

    let said = harness.step(Event::LeadingBegan);
    assert!(!said.is_empty(), "the first pod is decided on at once");
    harness.settle();
    assert_eq!(harness.bound(), ["web -> a"]);
    assert_eq!(harness.stats().queue.unschedulable, 1);
}

#[test]
fn a_pod_that_the_leader_places_meanwhile_leaves_the_queue() {
    let mut harness = standby(NO_RESCUE);
    harness.set_pod(&pod("web").cpu("1"));
    harness.set_pod(&pod("web").cpu("1").on("a"));
    harness.step(Event::LeadingBegan);
    harness.settle();
    assert!(harness.said.is_empty(), "{:?}", harness.said);
    assert_eq!(harness.stats().cache.pods, 1);
}

#[test]
fn a_group_that_waits_for_members_is_told_so_by_the_leader_alone() {
    let mut harness = standby("Sort Gates Gang Fit Apart Label Book Second Hold Binder");
    let member = pod("g0")
        .cpu("1")
        .label("gang", "g")
        .label("gang-size", "4");
    harness.set_pod(&member);
    harness.pass_seconds(600);
    assert!(harness.said.is_empty(), "{:?}", harness.said);
    harness.step(Event::LeadingBegan);
    harness.pass_seconds(2);
    assert!(!harness.patches().is_empty());
}
