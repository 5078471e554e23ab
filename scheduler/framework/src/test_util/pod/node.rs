//! What a pod of a test asks of its node: ports, labels, affinity.

use serde_json::{Value, json};

use super::PodBuilder;
use crate::test_util::push;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

impl PodBuilder {
    /// Takes a TCP port of the node, on every address.
    #[must_use]
    pub fn host_port(self, port: i32) -> Self {
        self.host_port_on("", "", port)
    }

    /// Takes a port of the node on one address; empty texts are left out.
    #[must_use]
    pub fn host_port_on(mut self, address: &str, protocol: &str, port: i32) -> Self {
        let mut taken = json!({"containerPort": port, "hostPort": port});
        for (field, text) in [("hostIP", address), ("protocol", protocol)] {
            if !text.is_empty() {
                taken[field] = text.into();
            }
        }
        push(&mut self.container_json()["ports"], taken);
        self
    }

    /// Wants a label on its node.
    #[must_use]
    pub fn node_selector(mut self, key: &str, value: &str) -> Self {
        self.json["spec"]["nodeSelector"][key] = value.into();
        self
    }

    /// Adds a required term of node affinity, as JSON: `{"matchExpressions": [..]}`.
    #[must_use]
    pub fn requires_node(mut self, term: Value) -> Self {
        let required = &mut self.affinity()[REQUIRED];
        push(&mut required["nodeSelectorTerms"], term);
        self
    }

    /// Adds a preferred term of node affinity, as JSON.
    #[must_use]
    pub fn prefers_node(mut self, weight: i32, preference: Value) -> Self {
        let fields = [("weight", weight.into()), ("preference", preference)];
        let term = fields.map(|(name, value)| (name.to_owned(), value));
        push(
            &mut self.affinity()[PREFERRED],
            Value::Object(term.into_iter().collect()),
        );
        self
    }

    fn affinity(&mut self) -> &mut Value {
        &mut self.json["spec"]["affinity"]["nodeAffinity"]
    }
}
