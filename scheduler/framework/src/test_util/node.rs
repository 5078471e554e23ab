//! Builds nodes for tests, by way of the JSON that the API server would send.

use std::sync::Arc;

use plimsoll_objects::{Node, TaintEffect, bandwidth, decode_node};
use serde_json::{Value, json};

use super::pod::effect_text;
use super::{merge, push};

/// Label that holds a node's zone.
const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// What a node of a test has unless it says otherwise.
const DEFAULT_CPU: &str = "4";
/// See [`DEFAULT_CPU`].
const DEFAULT_MEMORY: &str = "16Gi";
/// The kubelet's default.
const DEFAULT_PODS: u32 = 110;

/// A node in the making: 4 cpus, 16 GiB, 110 pods, no labels and no taints.
///
/// ```
/// use plimsoll_framework::test_util::node;
/// let node = node("n1").cpu("8").allocatable_cpu("7500m").zone("a").build();
/// assert_eq!(node.status.capacity.cpu, 8000);
/// assert_eq!(node.status.allocatable.cpu, 7500);
/// ```
#[derive(Debug, Clone)]
pub struct NodeBuilder {
    json: Value,
}

/// A node called `name`.
pub fn node(name: &str) -> NodeBuilder {
    let json = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {},
        "status": {"capacity": {}, "allocatable": {}},
    });
    NodeBuilder { json }
        .cpu(DEFAULT_CPU)
        .memory(DEFAULT_MEMORY)
        .pods(DEFAULT_PODS)
}

// === impl NodeBuilder ===

impl NodeBuilder {
    /// Merges JSON into the node, for what has no method of its own.
    #[must_use]
    pub fn merge(mut self, patch: Value) -> Self {
        merge(&mut self.json, patch);
        self
    }

    /// Sets cpu, of capacity and allocatable.
    #[must_use]
    pub fn cpu(self, amount: &str) -> Self {
        self.resource("cpu", amount)
    }

    /// Sets memory, of capacity and allocatable.
    #[must_use]
    pub fn memory(self, amount: &str) -> Self {
        self.resource("memory", amount)
    }

    /// Sets how many pods may run here.
    #[must_use]
    pub fn pods(self, count: u32) -> Self {
        self.resource("pods", &count.to_string())
    }

    /// Sets any resource, of capacity and allocatable.
    #[must_use]
    pub fn resource(mut self, name: &str, amount: &str) -> Self {
        self.json["status"]["capacity"][name] = amount.into();
        self.allocatable(name, amount)
    }

    /// Sets what pods may request of cpu; call it after [`NodeBuilder::cpu`].
    #[must_use]
    pub fn allocatable_cpu(self, amount: &str) -> Self {
        self.allocatable("cpu", amount)
    }

    /// Sets what pods may request of memory; call it after [`NodeBuilder::memory`].
    #[must_use]
    pub fn allocatable_memory(self, amount: &str) -> Self {
        self.allocatable("memory", amount)
    }

    /// Sets what pods may request of any resource.
    #[must_use]
    pub fn allocatable(mut self, name: &str, amount: &str) -> Self {
        self.json["status"]["allocatable"][name] = amount.into();
        self
    }

    /// Adds a taint.
    #[must_use]
    pub fn taint(mut self, key: &str, value: &str, effect: TaintEffect) -> Self {
        let taint = json!({"key": key, "value": value, "effect": effect_text(effect)});
        push(&mut self.json["spec"]["taints"], taint);
        self
    }

    /// Cordons the node.
    #[must_use]
    pub fn unschedulable(mut self) -> Self {
        self.json["spec"]["unschedulable"] = true.into();
        self
    }

    /// Puts the node into a zone.
    #[must_use]
    pub fn zone(self, zone: &str) -> Self {
        self.label(ZONE_LABEL, zone)
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = value.into();
        self
    }

    /// Adds an annotation.
    #[must_use]
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["annotations"][key] = value.into();
        self
    }

    /// Puts an image of this size onto the node, under one name.
    #[must_use]
    pub fn image(mut self, name: &str, bytes: i64) -> Self {
        let image = json!({"names": [name], "sizeBytes": bytes});
        push(&mut self.json["status"]["images"], image);
        self
    }

    /// States the link speed in bit/s, such as `10G`.
    #[must_use]
    pub fn link_speed(self, bits_per_second: &str) -> Self {
        self.annotation(bandwidth::LINK_SPEED, bits_per_second)
    }

    /// The node as the API server would send it.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The node.
    ///
    /// # Panics
    /// The node cannot be decoded: an amount is not a quantity.
    pub fn build(&self) -> Node {
        match decode_node(self.json.to_string().as_bytes()) {
            Ok(node) => node,
            Err(error) => panic!("node of a test: {error} in {}", self.json),
        }
    }

    /// The node, to be shared.
    ///
    /// # Panics
    /// As [`NodeBuilder::build`].
    pub fn arc(&self) -> Arc<Node> {
        Arc::new(self.build())
    }
}
