//! Servers and objects that the tests begin with.

use serde_json::{Value, json};

use crate::{ApiServer, Options};

/// The path of the pods of the namespace `default`.
pub(super) const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server whose uids and generated names are the same in each run.
pub(super) fn server() -> ApiServer {
    server_with(Options::default())
}

pub(super) fn server_with(options: Options) -> ApiServer {
    ApiServer::start(Options {
        seed: Some(1),
        ..options
    })
    .unwrap()
}

pub(super) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    })
}

/// A pod that runs on a node.
pub(super) fn running(name: &str, node: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["nodeName"] = json!(node);
    pod["status"] = json!({"phase": "Running"});
    pod
}

pub(super) fn binding(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    })
}

/// The names of a list's items.
pub(super) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|it| it["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}
