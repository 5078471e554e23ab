//! Objects as tests need them, and where they are in the API.

use serde_json::{Value, json};

/// The collection of nodes.
pub(crate) const NODES: &str = "/api/v1/nodes";
/// The collection of pods of the namespace that tests use.
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";

/// A node of so much CPU, and more memory and pods than any test asks for.
pub(crate) fn node(name: &str, cpu: &str) -> Value {
    plimsoll_tests::flow::node(name, cpu)
}

/// A pod for a scheduler of this name, with a request for CPU, still without a name.
pub(crate) fn pod(scheduler: &str, cpu: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {},
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main",
                "image": "registry.example/main:1",
                "resources": {"requests": {"cpu": cpu}},
            }],
        },
    })
}

/// The path of a pod.
pub(crate) fn pod_path(name: &str) -> String {
    format!("{PODS}/{name}")
}

/// The path of a node.
pub(crate) fn node_path(name: &str) -> String {
    format!("{NODES}/{name}")
}
