//! The columns of nodes and namespaces.

use serde_json::{Value, json};

use super::{AGE, Column, NAME, plain, text, wide};
use crate::json;

pub(super) static NODE: &[Column] = &[
    NAME,
    text("Status", |it, _| json!(status(it))),
    text("Roles", |it, _| json!(roles(it))),
    AGE,
    text("Version", |it, _| {
        plain(it, &["status", "nodeInfo", "kubeletVersion"])
    }),
    wide("Internal-IP", |it, _| json!(address(it, "InternalIP"))),
    wide("External-IP", |it, _| json!(address(it, "ExternalIP"))),
    wide("OS-Image", |it, _| json!(info(it, "osImage"))),
    wide("Kernel-Version", |it, _| json!(kernel(it))),
    wide("Container-Runtime", |it, _| {
        json!(info(it, "containerRuntimeVersion"))
    }),
];

pub(super) static NAMESPACE: &[Column] = &[
    NAME,
    text("Status", |it, _| plain(it, &["status", "phase"])),
    AGE,
];

fn status(node: &Value) -> String {
    let conditions = json::list(node, &["status", "conditions"]);
    let ready = conditions.iter().find(|it| it["type"] == "Ready");
    let mut status = match ready {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn roles(node: &Value) -> String {
    let labels = json::at(node, &["metadata", "labels"]).and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let role = key.strip_prefix("node-role.kubernetes.io/");
            role.or_else(|| value.as_str().filter(|_| key == "kubernetes.io/role"))
        })
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() {
        return "<none>".to_owned();
    }
    roles.join(",")
}

fn address<'a>(node: &'a Value, kind: &str) -> &'a str {
    json::list(node, &["status", "addresses"])
        .iter()
        .find(|it| it["type"] == kind)
        .and_then(|it| json::text(it, &["address"]))
        .unwrap_or("<none>")
}

fn info<'a>(node: &'a Value, field: &str) -> &'a str {
    json::text(node, &["status", "nodeInfo", field]).unwrap_or("<unknown>")
}

fn kernel(node: &Value) -> String {
    let version = info(node, "kernelVersion");
    match json::text(node, &["status", "nodeInfo", "architecture"]) {
        Some(architecture) => format!("{version} ({architecture})"),
        None => version.to_owned(),
    }
}
