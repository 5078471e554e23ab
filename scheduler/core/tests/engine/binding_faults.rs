//! An API server that answers 409, 404, 429, 5xx or not at all; pods and nodes that go away
//! between decision and binding. Each has its outcome, its counter and its message.

use std::time::Duration;

use plimsoll_core::FailureKind::{
    self, Conflict, NotFound, Refused, TooManyRequests, Unavailable, Unknown,
};
use plimsoll_framework::test_util::{node, pod};

use crate::fakes;
use crate::harness::Harness;

/// A node with room for one pod, which is being bound; another pod waits for the room.
fn asked() -> Harness {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1"));
    harness.set_pod(&pod("q").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a"]);
    harness.forget_patches();
    fakes::log();
    harness
}

impl Harness {
    fn forget_patches(&mut self) {
        let is_patch =
            |c: &plimsoll_core::Command| matches!(c, plimsoll_core::Command::PatchStatus { .. });
        self.said.retain(|command| !is_patch(command));
    }

    fn fails(&mut self, kind: FailureKind) {
        self.answer_bind("p", Err(kind));
    }
}

#[test]
fn a_server_error_gives_the_room_back_and_the_pod_is_decided_anew_after_a_rest() {
    for kind in [Unavailable, Refused] {
        let mut harness = asked();
        harness.fails(kind);
        let undone: Vec<_> = fakes::log()
            .into_iter()
            .filter(|line| line.contains("unreserve"))
            .collect();
        assert_eq!(undone, ["Second unreserve a", "Book unreserve a"]);
        let expected = "p SchedulerError: running Bind plugin \"Binder\": the server says so";
        assert_eq!(harness.patches()[0].1, expected);
        harness.pass_seconds(1);
        assert_eq!(
            harness.bound(),
            ["p -> a", "q -> a"],
            "the freed room wakes the other pod"
        );
        harness.answer_bind("q", Ok(()));
        harness.pod_gone(&pod("q"));
        harness.pass_seconds(3);
        assert_eq!(harness.bound().last().map(String::as_str), Some("p -> a"));
        let binds = harness.stats().counters.binds;
        assert_eq!(binds.unavailable + binds.refused, 1);
    }
}

#[test]
fn too_many_requests_keeps_the_decision_and_asks_again_when_the_server_allows_it() {
    let mut harness = asked();
    harness.fails(TooManyRequests {
        retry_after: Some(Duration::from_secs(3)),
    });
    harness.pass(Duration::from_millis(2_999));
    assert_eq!(harness.bound().len(), 1);
    harness.pass_seconds(1);
    assert_eq!(harness.bound(), ["p -> a", "p -> a"]);
    assert!(harness.patches().is_empty(), "not a failed attempt");
    assert_eq!(harness.stats().counters.binds.throttled, 1);
    harness.answer_bind("p", Ok(()));
    assert_eq!(harness.stats().counters.binds.bound, 1);
}

#[test]
fn a_decision_that_waited_for_too_long_is_made_anew() {
    let mut harness = asked();
    for _ in 0..7 {
        harness.fails(TooManyRequests {
            retry_after: Some(Duration::from_secs(10)),
        });
        harness.pass_seconds(10);
    }
    assert_eq!(harness.stats().counters.binds.stale, 1);
    assert!(
        harness.patches()[0]
            .1
            .contains("the decision became too old")
    );
}

#[test]
fn no_answer_means_that_the_same_question_is_asked_again_and_the_pod_keeps_its_place() {
    let mut harness = asked();
    for _ in 0..3 {
        harness.fails(Unknown);
        harness.pass_seconds(5);
    }
    assert_eq!(harness.bound(), ["p -> a"; 4]);
    assert_eq!(harness.stats().counters.binds.unknown, 3);
    harness.answer_bind("p", Ok(()));
    assert_eq!(harness.stats().counters.binds.bound, 1);
    assert_eq!(
        harness.events().last().map(String::as_str),
        Some("Scheduled: Successfully assigned default/p to a")
    );
}

#[test]
fn an_answer_that_never_comes_counts_as_none() {
    let mut harness = asked();
    harness.pass_seconds(62);
    assert_eq!(harness.bound(), ["p -> a", "p -> a"]);
    let first = harness.binds()[0].0;
    harness.answer(first, Ok(()));
    assert_eq!(harness.stats().counters.late_answers, 1);
    assert_eq!(
        harness.stats().counters.binds.bound,
        0,
        "the second question is open"
    );
    harness.answer_bind("p", Ok(()));
    assert_eq!(harness.stats().counters.binds.bound, 1);
}

#[test]
fn once_a_binding_may_have_been_made_only_a_clear_answer_ends_it() {
    let mut harness = asked();
    for kind in [
        Unknown,
        Unavailable,
        Refused,
        TooManyRequests { retry_after: None },
    ] {
        harness.fails(kind);
        harness.pass_seconds(10);
    }
    assert_eq!(harness.bound(), ["p -> a"; 5]);
    harness.pass_seconds(100);
    assert!(
        harness
            .patches()
            .iter()
            .all(|(_, text)| !text.starts_with('p'))
    );
    harness.answer_bind("p", Err(Conflict));
    assert_eq!(
        harness.stats().cache.assumed,
        1,
        "the room went to the other pod"
    );
}

#[test]
fn the_watch_ends_the_doubt() {
    let mut harness = asked();
    harness.fails(Unknown);
    harness.set_pod(&pod("p").cpu("1").on("a"));
    harness.pass_seconds(30);
    assert_eq!(harness.bound(), ["p -> a"], "not asked again");
    assert_eq!(harness.stats().counters.binds.bound, 1);
}

#[test]
fn a_conflict_is_not_written_to_the_pod_and_the_watch_says_what_became_of_it() {
    for kind in [Conflict, NotFound] {
        let mut harness = asked();
        harness.fails(kind);
        let about_p = |(_, text): &(_, String)| text.starts_with('p');
        assert!(!harness.patches().iter().any(about_p));
        harness.set_pod(&pod("p").cpu("1").on("elsewhere"));
        harness.pass_seconds(60);
        assert_eq!(harness.tries("p"), 1);
        let binds = harness.stats().counters.binds;
        assert_eq!(binds.conflict + binds.not_found, 1);
    }
}

#[test]
fn a_conflict_about_a_pod_that_still_waits_is_decided_anew_after_a_rest() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p"));
    harness.fails(Conflict);
    assert_eq!(harness.tries("p"), 1);
    harness.pass_seconds(2);
    assert_eq!(harness.bound(), ["p -> a", "p -> a"]);
}

#[test]
fn a_conflict_with_an_earlier_life_lets_the_new_one_be() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").uid("1"));
    harness.set_pod(&pod("p").uid("2"));
    assert_eq!(harness.binds().len(), 2);
    harness.answer(harness.binds()[0].0, Err(Conflict));
    harness.answer(harness.binds()[1].0, Ok(()));
    harness.pass_seconds(30);
    let binds = harness.stats().counters.binds;
    assert_eq!(
        (binds.bound, binds.pod_gone, harness.binds().len()),
        (1, 1, 2)
    );
}

#[test]
fn a_pod_deleted_while_the_question_is_open_is_let_go_with_the_answer() {
    for answer in [Ok(()), Err(NotFound), Err(Unknown), Err(Unavailable)] {
        let mut harness = asked();
        harness.pod_gone(&pod("p"));
        assert_eq!(harness.stats().cache.assumed, 1);
        harness.answer_bind("p", answer);
        harness.pass_seconds(10);
        assert_eq!(harness.bound(), ["p -> a", "q -> a"]);
        assert_eq!(harness.stats().counters.binds.pod_gone, 1);
        assert_eq!(harness.tries("p"), 1);
    }
}

#[test]
fn a_pod_that_begins_to_be_deleted_before_the_question_is_not_asked_about() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1").label("pre-bind", "waits"));
    harness.set_pod(
        &pod("p")
            .cpu("1")
            .label("pre-bind", "waits")
            .deleted("2026-01-31T12:00:00Z"),
    );
    harness.pass_seconds(200);
    assert!(harness.binds().is_empty());
    assert_eq!(harness.stats().counters.binds.pod_gone, 1);
    assert_eq!(harness.stats().cache.pods, 0);
}

#[test]
fn a_node_deleted_before_the_question_takes_its_pods_out_of_binding() {
    let mut harness = Harness::start(&[node("a").cpu("1").label("score", "1")]);
    harness.set_pod(&pod("p").cpu("1").label("pre-bind", "waits"));
    harness.node_gone("a");
    let expected = "p SchedulerError: node \"a\" was deleted before the pod was bound \
                    (nominated: none)";
    assert_eq!(harness.patches()[1].1, expected);
    assert_eq!(harness.stats().counters.binds.node_gone, 1);
    harness.set_node(&node("b").cpu("1"));
    harness.pass_seconds(3);
    harness.pass_seconds(100);
    assert_eq!(harness.bound(), ["p -> b"]);
}

#[test]
fn a_node_deleted_while_the_question_is_open_leaves_the_answer_to_the_server() {
    let mut harness = asked();
    harness.node_gone("a");
    harness.answer_bind("p", Ok(()));
    let stats = harness.stats();
    assert_eq!((stats.counters.binds.bound, stats.cache.orphans), (1, 1));
    harness.pod_gone(&pod("p"));
    assert_eq!(harness.stats().cache.orphans, 0);
}

#[test]
fn a_pod_bound_by_another_hand_is_not_bound_again() {
    let mut harness = Harness::start(&[node("a").label("score", "1"), node("b")]);
    harness.set_pod(&pod("p").label("pre-bind", "waits"));
    harness.set_pod(&pod("p").label("pre-bind", "waits").on("b"));
    harness.pass_seconds(200);
    assert!(harness.binds().is_empty());
    assert_eq!(harness.stats().counters.binds.bound_elsewhere, 1);
    assert_eq!(harness.stats().cache.assumed, 0);
}

#[test]
fn an_outage_does_not_become_a_storm_of_requests() {
    let mut harness = Harness::start(&[node("a")]);
    for n in 0..300 {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    let mut answered = 0;
    for _ in 0..300 {
        while let Some((id, _, _)) = harness.binds().get(answered).cloned() {
            answered += 1;
            harness.answer(id, Err(Unavailable));
        }
        harness.pass(Duration::from_millis(100));
    }
    assert!(
        harness.binds().len() < 60,
        "{} requests in 30 s",
        harness.binds().len()
    );
}
