//! The columns of tables, kind by kind, as kube-apiserver prints them
//! (`pkg/printers/internalversion/printers.go`).

mod event;
mod node;
mod pod;
mod policy;
mod service;
mod storage;
mod workload;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use crate::{json, resources::Resource};

/// One column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    /// 0 is always shown, 1 with `-o wide`.
    pub(super) priority: u8,
    pub(super) cell: fn(&Value, Timestamp) -> Value,
}

/// Gives the columns of a resource; cells are read off the stored form of its objects.
pub(super) fn columns(resource: &Resource) -> &'static [Column] {
    match resource.kind {
        "Pod" => pod::POD,
        "Node" => node::NODE,
        "Namespace" => node::NAMESPACE,
        "Event" => event::EVENT,
        "Lease" => policy::LEASE,
        "PriorityClass" => policy::PRIORITY_CLASS,
        "PodDisruptionBudget" => policy::BUDGET,
        "ConfigMap" => service::CONFIG_MAP,
        "Service" => service::SERVICE,
        "ReplicationController" => workload::CONTROLLER,
        "ReplicaSet" => workload::REPLICA_SET,
        "Deployment" => workload::DEPLOYMENT,
        "StatefulSet" => workload::STATEFUL_SET,
        "DaemonSet" => workload::DAEMON_SET,
        "PersistentVolume" => storage::VOLUME,
        "PersistentVolumeClaim" => storage::CLAIM,
        "StorageClass" => storage::CLASS,
        "CSINode" => storage::CSI_NODE,
        "CSIDriver" => storage::CSI_DRIVER,
        "CSIStorageCapacity" => storage::CSI_CAPACITY,
        "VolumeAttachment" => storage::ATTACHMENT,
        _ => PLAIN,
    }
}

const NAME: Column = text("Name", |it, _| shown(it, &["metadata", "name"]));
const AGE: Column = text("Age", |it, now| {
    json!(since(it, &["metadata", "creationTimestamp"], now))
});

static PLAIN: &[Column] = &[NAME, AGE];

const fn text(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    column(name, "string", 0, cell)
}

const fn number(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    column(name, "integer", 0, cell)
}

const fn flag(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    column(name, "boolean", 0, cell)
}

const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    column(name, "string", 1, cell)
}

const fn column(
    name: &'static str,
    kind: &'static str,
    priority: u8,
    cell: fn(&Value, Timestamp) -> Value,
) -> Column {
    Column {
        name,
        kind,
        priority,
        cell,
    }
}

/// Gives the time since an instant in the object.
fn since(object: &Value, path: &[&str], now: Timestamp) -> String {
    age::since(json::text(object, path), now)
}

/// Gives a text, or that there is none.
fn shown(object: &Value, path: &[&str]) -> Value {
    json!(json::text(object, path).unwrap_or("<none>"))
}

/// Gives a text, empty if there is none.
fn plain(object: &Value, path: &[&str]) -> Value {
    json!(json::text(object, path).unwrap_or(""))
}

/// Gives a whole number, 0 if there is none.
fn count(object: &Value, path: &[&str]) -> i64 {
    json::at(object, path).and_then(Value::as_i64).unwrap_or(0)
}

/// Gives a map of texts as `a=b,c=d`, or that there is none.
fn map(object: &Value, path: &[&str]) -> String {
    let pairs = json::at(object, path).and_then(Value::as_object);
    let pairs: Vec<String> = pairs
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")))
        .collect();
    if pairs.is_empty() {
        return "<none>".to_owned();
    }
    pairs.join(",")
}

/// Gives a list of texts joined by commas.
fn joined(object: &Value, path: &[&str]) -> String {
    let texts: Vec<&str> = json::list(object, path)
        .iter()
        .filter_map(Value::as_str)
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests;
