//! Resources behind which devices stand.

use plimsoll_framework::test_util::{
    NodeBuilder, PodBuilder, check_filter, check_hint, check_hint_in, cluster, node, pod,
};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Object, ObjectKind};
use serde_json::{Value, json};

use crate::node_resources_fit::spec;

const GPU: &str = "example.com/gpu";
const BY_NAME: &str = "deviceclass.resource.kubernetes.io/gpus";

fn class(name: &str, extended: Option<&str>) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": name}, "spec": {"extendedResourceName": extended},
    })
}

fn decode(class: &Value) -> Object {
    Object::decode(ObjectKind::DeviceClass, class.to_string().as_bytes()).expect("a class")
}

#[test]
fn what_devices_stand_behind_is_left_to_them_where_the_node_has_none() {
    let nodes = || {
        [
            node("none"),
            node("zero").resource(GPU, "0"),
            node("few").resource(GPU, "1"),
        ]
    };
    let short =
        |name: &str| format!("{name}: UnschedulableAndUnresolvable: Insufficient example.com/gpu");
    let asks = pod("a").request(GPU, "2");
    let without = cluster(nodes());
    let verdicts = check_filter(&spec(), &Value::Null, &without, &asks);
    assert_eq!(verdicts, [short("none"), short("zero"), short("few")]);
    let with = without.objects([class("gpus", Some(GPU)), class("other", None)]);
    let verdicts = check_filter(&spec(), &Value::Null, &with, &asks);
    assert_eq!(
        verdicts,
        [
            "none: Pass".to_owned(),
            "zero: Pass".to_owned(),
            short("few")
        ]
    );
    // The rest of what the pod asks for is judged all the same.
    let verdicts = check_filter(&spec(), &Value::Null, &with, &asks.cpu("5"));
    assert!(verdicts[0].ends_with("Insufficient cpu"), "{verdicts:?}");
}

#[test]
fn every_class_stands_for_a_resource_by_its_own_name() {
    let asks = pod("a").request(BY_NAME, "1");
    let check = |classes: Vec<Value>| {
        let cluster = cluster([node("n1")]).objects(classes);
        check_filter(&spec(), &Value::Null, &cluster, &asks).remove(0)
    };
    assert_eq!(check(vec![class("gpus", None)]), "n1: Pass");
    assert_eq!(
        check(vec![class("gpu", None)]),
        format!("n1: UnschedulableAndUnresolvable: Insufficient {BY_NAME}")
    );
}

#[test]
fn a_class_that_stands_for_what_is_asked_wakes_the_pod() {
    let hint = |pod: &PodBuilder, old: Option<Value>, new: Value| {
        let (old, new) = (old.as_ref().map(decode), decode(&new));
        let actions = if old.is_some() {
            Actions::UPDATE
        } else {
            Actions::ADD
        };
        let event = ClusterEvent::new(EventResource::DeviceClass, actions);
        let change = Change::Object {
            old: old.as_ref(),
            new: Some(&new),
        };
        check_hint(&spec(), &Value::Null, pod, event, &change)
    };
    let (gpu, named) = (pod("a").request(GPU, "1"), pod("a").request(BY_NAME, "1"));
    let (plain, mapped) = (class("gpus", None), class("gpus", Some(GPU)));
    let cases = [
        (&gpu, None, mapped.clone(), Hint::Queue),
        (&gpu, None, plain.clone(), Hint::Skip),
        (&named, None, plain.clone(), Hint::Queue),
        (&gpu, Some(plain.clone()), mapped.clone(), Hint::Queue),
        (&gpu, Some(mapped.clone()), mapped.clone(), Hint::Skip),
        (&gpu, Some(mapped.clone()), plain.clone(), Hint::Skip),
        (&named, Some(plain.clone()), mapped, Hint::Skip),
    ];
    for (pod, old, new, expected) in cases {
        let told = format!("{old:?} {new}");
        assert_eq!(hint(pod, old, new), Some(expected), "{told}");
    }
}

#[test]
fn a_change_of_any_node_wakes_a_pod_whose_devices_may_be_there() {
    let asks = pod("a").request(GPU, "1");
    let hint = |classes: Vec<Value>, node: &NodeBuilder| {
        let scene = cluster([]).objects(classes);
        let node = node.build();
        let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_ALLOCATABLE);
        let change = Change::Node {
            old: Some(&node),
            new: Some(&node),
        };
        check_hint_in((&spec(), &Value::Null), &scene, &asks, event, &change)
    };
    let classes = || vec![class("gpus", Some(GPU))];
    assert_eq!(hint(classes(), &node("n1")), Some(Hint::Queue));
    assert_eq!(hint(Vec::new(), &node("n1")), Some(Hint::Skip));
    let has_its_own = node("n1").resource(GPU, "1");
    assert_eq!(hint(classes(), &has_its_own), Some(Hint::Skip));
}
