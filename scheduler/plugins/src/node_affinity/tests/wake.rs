//! What wakes a pod that no node's labels suited.

use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, check_hint, node, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::{added, spec, term};

fn hint(args: &Value, pod: &PodBuilder, old: Option<&NodeBuilder>, new: &NodeBuilder) -> Hint {
    let (old, new) = (old.map(NodeBuilder::build), new.build());
    let change = Change::Node {
        old: old.as_ref(),
        new: Some(&new),
    };
    let actions = if old.is_none() {
        Actions::ADD
    } else {
        Actions::UPDATE_NODE_LABEL
    };
    let event = ClusterEvent::new(EventResource::Node, actions);
    check_hint(&spec(), args, pod, event, &change).expect("it listens")
}

#[test]
fn a_node_wakes_when_it_begins_to_match() {
    let wants = pod("a").node_selector("disk", "ssd");
    let (plain, ssd) = (node("n1"), node("n1").label("disk", "ssd"));
    let cases = [
        (None, ssd.clone(), Hint::Queue),
        (None, plain.clone(), Hint::Skip),
        (Some(plain.clone()), ssd.clone(), Hint::Queue),
        (Some(ssd.clone()), ssd.clone().label("x", "y"), Hint::Skip),
        (Some(ssd), plain, Hint::Skip),
    ];
    for (old, new, expected) in cases {
        assert_eq!(hint(&Value::Null, &wants, old.as_ref(), &new), expected);
    }
}

#[test]
fn a_node_that_the_added_affinity_begins_to_allow_wakes_too() {
    let args = added(&term("pool", "Exists", &[]));
    let wants = pod("a").node_selector("disk", "ssd");
    let before = node("n1").label("disk", "ssd");
    let after = before.clone().label("pool", "a");
    assert_eq!(hint(&args, &wants, Some(&before), &after), Hint::Queue);
    assert_eq!(hint(&args, &wants, Some(&after), &before), Hint::Skip);
    assert_eq!(hint(&args, &wants, None, &before), Hint::Skip);
}

#[test]
fn a_pod_with_a_term_that_cannot_be_parsed_is_looked_at_again() {
    let mistaken = pod("a").requires_node(term("slots", "Gt", &["-5"]));
    assert_eq!(
        hint(&Value::Null, &mistaken, None, &node("n1")),
        Hint::Queue
    );
    let nothing = pod("a").requires_node(json!({}));
    assert_eq!(hint(&Value::Null, &nothing, None, &node("n1")), Hint::Skip);
}

#[test]
fn other_changes_of_nodes_and_pods_are_not_heard_of() {
    let change = Change::None;
    for event in [
        ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_TAINT),
        ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
    ] {
        assert_eq!(
            check_hint(&spec(), &Value::Null, &pod("a"), event, &change),
            None
        );
    }
}
