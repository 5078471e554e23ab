//! Which changes wake a pod that did not fit.

use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, check_hint, node, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use crate::node_resources_fit::spec;

const GPU: &str = "example.com/gpu";

fn pod_change(waits: &PodBuilder, old: &PodBuilder, new: Option<&PodBuilder>) -> Option<Hint> {
    let (old, new) = (old.build(), new.map(PodBuilder::build));
    let actions = if new.is_some() {
        Actions::UPDATE_POD_SCALE_DOWN
    } else {
        Actions::DELETE
    };
    let event = ClusterEvent::new(EventResource::AssignedPod, actions);
    let change = Change::Pod {
        old: Some(&old),
        new: new.as_ref(),
    };
    check_hint(&spec(), &Value::Null, waits, event, &change)
}

fn node_change(
    args: &Value,
    waits: &PodBuilder,
    old: Option<&NodeBuilder>,
    new: &NodeBuilder,
) -> Option<Hint> {
    let (old, new) = (old.map(NodeBuilder::build), new.build());
    let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_ALLOCATABLE);
    let change = Change::Node {
        old: old.as_ref(),
        new: Some(&new),
    };
    check_hint(&spec(), args, waits, event, &change)
}

#[test]
fn a_pod_that_goes_wakes_if_it_held_a_node() {
    let waits = pod("a").cpu("1");
    let cases = [
        (pod("b").on("n1"), Hint::Queue),
        (pod("b").nominated("n1"), Hint::Queue),
        (pod("b").cpu("1"), Hint::Skip),
    ];
    for (gone, hint) in cases {
        assert_eq!(
            pod_change(&waits, &gone, None),
            Some(hint),
            "{}",
            gone.json()
        );
    }
}

#[test]
fn a_pod_that_shrinks_wakes_if_it_frees_what_is_asked_for() {
    let waits = pod("a").cpu("1");
    let big = pod("b").cpu("2").memory("2Gi");
    let cases = [
        (
            big.clone().on("n1"),
            pod("b").cpu("1").memory("2Gi").on("n1"),
            Hint::Queue,
        ),
        (
            big.clone().on("n1"),
            pod("b").cpu("2").memory("1Gi").on("n1"),
            Hint::Skip,
        ),
        (big.clone(), pod("b").cpu("1").memory("2Gi"), Hint::Skip),
        (pod("a").cpu("2"), pod("a").cpu("1"), Hint::Queue),
    ];
    for (old, new, hint) in cases {
        assert_eq!(
            pod_change(&waits, &old, Some(&new)),
            Some(hint),
            "{}",
            new.json()
        );
    }
}

#[test]
fn a_pod_that_asks_for_nothing_any_more_wakes_itself() {
    let (old, new) = (pod("a").cpu("2"), pod("a"));
    assert_eq!(pod_change(&new, &old, Some(&new)), Some(Hint::Queue));
}

#[test]
fn a_node_wakes_if_it_grew_in_what_is_asked_for_and_the_pod_could_fit() {
    let waits = pod("a").cpu("2").request(GPU, "1");
    let with_gpu = |cpu: &str| node("n1").cpu(cpu).resource(GPU, "1");
    let cases = [
        (None, with_gpu("2"), Hint::Queue),
        (None, with_gpu("1"), Hint::Skip),
        (None, node("n1"), Hint::Skip),
        (Some(with_gpu("1")), with_gpu("2"), Hint::Queue),
        (
            Some(with_gpu("2")),
            with_gpu("2").memory("64Gi"),
            Hint::Skip,
        ),
        (Some(with_gpu("2")), with_gpu("2").pods(200), Hint::Queue),
        (Some(node("n1")), with_gpu("4"), Hint::Queue),
        (Some(with_gpu("3")), with_gpu("2"), Hint::Skip),
    ];
    for (old, new, hint) in cases {
        let got = node_change(&Value::Null, &waits, old.as_ref(), &new);
        assert_eq!(
            got,
            Some(hint),
            "{:?} {}",
            old.map(|node| node.json().clone()),
            new.json()
        );
    }
}

#[test]
fn a_pod_that_asks_for_an_ignored_resource_does_not_sleep_through_new_nodes() {
    let waits = pod("a").request(GPU, "1");
    let args = json!({"ignoredResources": [GPU]});
    assert_eq!(
        node_change(&args, &waits, None, &node("n1")),
        Some(Hint::Queue)
    );
    assert_eq!(
        node_change(&Value::Null, &waits, None, &node("n1")),
        Some(Hint::Skip)
    );
}

#[test]
fn a_pod_without_requests_wakes_for_room_for_more_pods_only() {
    let waits = pod("a");
    let small = node("n1").pods(10);
    let hint = |new| node_change(&Value::Null, &waits, Some(&small), &new);
    assert_eq!(hint(node("n1").pods(11)), Some(Hint::Queue));
    assert_eq!(hint(node("n1").pods(10).cpu("64")), Some(Hint::Skip));
}
