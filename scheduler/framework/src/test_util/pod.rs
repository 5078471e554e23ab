//! Builds pods for tests, by way of the JSON that the API server would send.

mod node;

use std::sync::Arc;

use plimsoll_objects::{Pod, TaintEffect, decode_pod};
use serde_json::{Value, json};

use super::{merge, push, quantity};
use crate::load::PodEstimate;

/// A pod in the making. Amounts belong to the container named last (`main` to begin with).
///
/// ```
/// use plimsoll_framework::test_util::pod;
/// let pod = pod("a").cpu("500m").memory("1Gi").label("app", "web").priority(10).build();
/// assert_eq!(pod.spec.requests.filter.cpu, 500);
/// assert_eq!(pod.key().to_string(), "default/a");
/// ```
#[derive(Debug, Clone)]
pub struct PodBuilder {
    json: Value,
    estimate_cpu: Option<f64>,
    estimate_memory: Option<f64>,
}

/// A pod in namespace `default` that asks for nothing and waits for a node.
pub fn pod(name: &str) -> PodBuilder {
    let json = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Pending"},
    });
    PodBuilder {
        json,
        estimate_cpu: None,
        estimate_memory: None,
    }
}

// === impl PodBuilder ===

impl PodBuilder {
    /// Merges JSON into the pod, for what has no method of its own.
    #[must_use]
    pub fn merge(mut self, patch: Value) -> Self {
        merge(&mut self.json, patch);
        self
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.json["metadata"]["namespace"] = namespace.into();
        self
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

    /// Sets the controller.
    #[must_use]
    pub fn owner(mut self, kind: &str, name: &str) -> Self {
        let owner = json!({"kind": kind, "name": name, "uid": name, "controller": true});
        push(&mut self.json["metadata"]["ownerReferences"], owner);
        self
    }

    /// Requests cpu, such as `500m`.
    #[must_use]
    pub fn cpu(self, amount: &str) -> Self {
        self.request("cpu", amount)
    }

    /// Requests memory, such as `1Gi`.
    #[must_use]
    pub fn memory(self, amount: &str) -> Self {
        self.request("memory", amount)
    }

    /// Requests any resource.
    #[must_use]
    pub fn request(mut self, resource: &str, amount: &str) -> Self {
        self.container_json()["resources"]["requests"][resource] = amount.into();
        self
    }

    /// Limits cpu.
    #[must_use]
    pub fn limit_cpu(self, amount: &str) -> Self {
        self.limit("cpu", amount)
    }

    /// Limits memory.
    #[must_use]
    pub fn limit_memory(self, amount: &str) -> Self {
        self.limit("memory", amount)
    }

    /// Limits any resource.
    #[must_use]
    pub fn limit(mut self, resource: &str, amount: &str) -> Self {
        self.container_json()["resources"]["limits"][resource] = amount.into();
        self
    }

    /// Begins one more container: amounts that follow are its own.
    #[must_use]
    pub fn container(mut self, name: &str) -> Self {
        push(&mut self.json["spec"]["containers"], json!({"name": name}));
        self
    }

    /// Sets the image of the container named last.
    #[must_use]
    pub fn image(mut self, name: &str) -> Self {
        self.container_json()["image"] = name.into();
        self
    }

    /// Requests any resource at the level of the pod.
    #[must_use]
    pub fn pod_level(mut self, resource: &str, amount: &str) -> Self {
        self.json["spec"]["resources"]["requests"][resource] = amount.into();
        self
    }

    /// Declares bandwidth towards the pod in bit/s, such as `400M`.
    #[must_use]
    pub fn ingress(self, bits_per_second: &str) -> Self {
        self.annotation(plimsoll_objects::bandwidth::INGRESS, bits_per_second)
    }

    /// Declares bandwidth from the pod in bit/s, such as `400M`.
    #[must_use]
    pub fn egress(self, bits_per_second: &str) -> Self {
        self.annotation(plimsoll_objects::bandwidth::EGRESS, bits_per_second)
    }

    /// Tolerates one value of a taint, for one effect.
    #[must_use]
    pub fn toleration(mut self, key: &str, value: &str, effect: TaintEffect) -> Self {
        let effect = effect_text(effect);
        let toleration = json!({"key": key, "operator": "Equal", "value": value, "effect": effect});
        push(&mut self.json["spec"]["tolerations"], toleration);
        self
    }

    /// Tolerates a taint whatever its value and effect; an empty key tolerates every taint.
    #[must_use]
    pub fn tolerates_any(mut self, key: &str) -> Self {
        push(
            &mut self.json["spec"]["tolerations"],
            json!({"key": key, "operator": "Exists"}),
        );
        self
    }

    /// Adds a scheduling gate.
    #[must_use]
    pub fn gate(mut self, name: &str) -> Self {
        push(
            &mut self.json["spec"]["schedulingGates"],
            json!({"name": name}),
        );
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.json["spec"]["priority"] = priority.into();
        self
    }

    /// Sets `preemptionPolicy: Never`.
    #[must_use]
    pub fn never_preempts(mut self) -> Self {
        self.json["spec"]["preemptionPolicy"] = "Never".into();
        self
    }

    /// Sets the scheduler's name.
    #[must_use]
    pub fn scheduler(mut self, name: &str) -> Self {
        self.json["spec"]["schedulerName"] = name.into();
        self
    }

    /// Puts the pod on a node, where it runs.
    #[must_use]
    pub fn on(mut self, node: &str) -> Self {
        self.json["spec"]["nodeName"] = node.into();
        self.phase("Running")
    }

    /// Nominates the pod to a node.
    #[must_use]
    pub fn nominated(mut self, node: &str) -> Self {
        self.json["status"]["nominatedNodeName"] = node.into();
        self
    }

    /// Sets the phase, such as `Succeeded`.
    #[must_use]
    pub fn phase(mut self, phase: &str) -> Self {
        self.json["status"]["phase"] = phase.into();
        self
    }

    /// Sets the start time, such as `2026-01-31T12:00:00Z`.
    #[must_use]
    pub fn started(mut self, time: &str) -> Self {
        self.json["status"]["startTime"] = time.into();
        self
    }

    /// Sets the deletion time: the pod is being deleted.
    #[must_use]
    pub fn deleted(mut self, time: &str) -> Self {
        self.json["metadata"]["deletionTimestamp"] = time.into();
        self
    }

    /// Sets the uid (`namespace/name` otherwise).
    #[must_use]
    pub fn uid(mut self, uid: &str) -> Self {
        self.json["metadata"]["uid"] = uid.into();
        self
    }

    /// Sets the cpu that the load model expects the pod to use (its request otherwise).
    ///
    /// # Panics
    /// `amount` is not a quantity.
    #[must_use]
    pub fn estimate_cpu(mut self, amount: &str) -> Self {
        self.estimate_cpu = Some(quantity(amount).milli_value() as f64);
        self
    }

    /// Sets the memory that the load model expects the pod to use (its request otherwise).
    ///
    /// # Panics
    /// `amount` is not a quantity.
    #[must_use]
    pub fn estimate_memory(mut self, amount: &str) -> Self {
        self.estimate_memory = Some(quantity(amount).value() as f64);
        self
    }

    /// The pod as the API server would send it.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The pod.
    ///
    /// # Panics
    /// The pod cannot be decoded: an amount is not a quantity.
    pub fn build(&self) -> Pod {
        match decode_pod(self.json.to_string().as_bytes()) {
            Ok(pod) => pod,
            Err(error) => panic!("pod of a test: {error} in {}", self.json),
        }
    }

    /// The pod, to be shared.
    ///
    /// # Panics
    /// As [`PodBuilder::build`].
    pub fn arc(&self) -> Arc<Pod> {
        Arc::new(self.build())
    }

    /// What the load model expects the pod to use: what it requests and declares, where no
    /// other estimate was set.
    ///
    /// # Panics
    /// As [`PodBuilder::build`].
    pub fn estimate(&self) -> PodEstimate {
        let spec = self.build().spec;
        PodEstimate {
            cpu: self.estimate_cpu.unwrap_or(spec.requests.filter.cpu as f64),
            memory: self
                .estimate_memory
                .unwrap_or(spec.requests.filter.memory as f64),
            rx: spec.bandwidth.ingress.unwrap_or(0) as f64,
            tx: spec.bandwidth.egress.unwrap_or(0) as f64,
        }
    }

    fn container_json(&mut self) -> &mut Value {
        let containers = self.json["spec"]["containers"].as_array_mut();
        let last = containers.and_then(|list| list.last_mut());
        last.expect("a pod is made with one container and none is ever removed")
    }
}

/// An effect as the API writes it.
pub(super) fn effect_text(effect: TaintEffect) -> &'static str {
    match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    }
}
