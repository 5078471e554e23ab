//! The columns of kinds that hold a pod template.

use serde_json::{Value, json};

use super::{AGE, Column, NAME, count, map, number, text, wide};
use crate::{json, selector::LabelSelector};

const DESIRED: Column = number("Desired", |it, _| json!(count(it, &["spec", "replicas"])));
const CURRENT: Column = number("Current", |it, _| json!(count(it, &["status", "replicas"])));
const READY: Column = number("Ready", |it, _| {
    json!(count(it, &["status", "readyReplicas"]))
});
const READY_OF: Column = text("Ready", |it, _| {
    let (ready, all) = (
        count(it, &["status", "readyReplicas"]),
        count(it, &["spec", "replicas"]),
    );
    json!(format!("{ready}/{all}"))
});
const CONTAINERS: Column = wide("Containers", |it, _| json!(of_containers(it, "name")));
const IMAGES: Column = wide("Images", |it, _| json!(of_containers(it, "image")));
const SELECTOR: Column = wide("Selector", |it, _| {
    let selector = LabelSelector::from_object(&it["spec"]["selector"]);
    json!(selector.map_or("<invalid>".to_owned(), |it| it.to_string()))
});

pub(super) static CONTROLLER: &[Column] = &[
    NAME,
    DESIRED,
    CURRENT,
    READY,
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", |it, _| json!(map(it, &["spec", "selector"]))),
];

pub(super) static REPLICA_SET: &[Column] = &[
    NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR,
];

pub(super) static STATEFUL_SET: &[Column] = &[NAME, READY_OF, AGE, CONTAINERS, IMAGES];

pub(super) static DEPLOYMENT: &[Column] = &[
    NAME,
    READY_OF,
    text("Up-to-date", |it, _| {
        json!(count(it, &["status", "updatedReplicas"]))
    }),
    text("Available", |it, _| {
        json!(count(it, &["status", "availableReplicas"]))
    }),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) static DAEMON_SET: &[Column] = &[
    NAME,
    number("Desired", |it, _| {
        json!(count(it, &["status", "desiredNumberScheduled"]))
    }),
    number("Current", |it, _| {
        json!(count(it, &["status", "currentNumberScheduled"]))
    }),
    number("Ready", |it, _| {
        json!(count(it, &["status", "numberReady"]))
    }),
    number("Up-to-date", |it, _| {
        json!(count(it, &["status", "updatedNumberScheduled"]))
    }),
    number("Available", |it, _| {
        json!(count(it, &["status", "numberAvailable"]))
    }),
    text("Node Selector", |it, _| {
        json!(map(it, &["spec", "template", "spec", "nodeSelector"]))
    }),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

fn of_containers(workload: &Value, field: &str) -> String {
    let containers = json::list(workload, &["spec", "template", "spec", "containers"]);
    let texts: Vec<&str> = containers
        .iter()
        .map(|it| json::text(it, &[field]).unwrap_or(""))
        .collect();
    texts.join(",")
}
