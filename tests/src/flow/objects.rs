//! Kubernetes objects as flows need them.

use serde_json::{Value, json};

/// Memory of every node: never what a pod lacks.
const MEMORY: &str = "64Gi";
/// Pods that a node takes: never what a pod lacks.
const PODS: &str = "1000";

/// A node with so much CPU.
pub fn node(name: &str, cpu: &str) -> Value {
    let amounts = json!({"cpu": cpu, "memory": MEMORY, "pods": PODS});
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": amounts, "allocatable": amounts},
    })
}

/// A pod of namespace `default` that waits for the profile `plimsoll` and requests nothing.
pub fn pod(name: &str) -> PodObject {
    PodObject(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "schedulerName": "plimsoll",
            "containers": [{"name": "main", "image": "registry.example/main:1"}],
        },
    }))
}

/// A pod under construction.
#[derive(Debug, Clone)]
pub struct PodObject(Value);

// === impl PodObject ===

impl PodObject {
    /// Requests so much CPU.
    #[must_use]
    pub fn cpu(mut self, cpu: &str) -> Self {
        self.0["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpu}});
        self
    }

    /// Is another profile's or scheduler's.
    #[must_use]
    pub fn by(mut self, scheduler_name: &str) -> Self {
        self.0["spec"]["schedulerName"] = json!(scheduler_name);
        self
    }

    /// Runs on a node already.
    #[must_use]
    pub fn on(mut self, node: &str) -> Self {
        self.0["spec"]["nodeName"] = json!(node);
        self.0["status"] = json!({"phase": "Running"});
        self
    }

    /// Is held back by a scheduling gate.
    #[must_use]
    pub fn gated(mut self, gate: &str) -> Self {
        self.0["spec"]["schedulingGates"] = json!([{"name": gate}]);
        self
    }
}

impl From<PodObject> for Value {
    fn from(pod: PodObject) -> Self {
        pod.0
    }
}
