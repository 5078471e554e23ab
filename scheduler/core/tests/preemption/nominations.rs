//! Promises of a node: made, taken back, kept.

use plimsoll_core::Command;

use crate::world::{Treatment, World, evicts, other};

/// PRE-A1: a nomination that can no longer be honoured does not starve small pods.
#[test]
fn pre_a1_a_promise_whose_room_a_more_important_pod_took_is_taken_back() {
    let mut world = World::new(1, 4);
    world.create("p0", 1, 2_000, Some("n0"));
    world.create("p1", 5, 3_000, None);
    world.work();
    assert_eq!(
        (world.victims(), world.nominated("p1")),
        (vec!["p0"], Some("n0"))
    );
    assert!(world.pods["p0"].deleting);

    world.create("p2", 9, 1_500, None);
    world.work();
    assert_eq!(world.node_of("p2"), Some("n0"));
    assert_eq!(world.victims(), ["p0"]);

    world.remove("p0");
    world.create("p3", 1, 1_000, None);
    world.pass_seconds(15);
    world.work();
    world.pass_seconds(15);
    world.work();
    assert_eq!((world.node_of("p1"), world.nominated("p1")), (None, None));
    assert_eq!(world.node_of("p3"), Some("n0"));
}

#[test]
fn a_preemptor_gets_the_room_it_made_and_smaller_pods_stay_out_of_it() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.work();
    world.create("small", 1, 500, None);
    world.remove("low");
    world.pass_seconds(2);
    world.work();
    assert_eq!(world.node_of("high"), Some("n0"));
    assert_eq!(world.node_of("small"), None);
    assert_eq!(world.nominated("high"), None);
    let note = format!(
        "low Preempted: Preempted by pod {} on node n0",
        world.pods["high"].uid
    );
    assert!(world.events.contains(&note), "{:?}", world.events);
}

#[test]
fn a_less_important_pod_loses_its_promise_of_the_same_node_and_looks_elsewhere() {
    let mut world = World::new(1, 4);
    world.create("v1", 1, 2_000, Some("n0"));
    world.create("v2", 2, 2_000, Some("n0"));
    world.create("mid", 5, 2_000, None);
    world.work();
    assert_eq!(
        (world.victims(), world.nominated("mid")),
        (vec!["v1"], Some("n0"))
    );
    world.create("high", 9, 4_000, None);
    world.work();
    assert_eq!(world.nominated("high"), Some("n0"));
    assert_eq!(world.nominated("mid"), None);
    world.remove("v1");
    world.remove("v2");
    world.pass_seconds(15);
    world.work();
    assert_eq!(
        (world.node_of("high"), world.node_of("mid")),
        (Some("n0"), None)
    );
}

#[test]
fn a_promise_is_cleared_also_if_the_watch_has_not_shown_it_yet() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.holds_watch = true;
    world.create("high", 9, 2_000, None);
    world.deliver();
    world.treat_all(Treatment::Works, other);
    assert_eq!(world.nominated("high"), Some("n0"));
    // The victim is not let go, and is no victim any more.
    let refused = plimsoll_core::FailureKind::Refused;
    world.treat_all(Treatment::Fails(refused), evicts);
    world.pass_seconds(3);
    world.treat_all(Treatment::Works, |command| {
        matches!(command, Command::PatchStatus { .. })
    });
    assert_eq!(world.nominated("high"), None);
    world.release_watch();
    world.work();
    assert_eq!(
        (world.nominated("high"), world.stats().in_flight.nominations),
        (None, 0)
    );
}

#[test]
fn a_promise_that_a_hand_writes_or_takes_back_is_followed() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.work();
    // Taken back by hand while the victim goes: a smaller pod of equal priority may slip in.
    world.change("high", |high| high.nominated = None);
    world.create("equal", 9, 500, None);
    world.remove("low");
    world.pass_seconds(3);
    world.work();
    let bound = ["high", "equal"].map(|name| world.node_of(name).is_some());
    assert_eq!(bound.into_iter().filter(|is| *is).count(), 1);
}

/// The victims of the last time must not have gone in vain.
#[test]
fn a_preemptor_whose_promise_is_not_written_yet_puts_nobody_else_out() {
    let mut world = World::new(2, 2);
    world.create("v1", 1, 2_000, Some("n0"));
    world.create("v2", 2, 1_000, Some("n1"));
    world.create("v3", 0, 1_000, Some("n1"));
    world.create("high", 9, 2_000, None);
    world.treat_all(Treatment::Works, evicts);
    assert!(world.pods["v1"].deleting);
    assert_eq!(world.nominated("high"), None, "its patch has no answer yet");
    // Now the other node would be the cheaper one.
    world.remove("v2");
    world.pass_seconds(20);
    world.treat_all(Treatment::Works, evicts);
    assert_eq!(world.victims(), ["v1"]);
    world.work();
    world.remove("v1");
    world.pass_seconds(20);
    world.work();
    assert_eq!(world.node_of("high"), Some("n0"));
}

#[test]
fn of_a_pod_that_goes_while_its_promise_is_being_written_nothing_is_kept() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.treat_all(Treatment::Works, evicts);
    let patch = world.open.iter().position(other).expect("a promise");
    let patch = world.open.remove(patch);
    world.remove("high");
    // Written before the pod went, answered after.
    world.answer(&patch);
    assert_eq!(world.stats().in_flight.nominations, 0);
}

/// The watch showed the patch before its answer came: what another hand writes next counts.
#[test]
fn a_promise_that_a_hand_writes_after_one_was_taken_back_is_taken_back_as_well() {
    let mut world = World::new(1, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.create("high", 9, 2_000, None);
    world.work();
    assert_eq!(world.nominated("high"), Some("n0"));
    assert_eq!(world.stats().in_flight.nominations, 0);
    // A more important pod takes the room, and the promise is taken back.
    world.create("top", 10, 2_000, None);
    world.remove("low");
    world.pass_seconds(15);
    world.work();
    assert_eq!(
        (world.node_of("top"), world.nominated("high")),
        (Some("n0"), None)
    );
    assert_eq!(world.stats().in_flight.nominations, 0);
    world.change("high", |high| high.nominated = Some("n0".to_owned()));
    for _ in 0..30 {
        world.pass_seconds(20);
        world.work();
    }
    assert_eq!(world.nominated("high"), None);
}
