//! What wakes a pod that was rejected for load.

use std::time::Duration;

use plimsoll_framework::LoadResource::Cpu;
use plimsoll_framework::test_util::{LoadBuilder, PodBuilder, check_hint, load, node, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::spec;

fn load_hint(args: &Value, row: &LoadBuilder) -> Option<Hint> {
    let node = node("n1").build();
    let row = row.row(&node);
    let change = Change::Load {
        node: &node,
        load: &row,
    };
    let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_LOAD);
    check_hint(&spec(), args, &pod("a").cpu("1"), event, &change)
}

#[test]
fn a_fall_below_every_line_wakes() {
    let args = json!({"mode": "hard"});
    let cases = [(0.84, Hint::Queue), (0.85, Hint::Queue), (0.86, Hint::Skip)];
    for (share, hint) in cases {
        assert_eq!(load_hint(&args, &load("n1").share(Cpu, share)), Some(hint));
    }
    let peaks = json!({"mode": "hard", "statistic": "p95"});
    let bursty = load("n1").share(Cpu, 0.3).peak(Cpu, 0.9);
    assert_eq!(load_hint(&peaks, &bursty), Some(Hint::Skip));
    assert_eq!(load_hint(&args, &bursty), Some(Hint::Queue));
}

#[test]
fn a_sample_that_is_fresh_again_wakes_and_so_does_one_that_is_judged_no_more() {
    let old = load("n1")
        .share(Cpu, 0.95)
        .aged(Duration::from_mins(10), 0.1);
    let fresh = load("n1").share(Cpu, 0.5);
    for stale in ["ignore", "refuse"] {
        let args = json!({"mode": "hard", "stale": stale});
        assert_eq!(load_hint(&args, &fresh), Some(Hint::Queue));
        assert_eq!(load_hint(&args, &old), Some(Hint::Queue));
    }
}

fn pod_hint(
    resource: EventResource,
    actions: Actions,
    old: Option<&PodBuilder>,
    new: Option<&PodBuilder>,
) -> Option<Hint> {
    let (old, new) = (old.map(PodBuilder::build), new.map(PodBuilder::build));
    let change = Change::Pod {
        old: old.as_ref(),
        new: new.as_ref(),
    };
    let event = ClusterEvent::new(resource, actions);
    check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
}

#[test]
fn a_pod_that_leaves_a_node_wakes_and_one_that_comes_does_not() {
    let placed = pod("p").on("n1");
    let assigned = EventResource::AssignedPod;
    assert_eq!(
        pod_hint(assigned, Actions::DELETE, Some(&placed), None),
        Some(Hint::Queue)
    );
    assert_eq!(pod_hint(assigned, Actions::ADD, None, Some(&placed)), None);
}

#[test]
fn a_change_of_the_pod_itself_wakes_it() {
    let (target, own) = (EventResource::TargetPod, pod("a"));
    for actions in [Actions::UPDATE, Actions::UPDATE_POD_SCALE_DOWN] {
        assert_eq!(
            pod_hint(target, actions, Some(&own), Some(&own)),
            Some(Hint::Queue)
        );
    }
    assert_eq!(
        pod_hint(target, Actions::UPDATE_POD_LABEL, Some(&own), Some(&own)),
        None
    );
}

#[test]
fn nodes_wake_when_they_come_or_grow() {
    let node = node("n1").build();
    let hint = |actions| {
        let change = Change::Node {
            old: None,
            new: Some(&node),
        };
        let event = ClusterEvent::new(EventResource::Node, actions);
        check_hint(&spec(), &Value::Null, &pod("a"), event, &change)
    };
    assert_eq!(hint(Actions::ADD), Some(Hint::Queue));
    assert_eq!(hint(Actions::UPDATE_NODE_ALLOCATABLE), Some(Hint::Queue));
    assert_eq!(hint(Actions::UPDATE_NODE_LABEL), None);
}
