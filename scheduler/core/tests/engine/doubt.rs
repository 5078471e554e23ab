//! A binding that is refused for good after an earlier request for it had no answer: it may
//! have been made, so the pod keeps its place until that is sure, or ten minutes are over.

use plimsoll_core::FailureKind::{
    self, Conflict, NotFound, Refused, TooManyRequests, Unavailable, Unknown,
};
use plimsoll_framework::test_util::{node, pod};

use crate::harness::Harness;

/// Longest rest between two questions, in seconds.
const REST: u64 = 10;
const TOLD: &str = "BindingInDoubt: running Bind plugin \"Binder\": the server says so; an earlier \
                    request may have been carried out";

/// `p` may be bound to `a`, where `q` has no room beside it.
fn in_doubt() -> Harness {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1"));
    harness.set_pod(&pod("q").cpu("1"));
    harness.answer_bind("p", Err(Unknown));
    harness.pass_seconds(REST);
    harness
        .said
        .retain(|command| !matches!(command, plimsoll_core::Command::PatchStatus { .. }));
    harness
}

impl Harness {
    /// Each question about `p` has this answer for so long; gives how many were asked.
    fn answers(&mut self, kind: FailureKind, seconds: u64) -> usize {
        let before = self.binds().len();
        for _ in 0..seconds / REST {
            if self.stats().in_flight.binds > 0 {
                self.answer_bind("p", Err(kind));
            }
            self.pass_seconds(REST);
        }
        self.binds().len() - before
    }

    fn told_of_doubt(&self) -> usize {
        let events = self.events();
        events.iter().filter(|event| **event == TOLD).count()
    }

    /// What was written to the status of `p` since the doubt began.
    fn said_of_p(&self) -> Vec<String> {
        let patches = self.patches().into_iter().map(|(_, text)| text);
        patches.filter(|text| text.starts_with("p ")).collect()
    }

    fn doubts_ended(&self) -> u64 {
        self.stats().counters.binds.doubt_ended
    }
}

#[test]
fn it_is_told_once_and_asked_again_and_the_pod_keeps_its_place() {
    let mut harness = in_doubt();
    let asked = harness.answers(Refused, 300);
    assert_eq!(asked, 30, "at the longest rest from the first one on");
    assert_eq!(harness.told_of_doubt(), 1, "{:?}", harness.events());
    assert!(harness.said_of_p().is_empty(), "{:?}", harness.patches());
    let stats = harness.stats();
    let binds = stats.counters.binds;
    assert_eq!((binds.in_doubt, binds.doubt_ended), (30, 0));
    assert_eq!(stats.cache.assumed, 1);
    assert!(harness.bound().iter().all(|bound| bound == "p -> a"));
}

#[test]
fn after_ten_minutes_of_refusals_the_room_is_given_back_and_the_pod_is_decided_anew() {
    let mut harness = in_doubt();
    harness.answers(Refused, 600);
    assert_eq!(harness.doubts_ended(), 0);
    harness.answer_bind("p", Err(Refused));
    assert_eq!(harness.doubts_ended(), 1);
    let expected = "p SchedulerError: running Bind plugin \"Binder\": the server says so";
    assert_eq!(harness.said_of_p(), [expected]);
    harness.pass_seconds(1);
    assert_eq!(
        harness.bound().last().map(String::as_str),
        Some("q -> a"),
        "the freed room wakes the other pod"
    );
    harness.pod_gone(&pod("q"));
    harness.answer_bind("q", Err(NotFound));
    harness.pass_seconds(REST);
    assert_eq!(harness.bound().last().map(String::as_str), Some("p -> a"));
    assert_eq!(harness.tries("p"), 2);
    // No doubt is left of it: a refusal now ends the attempt at once, without a word of doubt.
    harness.answer_bind("p", Err(Refused));
    assert_eq!((harness.told_of_doubt(), harness.doubts_ended()), (1, 1));
    assert_eq!(harness.stats().cache.assumed, 0);
}

#[test]
fn a_binding_that_was_made_all_the_same_is_found_when_the_pod_is_asked_about_elsewhere() {
    let mut harness = in_doubt();
    harness.set_node(&node("b").cpu("1").label("score", "9"));
    harness.answer_bind("q", Ok(()));
    harness.answers(Refused, 610);
    assert_eq!(harness.doubts_ended(), 1);
    harness.pass_seconds(REST);
    assert_eq!(harness.bound().last().map(String::as_str), Some("p -> a"));
    harness.answer_bind("p", Err(Conflict));
    harness.set_pod(&pod("p").cpu("1").on("a"));
    harness.pass_seconds(600);
    assert_eq!(harness.tries("p"), 2, "it has its node");
}

#[test]
fn an_answer_that_says_nothing_begins_the_ten_minutes_anew_and_a_429_does_not() {
    let throttled = TooManyRequests { retry_after: None };
    for (kind, ended) in [(Unknown, 0), (Unavailable, 0), (throttled, 1)] {
        let mut harness = in_doubt();
        harness.answers(Refused, 540);
        harness.answer_bind("p", Err(kind));
        harness.pass_seconds(REST);
        harness.answers(Refused, 120);
        assert_eq!(harness.doubts_ended(), ended, "{kind:?}");
        assert_eq!(harness.told_of_doubt(), 2 - ended as usize, "{kind:?}");
        harness.answers(Refused, 600);
        assert!(harness.doubts_ended() > 0, "{kind:?}");
    }
}

#[test]
fn a_clear_answer_ends_the_doubt() {
    for (answer, bound) in [(Ok(()), 1), (Err(Conflict), 0), (Err(NotFound), 0)] {
        let mut harness = in_doubt();
        harness.answers(Refused, 60);
        harness.answer_bind("p", answer);
        let binds = harness.stats().counters.binds;
        assert_eq!((binds.bound, binds.doubt_ended), (bound, 0), "{answer:?}");
        assert_eq!(harness.stats().counters.binds.in_doubt, 6, "{answer:?}");
    }
}

#[test]
fn the_watch_ends_the_doubt_with_the_node_or_with_the_pod() {
    let mut harness = in_doubt();
    harness.answers(Refused, 60);
    harness.answer_bind("p", Err(Refused));
    harness.set_pod(&pod("p").cpu("1").on("a"));
    let asked = harness.binds().len();
    harness.pass_seconds(60);
    assert_eq!(harness.binds().len(), asked, "not asked again");
    assert_eq!(harness.stats().counters.binds.bound, 1);

    let mut harness = in_doubt();
    harness.answers(Refused, 60);
    harness.answer_bind("p", Err(Refused));
    harness.pod_gone(&pod("p"));
    harness.pass_seconds(60);
    assert_eq!(harness.bound().last().map(String::as_str), Some("q -> a"));
    assert_eq!(harness.stats().counters.binds.pod_gone, 1);
}

#[test]
fn a_node_that_goes_does_not_end_the_doubt_and_the_pod_gets_another_one_after_it() {
    let mut harness = in_doubt();
    harness.answers(Refused, 60);
    harness.node_gone("a");
    assert_eq!(harness.stats().counters.binds.node_gone, 0);
    harness.answers(Refused, 560);
    assert_eq!(harness.doubts_ended(), 1);
    harness.set_node(&node("b").cpu("2"));
    harness.pass_seconds(REST);
    let mut bound = harness.bound().split_off(harness.binds().len() - 2);
    bound.sort_unstable();
    assert_eq!(bound, ["p -> b", "q -> b"]);
}

#[test]
fn each_change_of_a_bind_plugin_has_its_own_ten_minutes() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("bind", "annotates-thrice"));
    let answer = |harness: &mut Harness, answer| {
        let (id, _) = harness.effects().pop().expect("a change");
        harness.answer(id, answer);
        harness.pass_seconds(REST);
    };
    answer(&mut harness, Ok(()));
    for _ in 0..55 {
        answer(&mut harness, Err(Refused));
    }
    answer(&mut harness, Ok(()));
    for _ in 0..55 {
        answer(&mut harness, Err(Refused));
    }
    assert_eq!((harness.doubts_ended(), harness.told_of_doubt()), (0, 2));
    answer(&mut harness, Ok(()));
    assert_eq!(harness.stats().counters.binds.bound, 1);
}
