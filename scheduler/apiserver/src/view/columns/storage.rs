//! The columns of volumes, claims and what concerns storage drivers.

use serde_json::{Value, json};

use super::{AGE, Column, NAME, flag, joined, number, plain, text, wide};
use crate::json;

const UNSET: &str = "<unset>";

pub(super) static VOLUME: &[Column] = &[
    NAME,
    text("Capacity", |it, _| {
        json!(amount(it, &["spec", "capacity", "storage"]))
    }),
    text("Access Modes", |it, _| json!(modes(it, "spec"))),
    text("Reclaim Policy", |it, _| {
        plain(it, &["spec", "persistentVolumeReclaimPolicy"])
    }),
    text("Status", |it, _| phase(it)),
    text("Claim", |it, _| json!(claim(it))),
    text("StorageClass", |it, _| {
        plain(it, &["spec", "storageClassName"])
    }),
    ATTRIBUTES,
    text("Reason", |it, _| plain(it, &["status", "reason"])),
    AGE,
    MODE,
];

pub(super) static CLAIM: &[Column] = &[
    NAME,
    text("Status", |it, _| phase(it)),
    text("Volume", |it, _| plain(it, &["spec", "volumeName"])),
    text("Capacity", |it, _| {
        match json::text(it, &["spec", "volumeName"]) {
            Some(_) => json!(amount(it, &["status", "capacity", "storage"])),
            None => json!(""),
        }
    }),
    text("Access Modes", |it, _| {
        match json::text(it, &["spec", "volumeName"]) {
            Some(_) => json!(modes(it, "status")),
            None => json!(""),
        }
    }),
    text("StorageClass", |it, _| {
        plain(it, &["spec", "storageClassName"])
    }),
    ATTRIBUTES,
    AGE,
    MODE,
];

pub(super) static CLASS: &[Column] = &[
    text("Name", |it, _| json!(class_name(it))),
    text("Provisioner", |it, _| plain(it, &["provisioner"])),
    text("ReclaimPolicy", |it, _| {
        json!(json::text(it, &["reclaimPolicy"]).unwrap_or("Delete"))
    }),
    text("VolumeBindingMode", |it, _| {
        json!(json::text(it, &["volumeBindingMode"]).unwrap_or(UNSET))
    }),
    text("AllowVolumeExpansion", |it, _| {
        json!(it["allowVolumeExpansion"] == true)
    }),
    AGE,
];

pub(super) static CSI_NODE: &[Column] = &[
    NAME,
    number("Drivers", |it, _| {
        json!(json::list(it, &["spec", "drivers"]).len())
    }),
    AGE,
];

pub(super) static CSI_DRIVER: &[Column] = &[
    NAME,
    flag("AttachRequired", |it, _| {
        json!(it["spec"]["attachRequired"] != false)
    }),
    flag("PodInfoOnMount", |it, _| {
        json!(it["spec"]["podInfoOnMount"] == true)
    }),
    flag("StorageCapacity", |it, _| {
        json!(it["spec"]["storageCapacity"] == true)
    }),
    text("TokenRequests", |it, _| json!(audiences(it))),
    flag("RequiresRepublish", |it, _| {
        json!(it["spec"]["requiresRepublish"] == true)
    }),
    text("Modes", |it, _| {
        let modes = joined(it, &["spec", "volumeLifecycleModes"]);
        json!(if modes.is_empty() { "<none>" } else { &modes })
    }),
    AGE,
];

pub(super) static CSI_CAPACITY: &[Column] = &[
    NAME,
    text("StorageClassName", |it, _| plain(it, &["storageClassName"])),
    text("Capacity", |it, _| {
        json!(json::text(it, &["capacity"]).unwrap_or(UNSET))
    }),
];

pub(super) static ATTACHMENT: &[Column] = &[
    NAME,
    text("Attacher", |it, _| plain(it, &["spec", "attacher"])),
    text("PV", |it, _| {
        plain(it, &["spec", "source", "persistentVolumeName"])
    }),
    text("Node", |it, _| plain(it, &["spec", "nodeName"])),
    flag("Attached", |it, _| json!(it["status"]["attached"] == true)),
    AGE,
];

const ATTRIBUTES: Column = text("VolumeAttributesClass", |it, _| {
    json!(json::text(it, &["spec", "volumeAttributesClassName"]).unwrap_or(UNSET))
});

const MODE: Column = wide("VolumeMode", |it, _| {
    json!(json::text(it, &["spec", "volumeMode"]).unwrap_or(UNSET))
});

fn amount<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    json::text(object, path).unwrap_or("0")
}

fn phase(object: &Value) -> Value {
    match json::text(object, &["metadata", "deletionTimestamp"]) {
        Some(_) => json!("Terminating"),
        None => plain(object, &["status", "phase"]),
    }
}

fn claim(volume: &Value) -> String {
    let text = |field| json::text(volume, &["spec", "claimRef", field]).unwrap_or("");
    if volume["spec"]["claimRef"].is_object() {
        return format!("{}/{}", text("namespace"), text("name"));
    }
    String::new()
}

/// Gives access modes in their short form, in the order of kube-apiserver.
fn modes(object: &Value, part: &str) -> String {
    let has = |mode| {
        json::list(object, &[part, "accessModes"])
            .iter()
            .any(|it| it == mode)
    };
    let short: Vec<&str> = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ]
    .into_iter()
    .filter(|(mode, _)| has(*mode))
    .map(|(_, short)| short)
    .collect();
    short.join(",")
}

fn class_name(class: &Value) -> String {
    let name = json::text(class, &["metadata", "name"]).unwrap_or("");
    let key = "storageclass.kubernetes.io/is-default-class";
    match json::text(class, &["metadata", "annotations", key]) {
        Some("true") => format!("{name} (default)"),
        _ => name.to_owned(),
    }
}

fn audiences(driver: &Value) -> String {
    let requests = json::list(driver, &["spec", "tokenRequests"]);
    if requests.is_empty() {
        return UNSET.to_owned();
    }
    let audiences: Vec<&str> = requests
        .iter()
        .map(|it| json::text(it, &["audience"]).unwrap_or(""))
        .collect();
    audiences.join(",")
}
