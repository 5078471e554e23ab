//! From a reserved node to a bound pod, when all goes well.

use plimsoll_core::{Command, EngineOptions, FailureKind};
use plimsoll_framework::test_util::{node, pod};

use crate::fakes;
use crate::harness::{Harness, NO_RESCUE};

#[test]
fn a_bound_pod_is_announced_and_its_plugins_are_told() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p"));
    fakes::log();
    harness.answer_bind("p", Ok(()));
    assert_eq!(
        harness.events(),
        ["Scheduled: Successfully assigned default/p to a"]
    );
    assert_eq!(fakes::log(), ["bound p a"]);
    let stats = harness.stats();
    assert_eq!(
        (stats.counters.binds.bound, stats.attempts[0].scheduled),
        (1, 1)
    );
    assert_eq!(stats.cache.assumed, 1, "until the watch shows it");
    harness.set_pod(&pod("p").on("a"));
    assert_eq!(harness.stats().cache.assumed, 0);
}

#[test]
fn the_watch_may_be_faster_than_the_answer() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p"));
    harness.set_pod(&pod("p").on("a"));
    assert!(harness.events().is_empty());
    harness.answer_bind("p", Ok(()));
    assert_eq!(harness.stats().counters.binds.bound, 1);
}

#[test]
fn effects_of_a_pre_bind_are_made_one_after_the_other_before_the_binding() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("pre-bind", "annotates"));
    assert_eq!((harness.effects().len(), harness.binds().len()), (1, 0));
    harness.answer(harness.effects()[0].0, Ok(()));
    assert_eq!((harness.effects().len(), harness.binds().len()), (2, 0));
    harness.answer(harness.effects()[1].0, Ok(()));
    assert_eq!((harness.effects().len(), harness.binds().len()), (2, 1));
}

#[test]
fn an_effect_that_fails_fails_the_binding() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("pre-bind", "annotates"));
    harness.answer(harness.effects()[0].0, Err(FailureKind::Refused));
    let expected = "p SchedulerError: running PreBind plugin \"Book\": the server says so \
                    (nominated: none)";
    assert_eq!(harness.patches()[0].1, "p (nominated: a)");
    assert_eq!(harness.patches()[1].1, expected);
    assert!(harness.binds().is_empty());
    assert_eq!(harness.stats().cache.assumed, 0);
}

#[test]
fn a_pre_bind_that_waits_goes_on_after_its_event_and_holds_no_request() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("pre-bind", "waits"));
    let in_flight = harness.stats().in_flight;
    assert_eq!((in_flight.pre_bind, in_flight.binds), (1, 0));
    harness.pass_seconds(50);
    assert!(harness.binds().is_empty());
    harness.set_node(&node("b"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_pre_bind_that_waits_goes_on_at_its_deadline() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("pre-bind", "waits"));
    harness.pass_seconds(100);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_pre_bind_that_rejects_is_a_scheduler_error() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("pre-bind", "error"));
    let expected = "p SchedulerError: running PreBind plugin \"Book\": broken";
    assert_eq!(harness.patches()[0].1, expected);
}

#[test]
fn a_bind_plugin_can_bind_by_changes_of_its_own() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("bind", "annotates"));
    assert!(harness.binds().is_empty());
    harness.answer(harness.effects()[0].0, Ok(()));
    assert_eq!(
        harness.events(),
        ["Scheduled: Successfully assigned default/p to a"]
    );
}

#[test]
fn a_pod_that_every_bind_plugin_skips_is_said_so() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("bind", "skips"));
    let expected = "p SchedulerError: every Bind plugin skipped the pod";
    assert_eq!(harness.patches()[0].1, expected);
}

#[test]
fn requests_in_flight_are_bounded_and_the_bound_grows_while_all_is_well() {
    let options = EngineOptions {
        min_binds_in_flight: 2,
        ..EngineOptions::default()
    };
    let mut harness = Harness::with_options(NO_RESCUE, "", options).started(&[node("a")]);
    for n in 0..10 {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    assert_eq!(harness.binds().len(), 2);
    harness.answer(harness.binds()[0].0, Ok(()));
    assert_eq!(harness.binds().len(), 4);
    assert_eq!(harness.stats().in_flight.bind_limit, 3);
}

#[test]
fn the_cycle_pauses_while_too_many_decided_pods_wait_for_a_request() {
    let mut harness = Harness::start(&[node("a")]);
    for n in 0..200 {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    let decided = harness.decisions().len();
    assert_eq!(decided, 4 + 65, "in flight, and one more than 64 in line");
    assert_eq!(harness.stats().queue.active, 200 - decided);
    while let Some(id) = open_bind(&harness) {
        harness.answer(id, Ok(()));
    }
    assert_eq!(harness.stats().counters.binds.bound, 200);
}

fn open_bind(harness: &Harness) -> Option<plimsoll_core::CommandId> {
    let done = harness.stats().counters.binds.bound as usize;
    let mut binds = harness.said.iter().filter_map(|command| match command {
        Command::Bind { id, .. } => Some(*id),
        _ => None,
    });
    binds.nth(done)
}
