//! Which changes wake a pod.

use plimsoll_framework::test_util::{check_hint, node, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::super::spec;
use super::ZONE;
use crate::volume_fixtures::{
    capacity, claim, csi_driver, csi_node, object, volume, waiting_class, with_claims,
};

/// What a change means to a pod that names the claim `c`.
fn hint(resource: EventResource, old: Option<&Value>, new: &Value) -> Option<Hint> {
    let (old, new) = (old.map(object), object(new));
    let actions = if old.is_some() {
        Actions::UPDATE
    } else {
        Actions::ADD
    };
    let change = Change::Object {
        old: old.as_ref(),
        new: Some(&new),
    };
    let event = ClusterEvent::new(resource, actions);
    check_hint(
        &spec(),
        &Value::Null,
        &with_claims("a", &["c"]),
        event,
        &change,
    )
}

const QUEUE: Option<Hint> = Some(Hint::Queue);
const SKIP: Option<Hint> = Some(Hint::Skip);

#[test]
fn a_claim_wakes_the_pods_that_use_it() {
    let claims = EventResource::PersistentVolumeClaim;
    assert_eq!(hint(claims, None, &claim("c", "fast")), QUEUE);
    assert_eq!(hint(claims, None, &claim("d", "fast")), SKIP);
    let mut elsewhere = claim("c", "fast");
    elsewhere["metadata"]["namespace"] = "other".into();
    assert_eq!(hint(claims, None, &elsewhere), SKIP);
}

#[test]
fn a_new_class_wakes_pods_and_so_do_new_topologies_of_one() {
    let classes = EventResource::StorageClass;
    let class = waiting_class("fast", "p");
    let mut zonal = class.clone();
    zonal["allowedTopologies"] =
        json!([{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]);
    assert_eq!(hint(classes, None, &class), QUEUE);
    assert_eq!(hint(classes, Some(&zonal), &class), QUEUE);
    assert_eq!(hint(classes, Some(&zonal), &zonal), SKIP);
}

#[test]
fn a_node_that_takes_other_plugins_for_drivers_wakes_pods() {
    let nodes = EventResource::CsiNode;
    let plain = csi_node("n1", &[]);
    let mut migrated = plain.clone();
    migrated["metadata"]["annotations"] =
        json!({"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"});
    assert_eq!(hint(nodes, None, &plain), QUEUE);
    assert_eq!(hint(nodes, Some(&plain), &migrated), QUEUE);
    assert_eq!(
        hint(nodes, Some(&plain), &csi_node("n1", &[("d", None)])),
        SKIP
    );
}

#[test]
fn more_room_wakes_pods_and_less_does_not() {
    let capacities = EventResource::CsiStorageCapacity;
    let room = |amount: &str| capacity("x", "counted", "a", amount);
    let mut unknown = room("1Gi");
    unknown["capacity"] = Value::Null;
    assert_eq!(hint(capacities, None, &room("1Gi")), QUEUE);
    assert_eq!(hint(capacities, Some(&room("1Gi")), &room("2Gi")), QUEUE);
    assert_eq!(hint(capacities, Some(&unknown), &room("1Gi")), QUEUE);
    assert_eq!(hint(capacities, Some(&room("2Gi")), &room("1Gi")), SKIP);
    assert_eq!(hint(capacities, Some(&room("2Gi")), &unknown), SKIP);
}

#[test]
fn a_driver_that_stops_keeping_count_wakes_pods_with_claims() {
    let drivers = EventResource::CsiDriver;
    let driver = |counts: bool| csi_driver("d", &json!({"storageCapacity": counts}));
    assert_eq!(hint(drivers, Some(&driver(true)), &driver(false)), QUEUE);
    assert_eq!(hint(drivers, Some(&driver(false)), &driver(true)), SKIP);
    assert_eq!(hint(drivers, None, &driver(false)), None);
    let (old, new) = (object(&driver(true)), object(&driver(false)));
    let change = Change::Object {
        old: Some(&old),
        new: Some(&new),
    };
    let event = ClusterEvent::new(drivers, Actions::UPDATE);
    assert_eq!(
        check_hint(&spec(), &Value::Null, &pod("a"), event, &change),
        SKIP
    );
}

#[test]
fn every_volume_and_every_node_that_comes_wakes_pods() {
    assert_eq!(
        hint(EventResource::PersistentVolume, None, &volume("pv", "fast")),
        QUEUE
    );
    let new = node("n9").build();
    let change = Change::Node {
        old: None,
        new: Some(&new),
    };
    let event = ClusterEvent::new(EventResource::Node, Actions::ADD);
    let waiting = with_claims("a", &["c"]);
    assert_eq!(
        check_hint(&spec(), &Value::Null, &waiting, event, &change),
        QUEUE
    );
}
