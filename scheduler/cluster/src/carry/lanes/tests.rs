//! Order and limits of the lanes.

use std::sync::Arc;

use plimsoll_core::{CommandId, PodRef, ScheduledFalse};
use plimsoll_objects::{ObjectKey, Uid};

use super::{Job, Lanes};
use crate::status::{Nomination, StatusPatch};

fn pod(name: &str) -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", name),
        uid: Uid(Arc::from(name)),
    }
}

fn bind(id: u64, name: &str) -> Job {
    Job::bind(CommandId(id), pod(name), Arc::from("n1"))
}

fn fail(id: u64, name: &str) -> Job {
    let condition = ScheduledFalse {
        reason: "Unschedulable",
        message: String::new(),
    };
    Job::patch_status(
        CommandId(id),
        pod(name),
        StatusPatch {
            condition: Some(condition),
            nomination: Nomination::Keep,
        },
    )
}

fn started(lanes: &mut Lanes) -> Vec<u64> {
    std::iter::from_fn(|| lanes.pop())
        .map(|(job, _)| job.id.0)
        .collect()
}

#[test]
fn each_lane_has_its_limit_and_bindings_come_first() {
    let mut lanes = Lanes::new(2, 1);
    for (id, name) in [(1, "a"), (2, "b")] {
        lanes.push(fail(id, name));
    }
    for (id, name) in [(3, "c"), (4, "d"), (5, "e")] {
        lanes.push(bind(id, name));
    }
    assert_eq!(started(&mut lanes), [3, 4, 1]);
    assert_eq!(lanes.len(), 5);
}

#[test]
fn jobs_of_one_pod_run_one_after_the_other_in_their_order() {
    let mut lanes = Lanes::new(8, 8);
    lanes.push(fail(1, "a"));
    lanes.push(bind(2, "a"));
    lanes.push(bind(3, "b"));
    let (_, other) = lanes.pop().unwrap();
    let (first, ticket) = lanes.pop().unwrap();
    assert_eq!((other.id.0, first.id.0), (3, 1));
    assert!(
        lanes.pop().is_none(),
        "the second job of a pod does not overtake the first"
    );
    lanes.done(&ticket);
    assert_eq!(started(&mut lanes), [2]);
}

#[test]
fn an_ended_job_makes_room_and_leaves_nothing_behind() {
    let mut lanes = Lanes::new(1, 1);
    lanes.push(bind(1, "a"));
    lanes.push(bind(2, "b"));
    let (_, ticket) = lanes.pop().unwrap();
    assert!(lanes.is_binding_busy());
    assert!(lanes.pop().is_none());
    lanes.done(&ticket);
    let (_, ticket) = lanes.pop().unwrap();
    lanes.done(&ticket);
    assert!(!lanes.are_busy() && !lanes.is_binding_busy() && lanes.later.is_empty());
}

#[test]
fn a_nomination_alone_is_a_step_of_a_binding_cycle() {
    let mut lanes = Lanes::new(1, 1);
    lanes.push(fail(1, "a"));
    let patch = StatusPatch {
        condition: None,
        nomination: Nomination::Set(Arc::from("n1")),
    };
    lanes.push(Job::patch_status(CommandId(2), pod("b"), patch));
    assert_eq!(started(&mut lanes), [2, 1]);
}

#[test]
fn a_lane_of_nothing_is_a_lane_of_one() {
    let mut lanes = Lanes::new(0, 0);
    lanes.push(bind(1, "a"));
    assert_eq!(started(&mut lanes), [1]);
}
