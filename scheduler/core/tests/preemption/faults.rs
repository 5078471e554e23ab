//! Evictions that fail in every way: what becomes of the preemptor, and of others.

use plimsoll_core::{EvictionCounters, FailureKind};

use crate::world::{Treatment, World, evicts, other};

/// `high` waits for `v1` and `v2` to go, both on `n0`; nothing is answered yet.
fn two_victims() -> World {
    let mut world = World::new(1, 2);
    world.create("v1", 1, 1_000, Some("n0"));
    world.create("v2", 1, 1_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.treat_all(Treatment::Works, other);
    world
}

fn one_victim() -> World {
    let mut world = World::new(1, 2);
    world.create("v1", 1, 2_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.treat_all(Treatment::Works, other);
    world
}

#[test]
fn the_last_victim_is_told_only_once_all_others_were() {
    let mut world = two_victims();
    assert_eq!(world.victims().len(), 1);
    world.treat_all(Treatment::Fails(FailureKind::Unavailable), evicts);
    assert_eq!(world.victims().len(), 1, "it would have gone in vain");
    assert_eq!(world.pods.values().filter(|pod| pod.deleting).count(), 0);
    world.pass_seconds(3);
    world.work();
    assert_eq!(world.pods.values().filter(|pod| pod.deleting).count(), 2);
}

#[test]
fn a_preemptor_is_held_while_its_evictions_are_open() {
    let mut world = two_victims();
    world.remove("v1");
    world.remove("v2");
    // All its victims went by themselves: nobody is left to wait for.
    world.work();
    world.pass_seconds(2);
    world.work();
    assert_eq!(world.node_of("high"), Some("n0"));

    let mut world = one_victim();
    world.create("w", 1, 500, None);
    world.pass_seconds(30);
    assert_eq!((world.victims().len(), world.preemptors.len()), (1, 1));
    assert_eq!(world.stats().in_flight.preemptors, 1);
}

#[test]
fn each_failure_is_counted_told_and_tried_again_after_a_rest_that_grows() {
    for kind in [
        FailureKind::Conflict,
        FailureKind::Unavailable,
        FailureKind::TooManyRequests { retry_after: None },
        FailureKind::Unknown,
    ] {
        let mut world = one_victim();
        for _ in 0..600 {
            world.treat_all(Treatment::Fails(kind), evicts);
            world.treat_all(Treatment::Works, other);
            world.pass_seconds(1);
        }
        let asked = world.victims().len();
        assert!((8..=20).contains(&asked), "{kind:?}: asked {asked} times");
        let note = "high PreemptionFailed: pod default/v1 could not be evicted: the server says so";
        assert_eq!(
            world.events.iter().filter(|event| **event == note).count(),
            asked
        );
        assert_eq!(world.stats().counters.evictions_failed, asked as u64);
        world.pass_seconds(60);
        world.work();
        world.remove("v1");
        world.pass_seconds(60);
        world.work();
        assert_eq!(world.node_of("high"), Some("n0"));
        assert_eq!(world.stats().in_flight.preemptors, 0);
    }
}

#[test]
fn a_pod_that_the_server_will_not_let_go_is_spared_and_another_one_goes() {
    let mut world = World::new(2, 2);
    world.create("v0", 1, 2_000, Some("n0"));
    world.create("v1", 2, 2_000, Some("n1"));
    world.create("high", 9, 2_000, None);
    world.treat_all(Treatment::Works, other);
    assert_eq!(world.victims(), ["v0"]);
    world.treat_all(Treatment::Fails(FailureKind::Refused), evicts);
    world.pass_seconds(3);
    world.work();
    assert_eq!(world.victims(), ["v0", "v1"]);
    assert_eq!(world.nominated("high"), Some("n1"));
    world.remove("v1");
    world.pass_seconds(3);
    world.work();
    assert_eq!(world.node_of("high"), Some("n1"));
    // Some minutes later it may be asked for again.
    world.create("next", 9, 2_000, None);
    world.work();
    assert_eq!(world.victims(), ["v0", "v1"]);
    for _ in 0..12 {
        world.pass_seconds(60);
        world.work();
    }
    assert_eq!(world.victims(), ["v0", "v1", "v0"]);
}

#[test]
fn a_victim_that_is_gone_already_wakes_its_preemptor() {
    let mut world = one_victim();
    world.holds_watch = true;
    world.remove("v1");
    world.treat_all(Treatment::Works, evicts);
    let counters = world.stats().counters;
    let expected = EvictionCounters {
        gone: 1,
        ..EvictionCounters::default()
    };
    assert_eq!(
        (counters.evictions, counters.evictions_failed),
        (expected, 0)
    );
    world.release_watch();
    world.pass_seconds(3);
    world.work();
    assert_eq!(world.node_of("high"), Some("n0"));
}

#[test]
fn no_answer_ends_the_wait_and_one_that_is_late_changes_nothing() {
    for how in [Treatment::Hangs, Treatment::DoesAndHangs] {
        let mut world = one_victim();
        world.holds_watch = true;
        world.treat_all(how, evicts);
        world.pass_seconds(59);
        assert_eq!(world.stats().counters.evictions.unknown, 0);
        world.pass_seconds(1);
        assert_eq!(world.stats().counters.evictions.unknown, 1);
        world.release_watch();
        world.pass_seconds(10);
        world.work();
        world.remove("v1");
        world.pass_seconds(3);
        world.work();
        assert_eq!(world.node_of("high"), Some("n0"));
        let in_flight = world.stats().in_flight;
        assert_eq!((in_flight.evictions, in_flight.preemptors), (0, 0));
    }
}

#[test]
fn the_watch_is_an_answer_too() {
    let mut world = one_victim();
    world.treat_all(Treatment::DoesAndHangs, evicts);
    world.remove("v1");
    world.pass_seconds(3);
    world.treat_all(Treatment::Works, other);
    assert_eq!(world.node_of("high"), Some("n0"));
    assert_eq!(world.stats().counters.evictions_failed, 0);
    world.pass_seconds(60);
    assert_eq!(world.stats().in_flight.evictions, 0);
}

#[test]
fn a_preemptor_does_not_preempt_again_before_the_watch_shows_that_its_victim_goes() {
    let mut world = one_victim();
    world.holds_watch = true;
    world.treat_all(Treatment::Works, evicts);
    world.create("other", 1, 100, None);
    for _ in 0..5 {
        world.pass_seconds(1);
        world.treat_all(Treatment::Works, other);
    }
    assert_eq!(world.victims(), ["v1"]);
    world.release_watch();
    world.pass_seconds(30);
    world.work();
    assert_eq!(world.victims(), ["v1"]);
}

#[test]
fn a_preemptor_that_goes_away_leaves_the_last_victim_alone() {
    let mut world = two_victims();
    world.remove("high");
    world.work();
    assert_eq!(world.victims().len(), 1);
    let in_flight = world.stats().in_flight;
    assert_eq!((in_flight.evictions, in_flight.preemptors), (0, 0));
}

#[test]
fn a_victim_whose_binding_is_not_asked_for_is_sent_back_and_not_deleted() {
    let mut world = World::new(1, 2);
    // So many bindings are open that the last pod waits for a free request.
    for number in 0..40 {
        world.create(&format!("p{number:02}"), 1, 50, None);
    }
    world.treat_all(Treatment::Works, |_| false);
    let asked = world.open.len();
    assert!(asked < 40, "{asked} bindings are asked for");
    world.create("high", 9, 1_500, None);
    let counters = world.stats().counters.evictions;
    assert!(counters.in_memory > 0, "{counters:?}");
    let note = " (in kube-scheduler memory).";
    assert!(world.events.iter().any(|event| event.ends_with(note)));
}

#[test]
fn a_pod_that_is_gone_while_its_binding_is_open_is_waited_for_and_not_asked_to_go() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, None);
    world.treat_all(Treatment::Hangs, |_| true);
    world.remove("low");
    world.create("high", 9, 2_000, None);
    world.work();
    assert!(world.victims().is_empty());
    world.pass_seconds(70);
    world.work();
    assert_eq!(world.node_of("high"), Some("n0"));
}

/// Its victims may take hours to end.
#[test]
fn a_node_that_comes_while_a_preemptor_is_held_is_not_slept_through() {
    let mut world = one_victim();
    world.pass_seconds(15);
    world.add_node("new");
    assert_eq!(world.node_of("high"), None, "it is held");
    world.treat_all(Treatment::Works, evicts);
    assert!(world.pods["v1"].deleting);
    world.pass_seconds(15);
    world.work();
    assert_eq!(world.node_of("high"), Some("new"));
}
