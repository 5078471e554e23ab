//! Reserve and Permit: waits, releases, time-outs, rejections.

use plimsoll_core::Outcome;
use plimsoll_framework::test_util::{node, pod};

use crate::fakes;
use crate::harness::Harness;

fn books() -> Vec<String> {
    fakes::log()
        .into_iter()
        .filter(|line| line.contains("reserve"))
        .collect()
}

#[test]
fn a_pod_that_waits_holds_its_node_and_no_request() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1").label("hold", "30"));
    harness.set_pod(&pod("q").cpu("1"));
    assert!(harness.bound().is_empty());
    let in_flight = harness.stats().in_flight;
    assert_eq!(
        (in_flight.permit, in_flight.binds, in_flight.ready),
        (1, 0, 0)
    );
}

#[test]
fn another_pod_can_let_it_go() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("hold", "30"));
    harness.set_pod(&pod("q").label("releases", "default_p"));
    assert!(fakes::log().contains(&"waiting [p]".to_owned()));
    assert_eq!(harness.bound(), ["q -> a", "p -> a"]);
}

#[test]
fn another_pod_can_turn_it_down() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("hold", "30"));
    harness.set_pod(&pod("q").label("turns-down", "default_p"));
    assert_eq!(harness.bound(), ["q -> a"]);
    assert_eq!(harness.patches()[0].1, "p (nominated: a)");
    assert_eq!(
        harness.patches()[1].1,
        "p Unschedulable: 0/1 nodes are available: 1 no. (nominated: none)"
    );
}

#[test]
fn only_pods_of_the_same_profile_are_shown_and_let_go() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("hold", "30"));
    harness.set_pod(&pod("q").scheduler("other").label("releases", "default_p"));
    assert!(fakes::log().contains(&"waiting []".to_owned()));
    assert_eq!(harness.bound(), ["q -> a"]);
}

#[test]
fn a_wait_that_runs_out_of_time_frees_everything() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1").label("hold", "90"));
    fakes::log();
    harness.set_pod(&pod("q").cpu("1"));
    harness.pass_seconds(89);
    assert_eq!(harness.patches()[0].1, "p (nominated: a)");
    assert!(
        harness
            .patches()
            .iter()
            .skip(1)
            .all(|(_, text)| text.starts_with('q'))
    );
    harness.pass_seconds(1);
    assert_eq!(
        books(),
        ["Second unreserve a", "Book unreserve a"]
            .map(String::from)
            .to_vec()
            .into_iter()
            .chain(["Book reserve", "Second reserve"].map(String::from))
            .collect::<Vec<_>>()
    );
    let expected = "p Unschedulable: 0/1 nodes are available: \
                    1 rejected due to timeout after waiting 1m30s at plugin Hold. (nominated: none)";
    assert!(
        harness.patches().iter().any(|(_, text)| text == expected),
        "{:?}",
        harness.patches()
    );
    assert_eq!(harness.stats().counters.binds.permit_timeouts, 1);
    assert_eq!(harness.bound(), ["q -> a"]);
}

#[test]
fn no_wait_is_longer_than_fifteen_minutes() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1").label("hold", "100000"));
    harness.pass_seconds(15 * 60 - 1);
    assert_eq!(harness.stats().in_flight.permit, 1);
    harness.pass_seconds(1);
    assert_eq!(harness.stats().counters.binds.permit_timeouts, 1);
}

#[test]
fn a_rejection_by_permit_unreserves_in_reverse_order_and_speaks_for_one_node() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p").label("permit", "rejects").label("only", "a"));
    let expected = [
        "Book reserve",
        "Second reserve",
        "Second unreserve a",
        "Book unreserve a",
    ];
    assert_eq!(books(), expected);
    let message = "0/1 nodes are available: 1 not now.";
    assert_eq!(
        harness.patches()[0].1,
        format!("p Unschedulable: {message}")
    );
    let outcome = &harness.decisions()[0].outcome;
    assert_eq!(
        *outcome,
        Outcome::Unschedulable {
            message: message.into()
        }
    );
    assert_eq!(harness.stats().cache.assumed, 0);
}

#[test]
fn a_rejection_by_reserve_unreserves_every_plugin() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("reserve", "rejects"));
    let expected = [
        "Book reserve",
        "Second reserve",
        "Second unreserve a",
        "Book unreserve a",
    ];
    assert_eq!(books(), expected);
    assert_eq!(harness.last_message(), "0/1 nodes are available: 1 taken.");
}

#[test]
fn errors_of_reserve_and_permit_are_scheduler_errors() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").label("reserve", "error"));
    harness.set_pod(&pod("q").label("permit", "error"));
    let patches: Vec<_> = harness
        .patches()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let expected = [
        "p SchedulerError: running Reserve plugin \"Second\": broken",
        "q SchedulerError: running Permit plugin \"Hold\": broken",
    ];
    assert_eq!(patches, expected);
}

#[test]
fn a_pending_plugin_wakes_its_pod_without_rest() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").label("permit", "pending"));
    harness.set_node(&node("a").cpu("1").label("has", "gpu"));
    assert_eq!(harness.tries("p"), 2);
    let incoming = harness.stats().incoming;
    let straight = |queue: &str| {
        incoming
            .iter()
            .any(|row| row.queue == queue && row.event == "NodeUpdateNodeLabel")
    };
    assert!(straight("active") && !straight("backoff"), "{incoming:?}");
}

#[test]
fn what_happens_while_a_pod_waits_counts_when_it_is_turned_down() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").label("hold", "30"));
    // The event that Hold's rejections wait for.
    harness.set_node(&node("a").cpu("1").label("has", "gpu"));
    harness.pass_seconds(30);
    assert_eq!(
        harness.tries("p"),
        2,
        "looked at again at once: nothing else waits"
    );
    let mut quiet = Harness::start(&[node("a").cpu("1")]);
    quiet.set_pod(&pod("p").label("hold", "30"));
    quiet.pass_seconds(60);
    assert_eq!(quiet.tries("p"), 1);
}

#[test]
fn a_pod_that_is_deleted_while_it_waits_gives_its_node_back() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1").label("hold", "30"));
    harness.set_pod(&pod("q").cpu("1"));
    harness.pod_gone(&pod("p"));
    assert_eq!(harness.bound(), ["q -> a"]);
    assert_eq!(harness.stats().counters.binds.pod_gone, 1);
    harness.pass_seconds(60);
    assert_eq!(harness.tries("p"), 1);
}
