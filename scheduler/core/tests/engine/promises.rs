//! Room that was promised to a pod and is free again: whoever stayed out of it is woken.

use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::{ALL, Harness};

/// A gated pod keeps its promise without taking the node.
fn vip() -> PodBuilder {
    pod("vip").cpu("1").priority(5).gate("wait")
}

/// One node, promised to a pod of higher priority; another pod stays out of it.
fn promised() -> Harness {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&vip().nominated("a"));
    harness.set_pod(&pod("p").cpu("1"));
    assert!(harness.bound().is_empty());
    harness
}

#[test]
fn a_promise_that_is_withdrawn_wakes_those_that_left_room() {
    let mut harness = promised();
    harness.set_pod(&vip());
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_promise_that_moves_wakes_those_that_left_room() {
    let mut harness = promised();
    harness.set_pod(&vip().nominated("b"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_promised_pod_that_goes_wakes_those_that_left_room() {
    let mut harness = promised();
    harness.pod_gone(&vip());
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_promised_pod_that_another_hand_binds_elsewhere_wakes_those_that_left_room() {
    let mut harness = promised();
    harness.set_pod(&vip().nominated("a").on("b"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_promise_that_the_watch_never_showed_wakes_too_when_its_pod_goes() {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("2")]);
    harness.set_pod(&pod("old").cpu("1").on("a"));
    let preemptor = pod("vip").cpu("2").priority(5).label("rescue", "yes");
    harness.set_pod(&preemptor);
    harness.set_pod(&pod("p").cpu("1"));
    assert!(harness.bound().is_empty());
    harness.pod_gone(&preemptor);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_promised_pod_that_finds_another_node_wakes_those_that_left_room() {
    let nodes = [node("a").cpu("2").label("has", "y"), node("b").cpu("2")];
    let mut harness = Harness::with(ALL, "").started(&nodes);
    harness.set_pod(&pod("old").cpu("1").on("a"));
    let preemptor = pod("vip").cpu("2").priority(5).label("rescue", "yes");
    harness.set_pod(&preemptor.clone().label("only", "a"));
    harness.set_pod(&pod("p").cpu("1").label("needs", "y"));
    assert!(harness.bound().is_empty());
    harness.set_pod(&preemptor);
    assert_eq!(harness.bound(), ["vip -> b", "p -> a"]);
}
