//! The story's cast as Kubernetes objects: nodes, pods that run, pods that wait.

use serde_json::{Value, json};

use super::cast::{NODE_MEMORY, NODE_MILLICORES, NodeRole, SCHEDULER_NAME, Workload};

/// Pods that a node takes, as kubelets have it by default.
const PODS_PER_NODE: u32 = 110;
/// Template hash of every `ReplicaSet` of the story, in the form of a real one.
const TEMPLATE_HASH: &str = "7d9c5b8f6d";

/// A simulated node.
pub(crate) fn simulated_node(role: &NodeRole) -> Value {
    node(&role.name, NODE_MILLICORES, NODE_MEMORY)
}

/// A node with that CPU (millicores) and memory (bytes).
pub(crate) fn node(name: &str, millicores: f64, memory: f64) -> Value {
    let amounts = json!({
        "cpu": format!("{millicores:.0}m"),
        "memory": format!("{memory:.0}"),
        "pods": PODS_PER_NODE.to_string(),
    });
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": amounts, "allocatable": amounts},
    })
}

/// The pods of a node's tenants, running.
pub(crate) fn tenants(role: &NodeRole) -> Vec<Value> {
    let mut pods = Vec::new();
    for workload in &role.tenants {
        for index in 0..workload.count {
            let mut tenant = pod(workload, &format!("{}-{index}", role.name));
            tenant["spec"]["nodeName"] = json!(role.name);
            tenant["status"] = json!({"phase": "Running"});
            pods.push(tenant);
        }
    }
    pods
}

/// The pods of a Deployment that wait for a node.
pub(crate) fn replicas(workload: &Workload) -> Vec<Value> {
    (0..workload.count)
        .map(|index| pod(workload, &format!("{index:02}")))
        .collect()
}

/// The namespaces of the story.
pub(crate) fn namespaces() -> Vec<Value> {
    ["platform", "shop", "finance", "research"]
        .into_iter()
        .map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
        .collect()
}

fn pod(workload: &Workload, suffix: &str) -> Value {
    let replica_set = format!("{}-{TEMPLATE_HASH}", workload.name);
    let requests = json!({
        "cpu": format!("{:.0}m", workload.request_millicores),
        "memory": format!("{:.0}", workload.request_memory),
    });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{replica_set}-{suffix}"),
            "namespace": workload.namespace,
            "labels": {"app": workload.name, "pod-template-hash": TEMPLATE_HASH},
            "ownerReferences": [{
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": replica_set,
                "uid": format!("{}-{}", workload.namespace, workload.name),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "schedulerName": SCHEDULER_NAME,
            "containers": [{
                "name": workload.name,
                "image": format!("registry.example/{}:1", workload.name),
                "resources": {"requests": requests},
            }],
        },
    })
}
