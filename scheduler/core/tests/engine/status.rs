//! Writes of conditions and nominations.

use std::time::Duration;

use plimsoll_core::{Event, FailureKind};
use plimsoll_framework::test_util::{node, pod};

use crate::harness::{Harness, with_condition};

/// One small node; status patches wait for the test's answer.
fn silent() -> Harness {
    let mut harness = Harness::new();
    harness.writes_status = false;
    harness.started(&[node("a").cpu("1")])
}

fn hopeless(name: &str) -> plimsoll_framework::test_util::PodBuilder {
    pod(name).cpu("2")
}

#[test]
fn a_condition_that_is_there_already_is_not_written_again() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    let message = harness.last_message();
    harness.set_node(&node("a").cpu("1").label("x", "y"));
    harness.set_node(&node("a").cpu("1500m"));
    assert_eq!(
        (harness.tries("p"), harness.patches().len()),
        (2, 1),
        "it is being written"
    );
    let written = with_condition(&hopeless("p"), "Unschedulable", &message);
    harness.step(Event::PodSet(written));
    harness.answer(harness.patches()[0].0, Ok(()));
    harness.pass_seconds(330);
    assert_eq!((harness.tries("p"), harness.patches().len()), (3, 1));
    assert_eq!(
        harness.events().len(),
        3,
        "an event is recorded for each attempt"
    );
}

#[test]
fn a_new_message_is_written() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    harness.answer(harness.patches()[0].0, Ok(()));
    harness.set_node(&node("b").cpu("1"));
    let expected = "p Unschedulable: 0/2 nodes are available: 2 Insufficient cpu.";
    assert_eq!(harness.patches()[1].1, expected);
}

#[test]
fn few_patches_are_open_at_a_time_and_the_rest_waits() {
    let mut harness = silent();
    for n in 0..20 {
        harness.set_pod(&hopeless(&format!("p{n}")));
    }
    assert_eq!(harness.patches().len(), 8);
    let in_flight = harness.stats().in_flight;
    assert_eq!((in_flight.status, in_flight.status_waiting), (8, 12));
    harness.answer(harness.patches()[0].0, Ok(()));
    assert_eq!(harness.patches().len(), 9);
}

#[test]
fn a_patch_that_met_429_or_an_outage_is_tried_again() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    let retry_after = Some(Duration::from_secs(5));
    harness.answer(
        harness.patches()[0].0,
        Err(FailureKind::TooManyRequests { retry_after }),
    );
    harness.pass(Duration::from_millis(4_999));
    assert_eq!(harness.patches().len(), 1);
    harness.pass_seconds(1);
    harness.answer(harness.patches()[1].0, Err(FailureKind::Unavailable));
    harness.pass_seconds(2);
    assert_eq!(harness.patches().len(), 3);
    assert_eq!(harness.stats().counters.status.retried, 2);
}

#[test]
fn a_patch_without_an_answer_is_tried_again() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    harness.pass_seconds(61);
    assert_eq!(harness.patches().len(), 2);
}

#[test]
fn a_patch_of_a_pod_that_is_gone_is_dropped() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    harness.pod_gone(&hopeless("p"));
    harness.answer(harness.patches()[0].0, Err(FailureKind::Unavailable));
    harness.set_pod(&hopeless("q"));
    harness.pass_seconds(1);
    harness.answer(harness.patches()[1].0, Err(FailureKind::NotFound));
    harness.pass_seconds(60);
    assert_eq!(harness.patches().len(), 2);
    let counters = harness.stats().counters.status;
    assert_eq!((counters.dropped, counters.written), (2, 0));
}

#[test]
fn a_pod_is_not_bound_while_its_condition_is_being_written() {
    let mut harness = silent();
    harness.set_pod(&hopeless("p"));
    harness.set_node(&node("b").cpu("4"));
    assert_eq!(harness.tries("p"), 2);
    assert!(
        harness.bound().is_empty(),
        "the condition would say that it is not bound"
    );
    harness.answer(harness.patches()[0].0, Err(FailureKind::Unavailable));
    assert_eq!(harness.bound(), ["p -> b"]);
    harness.pass_seconds(30);
    assert_eq!(
        harness.patches().len(),
        1,
        "not tried again: the pod has found a node"
    );
}

#[test]
fn a_nomination_that_came_to_nothing_is_cleared() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").nominated("a").label("permit", "rejects"));
    let expected = "p Unschedulable: 0/1 nodes are available: 1 not now. (nominated: none)";
    assert_eq!(harness.patches()[0].1, expected);
}
