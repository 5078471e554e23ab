//! Clocks that people set, profiles that are gone: the outcome is stated here.

use std::time::Duration;

use jiff::Timestamp;
use plimsoll_core::{Command, Event, Outcome};
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{node, pod};

use crate::harness::Harness;

const HOUR_SECONDS: i64 = 3_600;

/// Twenty minutes of pods that fail by a rejection, by an error and by a gate, with a wall
/// clock that is ahead by so many hours at each step; gives when each pod was tried.
fn tried(hours_ahead: impl Fn(usize) -> i64) -> Vec<String> {
    let mut harness = Harness::new();
    let mut told = Vec::new();
    let mut now = Duration::from_mins(1);
    let end = now + Duration::from_mins(20);
    let mut events = vec![
        Event::NodesListed(vec![node("a").cpu("1").arc(), node("b").cpu("1").arc()]),
        Event::PodsListed(vec![
            pod("large").cpu("2").arc(),
            pod("odd").label("odd", "filter-error").arc(),
            pod("later").label("not-before", "500").arc(),
            pod("gated").gate("quota").arc(),
        ]),
        Event::NodeSet(node("b").cpu("1").label("x", "y").arc()),
    ];
    events.reverse();
    let mut steps = 0;
    while now <= end {
        let wall = Timestamp::from_second(now.as_secs() as i64 + hours_ahead(steps) * HOUR_SECONDS);
        let wall = wall.expect("a time that there is");
        let event = events.pop().unwrap_or(Event::Tick);
        steps += 1;
        for command in harness.engine.step(Now { mono: now, wall }, event) {
            if let Command::Decided(decision) = command {
                let chosen = matches!(decision.outcome, Outcome::Chosen { .. });
                told.push(format!("{now:?} {} {chosen}", decision.pod.key.name));
            }
        }
        if events.is_empty() {
            let next = harness.engine.next_wakeup();
            now = next.map_or(end + Duration::from_secs(1), |at| at.max(now));
        }
        assert!(steps < 10_000, "the engine runs in circles: {told:?}");
    }
    told
}

#[test]
fn a_wall_clock_that_jumps_by_hours_disturbs_no_rest_and_no_flush() {
    let steady = tried(|_| 0);
    let of = |name: &str| steady.iter().filter(|line| line.contains(name)).count();
    assert_eq!((of("large"), of("gated")), (4, 0), "{steady:?}");
    assert!(of("odd") > 50 && of("later") == 3, "{steady:?}");
    assert_eq!(tried(|step| if step % 2 == 0 { 5 } else { -7 }), steady);
    assert_eq!(tried(|step| step as i64), steady, "ever faster");
}

#[test]
fn pods_of_a_profile_that_the_new_file_does_not_have_wait_untouched() {
    // They were turned down and promised a node by the scheduler before the restart.
    let left = pod("left")
        .scheduler("gone")
        .cpu("1")
        .priority(9)
        .nominated("a");
    let mut harness = Harness::new().started(&[node("a").cpu("1")]);
    harness.set_pod(&left);
    harness.pass_seconds(600);
    harness.set_pod(&left.clone().label("a", "b"));
    assert!(harness.said.is_empty(), "{:?}", harness.said);
    assert_eq!(harness.stats().queue, plimsoll_core::QueueSizes::default());
    // What they were promised holds nobody up, as in kube-scheduler.
    harness.set_pod(&pod("p").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a"]);
    // One that has a node counts there, whoever placed it.
    harness.set_pod(&left.on("a"));
    harness.set_pod(&pod("q").cpu("1"));
    assert_eq!(harness.bound().len(), 1);
}
