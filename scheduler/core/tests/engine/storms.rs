//! Things that feed themselves: pods that wake each other, writes to a server that says no,
//! times that have passed. The engine must come to rest, and soon.

use std::time::Duration;

use plimsoll_core::{Event, FailureKind};
use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::Harness;

const YEAR: Duration = Duration::from_hours(24 * 365);

/// One small node, and so many pods that fit nowhere; status patches wait for the test's
/// answer.
fn hopeless(count: usize) -> Harness {
    let mut harness = Harness::new();
    harness.writes_status = false;
    let mut harness = harness.started(&[node("a").cpu("1")]);
    for n in 0..count {
        harness.set_pod(&pod(&format!("p{n}")).cpu("2"));
    }
    harness
}

fn throttled(pause: Duration) -> FailureKind {
    FailureKind::TooManyRequests {
        retry_after: Some(pause),
    }
}

#[test]
fn pods_turned_down_in_reserve_do_not_wake_each_other_for_ever() {
    let mut harness = Harness::start(&[node("a")]);
    let taken = |name: &str| -> PodBuilder { pod(name).label("reserve", "rejects") };
    harness.set_pod(&taken("p"));
    harness.set_pod(&taken("q"));
    harness.pass_seconds(60);
    assert!(
        harness.decisions().len() <= 4,
        "{}",
        harness.decisions().len()
    );
}

#[test]
fn a_server_that_throttles_one_status_patch_gets_no_other_until_the_pause_is_over() {
    let mut harness = hopeless(30);
    let first = harness.patches();
    assert_eq!(first.len(), 8);
    for (id, _) in first {
        harness.answer(id, Err(throttled(Duration::from_secs(5))));
    }
    assert_eq!(harness.patches().len(), 8, "the server asked for a pause");
    harness.pass_seconds(4);
    assert_eq!(harness.patches().len(), 8);
    harness.pass_seconds(2);
    assert_eq!(harness.patches().len(), 16);
}

#[test]
fn a_server_that_is_away_is_not_asked_for_the_status_of_every_pod() {
    let mut harness = hopeless(100);
    let mut answered = 0;
    for _ in 0..100 {
        let open: Vec<_> = harness.patches().split_off(answered);
        answered += open.len();
        for (id, _) in open {
            harness.answer(id, Err(FailureKind::Unavailable));
        }
        harness.pass(Duration::from_millis(100));
    }
    assert!(harness.patches().len() < 100, "{}", harness.patches().len());
}

#[test]
fn a_pause_of_a_year_holds_a_status_patch_up_for_a_minute() {
    let mut harness = hopeless(1);
    harness.answer(harness.patches()[0].0, Err(throttled(YEAR)));
    harness.pass_seconds(61);
    assert_eq!(harness.patches().len(), 2);
}

#[test]
fn a_gate_that_names_a_time_long_past_does_not_make_a_tight_loop() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").gate("quota").label("gate-until", "1"));
    harness.pass_seconds(10);
    let steps = harness.engine.next_wakeup();
    assert!(steps.is_some_and(|at| at > harness.now));
    harness.step(Event::PodSet(pod("p").arc()));
    harness.settle();
    assert_eq!(harness.bound(), ["p -> a"]);
}
