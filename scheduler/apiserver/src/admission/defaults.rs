//! Plain defaults of the kinds, as data: those that a scheduler or a client reads.

mod service;
mod workload;

use serde_json::{Value, json};

use crate::{json, resources::Resource};

/// A value that a field gets where it is absent.
enum Literal {
    Text(&'static str),
    Number(i64),
    Flag(bool),
}

use Literal::{Flag, Number, Text};

/// One default: kind, section ("" for the object itself), field, value.
type Default = (&'static str, &'static str, &'static str, Literal);

static DEFAULTS: &[Default] = &[
    ("Namespace", "status", "phase", Text("Active")),
    ("Pod", "spec", "restartPolicy", Text("Always")),
    ("Pod", "spec", "dnsPolicy", Text("ClusterFirst")),
    ("Pod", "spec", "schedulerName", Text("default-scheduler")),
    ("Pod", "spec", "terminationGracePeriodSeconds", Number(30)),
    ("Pod", "spec", "enableServiceLinks", Flag(true)),
    ("Pod", "status", "phase", Text("Pending")),
    ("Service", "spec", "type", Text("ClusterIP")),
    ("Service", "spec", "sessionAffinity", Text("None")),
    (
        "PersistentVolumeClaim",
        "spec",
        "volumeMode",
        Text("Filesystem"),
    ),
    ("PersistentVolumeClaim", "status", "phase", Text("Pending")),
    ("PersistentVolume", "spec", "volumeMode", Text("Filesystem")),
    (
        "PersistentVolume",
        "spec",
        "persistentVolumeReclaimPolicy",
        Text("Retain"),
    ),
    ("PersistentVolume", "status", "phase", Text("Pending")),
    ("Deployment", "spec", "replicas", Number(1)),
    ("ReplicaSet", "spec", "replicas", Number(1)),
    ("StatefulSet", "spec", "replicas", Number(1)),
    ("ReplicationController", "spec", "replicas", Number(1)),
    ("StorageClass", "", "reclaimPolicy", Text("Delete")),
    ("StorageClass", "", "volumeBindingMode", Text("Immediate")),
    ("CSIDriver", "spec", "attachRequired", Flag(true)),
    ("CSIDriver", "spec", "podInfoOnMount", Flag(false)),
    ("CSIDriver", "spec", "storageCapacity", Flag(false)),
    ("CSIDriver", "spec", "requiresRepublish", Flag(false)),
    (
        "PriorityClass",
        "",
        "preemptionPolicy",
        Text("PreemptLowerPriority"),
    ),
];

/// Fills in what the kind's defaults say.
pub(super) fn fill(resource: &Resource, value: &mut Value) {
    for (kind, section, field, literal) in DEFAULTS {
        if *kind != resource.kind {
            continue;
        }
        let map = match *section {
            "" => json::fields(value),
            section => json::section(value, section),
        };
        json::set_default(map, field, literal.to_json());
    }
    match resource.kind {
        "Node" => fill_node(value),
        "Service" => service::fill(value),
        "CSIDriver" => json::set_default(
            json::section(value, "spec"),
            "volumeLifecycleModes",
            json!(["Persistent"]),
        ),
        _ => workload::fill(resource, value),
    }
}

/// A node that states its capacity only can give all of it.
fn fill_node(node: &mut Value) {
    json::section(node, "spec");
    let capacity = json::at(node, &["status", "capacity"]).cloned();
    let status = json::section(node, "status");
    if let Some(capacity) = capacity {
        json::set_default(status, "allocatable", capacity);
    }
}

impl Literal {
    fn to_json(&self) -> Value {
        match self {
            Text(text) => json!(text),
            Number(number) => json!(number),
            Flag(flag) => json!(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_names_a_kind_of_the_table() {
        for (kind, ..) in DEFAULTS {
            assert!(Resource::all().iter().any(|it| it.kind == *kind), "{kind}");
        }
    }

    #[test]
    fn a_node_with_capacity_only_can_give_all_of_it() {
        let mut node = json!({"status": {"capacity": {"cpu": "4"}}});
        fill(Resource::named("nodes").unwrap(), &mut node);
        assert_eq!(node["status"]["allocatable"]["cpu"], "4");
    }
}
