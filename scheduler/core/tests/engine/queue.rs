//! Which pod is next, and what wakes a pod that found no node.

use std::time::Duration;

use plimsoll_core::{Event, QueueSizes};
use plimsoll_framework::test_util::{node, pod};
use plimsoll_objects::{ObjectKey, Uid};

use crate::harness::{Harness, NO_RESCUE, with_condition};

fn order(harness: &Harness) -> Vec<String> {
    harness
        .decisions()
        .iter()
        .map(|decision| decision.pod.key.name.to_string())
        .collect()
}

#[test]
fn a_higher_priority_goes_first_and_equals_in_the_order_they_came() {
    let mut harness = Harness::new();
    let pods = [("a", 0), ("b", 5), ("c", 0), ("d", 9), ("e", 5)];
    let pods = pods
        .iter()
        .map(|(name, priority)| pod(name).priority(*priority).arc());
    harness.step(Event::PodsListed(pods.collect()));
    harness.step(Event::NodesListed(vec![node("n").arc()]));
    harness.settle();
    assert_eq!(order(&harness), ["d", "b", "e", "a", "c"]);
}

#[test]
fn a_pod_of_an_unknown_scheduler_is_ignored_until_it_has_a_node() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("foreign").cpu("1").scheduler("somebody"));
    assert!(harness.decisions().is_empty());
    assert_eq!(harness.stats().cache.pods, 0);
    harness.set_pod(&pod("foreign").cpu("1").scheduler("somebody").on("a"));
    harness.set_pod(&pod("p").cpu("1"));
    assert!(harness.bound().is_empty());
}

#[test]
fn every_profile_schedules_its_own_pods() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").scheduler("other"));
    assert_eq!(&*harness.decisions()[0].scheduler_name, "other");
    harness.answer_bind("p", Ok(()));
    let attempts: Vec<_> = harness
        .stats()
        .attempts
        .iter()
        .map(|one| one.scheduled)
        .collect();
    assert_eq!(attempts, [0, 1]);
}

#[test]
fn a_gated_pod_costs_nothing_until_its_gate_is_gone() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").gate("quota"));
    harness.set_node(&node("b"));
    assert!(harness.said.is_empty());
    assert_eq!(
        harness.stats().queue,
        QueueSizes {
            gated: 1,
            ..QueueSizes::default()
        }
    );
    harness.set_pod(&pod("p"));
    assert_eq!(harness.bound().len(), 1);
    assert_eq!(harness.stats().queue, QueueSizes::default());
}

#[test]
fn gauges_return_to_zero_when_pods_leave_from_any_part_of_the_queue() {
    // Case OPS-A2.
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("gated").gate("quota"));
    harness.set_pod(&pod("large").cpu("2"));
    let sizes = harness.stats().queue;
    assert_eq!((sizes.gated, sizes.unschedulable), (1, 1));
    harness.pod_gone(&pod("gated"));
    harness.pod_gone(&pod("large"));
    assert_eq!(harness.stats().queue, QueueSizes::default());
    harness.pod_gone(&pod("large"));
    assert_eq!(harness.stats().queue, QueueSizes::default());
}

#[test]
fn a_deleted_pod_is_not_tried_again() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2"));
    harness.pod_gone(&pod("p"));
    harness.set_node(&node("b"));
    harness.pass_seconds(600);
    assert_eq!(harness.tries("p"), 1);
    assert!(harness.bound().is_empty());
}

#[test]
fn an_event_that_its_plugin_waits_for_wakes_a_pod() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("big").cpu("1").on("a"));
    harness.set_pod(&pod("p").cpu("1"));
    harness.set_node(&node("a").cpu("1").label("has", "gpu"));
    harness.pass_seconds(20);
    assert_eq!(
        harness.tries("p"),
        1,
        "labels do not help against missing cpu"
    );
    harness.pod_gone(&pod("big"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_plugin_that_registers_nothing_hears_of_everything() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p").label("only", "x"));
    assert_eq!(harness.tries("p"), 1);
    harness.set_pod(&pod("q").on("a"));
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn hopeless_pods_are_not_woken_by_events_they_do_not_wait_for() {
    // Case QUE-A1.
    let mut harness = Harness::start(&[node("a"), node("b")]);
    for n in 0..200 {
        harness.set_pod(
            &pod(&format!("hopeless{n}"))
                .priority(100)
                .label("needs", "moon"),
        );
    }
    let tries = harness.decisions().len();
    assert_eq!(tries, 200);
    for heartbeat in 0..400 {
        harness.set_node(&node("a").annotation("heartbeat", &heartbeat.to_string()));
        harness.pass(Duration::from_millis(50));
    }
    harness.set_pod(&pod("small"));
    assert_eq!(harness.bound().len(), 1);
    assert_eq!(harness.decisions().len(), tries + 1);
    assert_eq!(harness.stats().queue.unschedulable, 200);
}

#[test]
fn a_pod_that_no_event_wakes_is_looked_at_again_after_five_minutes() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2"));
    harness.pass_seconds(299);
    assert_eq!(harness.tries("p"), 1);
    harness.pass_seconds(31);
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn a_pod_is_looked_at_again_at_the_time_its_plugin_names() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("not-before", "100"));
    harness.pass_seconds(39);
    assert_eq!(harness.tries("p"), 1);
    harness.pass_seconds(1);
    assert_eq!(harness.bound(), ["p -> a"]);
    assert_eq!(harness.now, Duration::from_secs(100));
}

#[test]
fn a_rejected_pod_that_is_woken_while_it_rests_is_tried_at_once_if_nothing_else_waits() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2"));
    harness.set_node(&node("b").cpu("4"));
    assert_eq!(harness.bound(), ["p -> b"]);
    let incoming = harness.stats().incoming;
    let count = |queue: &str, event: &str| {
        let row = incoming
            .iter()
            .find(|row| row.queue == queue && row.event == event);
        row.map_or(0, |row| row.count)
    };
    assert_eq!(count("active", "UnscheduledPodAdd"), 1);
    assert_eq!(count("unschedulable", "ScheduleAttemptFailure"), 1);
    assert_eq!(count("backoff", "NodeAdd"), 1);
    assert_eq!(count("active", "PopFromBackoffQ"), 1);
}

#[test]
fn a_pod_that_failed_by_an_error_rests_longer_each_time() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p").label("odd", "filter-error"));
    let mut seconds = Vec::new();
    for second in 1..=30 {
        let before = harness.tries("p");
        harness.pass_seconds(1);
        seconds.extend((harness.tries("p") > before).then_some(second));
    }
    // 1, 2, 4, 8, 10 s of rest, each up to the end of its second.
    assert_eq!(seconds, [2, 5, 10, 19, 30]);
}

#[test]
fn a_cluster_without_nodes_is_tried_again_like_an_error() {
    let mut harness = Harness::start(&[]);
    harness.set_pod(&pod("p"));
    assert_eq!(harness.tries("p"), 1);
    harness.set_node(&node("a"));
    assert_eq!(harness.tries("p"), 1);
    harness.pass_seconds(2);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn our_own_status_writes_do_not_wake_a_pod() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").label("only", "x"));
    let message = harness.last_message();
    let written = with_condition(&pod("p").label("only", "x"), "Unschedulable", &message);
    harness.step(Event::PodSet(written));
    harness.pass_seconds(20);
    assert_eq!(harness.tries("p"), 1);
    // A change of the pod itself does, for a plugin that hears of everything.
    harness.set_pod(&pod("p").label("only", "a"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_pod_is_tried_as_it_is_now_not_as_it_was_when_queued() {
    let mut harness = Harness::new();
    harness.set_pod(&pod("p").cpu("9"));
    harness.set_pod(&pod("p").cpu("1"));
    let mut harness = harness.started(&[node("a").cpu("1")]);
    // The list does not name the pod: it is gone; then it comes back.
    harness.set_pod(&pod("p").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_recreated_pod_is_another_pod_even_if_its_deletion_was_not_seen() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").uid("1").cpu("2"));
    harness.set_pod(&pod("p").uid("2").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a"]);
    assert_eq!(harness.stats().queue, QueueSizes::default());
    // A late deletion of the first life does not touch the second.
    let (key, uid) = (ObjectKey::new("default", "p"), Uid("1".into()));
    harness.step(Event::PodGone { key, uid });
    assert_eq!(harness.stats().cache.assumed, 1);
}

#[test]
fn without_backoff_a_woken_pod_goes_straight_to_the_active_queue() {
    let extra = "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1";
    let mut harness = Harness::with(NO_RESCUE, extra).started(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2"));
    harness.pass_seconds(5);
    harness.set_node(&node("b").cpu("4"));
    let incoming = harness.stats().incoming;
    assert!(
        incoming
            .iter()
            .any(|row| row.queue == "active" && row.event == "NodeAdd")
    );
}
