//! `PostFilter` outcomes: nominations, victims, another try.

use plimsoll_core::{Command, FailureKind};
use plimsoll_framework::test_util::{node, pod};

use crate::fakes;
use crate::harness::{ALL, Harness};

fn crowded() -> Harness {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("1")]);
    harness.set_pod(&pod("victim").cpu("1").on("a"));
    harness.set_pod(&pod("p").cpu("1").label("rescue", "yes"));
    harness
}

#[test]
fn victims_are_deleted_and_the_pod_is_nominated() {
    let harness = crowded();
    assert_eq!(
        fakes::log().last().map(String::as_str),
        Some("rescue with 1 verdicts")
    );
    let expected = "p Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. \
                    rescue: found a place (nominated: a)";
    assert_eq!(harness.patches()[0].1, expected);
    let deleted = harness.said.iter().any(|command| {
        matches!(command, Command::Evict { pod, message, .. }
            if *pod.key.name == *"victim" && *pod.uid.0 == *"default/victim"
                && message == "default-scheduler: preempting to accommodate a higher priority pod")
    });
    assert!(deleted, "{:?}", harness.said);
    assert_eq!(harness.stats().counters.preemption_victims, 1);
}

#[test]
fn the_pod_comes_back_when_its_victim_is_gone_and_its_place_is_kept_meanwhile() {
    let mut harness = crowded();
    harness.pod_gone(&pod("victim"));
    harness.set_pod(&pod("q").cpu("1"));
    harness.pass_seconds(3);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn an_eviction_that_fails_brings_the_pod_back() {
    let mut harness = crowded();
    harness.answer(harness.effects()[0].0, Err(FailureKind::Unavailable));
    assert_eq!(harness.stats().counters.evictions_failed, 1);
    harness.pass_seconds(3);
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn a_retry_brings_the_pod_back_after_its_rest() {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2").label("rescue", "retry"));
    assert_eq!(harness.tries("p"), 1);
    harness.pass_seconds(3);
    assert_eq!(harness.tries("p"), 2);
}

#[test]
fn a_retry_or_a_withdrawal_does_not_keep_the_next_plugin_from_helping() {
    for first in ["retry", "withdraw"] {
        let mut harness = Harness::with(&format!("{ALL} Last"), "").started(&[node("a").cpu("1")]);
        harness.set_pod(&pod("victim").cpu("1").on("a"));
        let pod = pod("p")
            .cpu("1")
            .label("rescue", first)
            .label("last", "yes");
        harness.set_pod(&pod);
        assert!(
            harness
                .last_message()
                .ends_with("cpu. rescue: found a place")
        );
        assert!(harness.patches()[0].1.ends_with("(nominated: a)"));
    }
}

#[test]
fn reasons_of_all_plugins_that_cannot_help_are_told_and_a_promise_is_withdrawn() {
    let mut harness = Harness::with(&format!("{ALL} Last"), "").started(&[node("a").cpu("1")]);
    let waits = pod("p")
        .cpu("2")
        .label("rescue", "retry")
        .label("last", "withdraw");
    harness.set_pod(&waits.nominated("a"));
    let expected = "p Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. \
                    rescue: freed a claim, rescue: no candidates (nominated: none)";
    assert_eq!(harness.patches()[0].1, expected);
}
