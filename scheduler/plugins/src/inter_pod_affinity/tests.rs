//! The plugin as the engine runs it.

mod changes;
mod required;
mod score;
mod wake;

use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use serde_json::{Value, json};

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// A node with its host name and zone for labels.
fn host(name: &str, zone: &str) -> NodeBuilder {
    node(name).label(HOST, name).zone(zone)
}

/// Pods with the label `app`, near by `key`, in the pod's own namespace.
fn near(key: &str, app: &str) -> Value {
    json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}})
}

/// The same in the namespaces that match `labels`.
fn near_in(key: &str, app: &str, labels: &Value) -> Value {
    let mut term = near(key, app);
    term["namespaceSelector"] = labels.clone();
    term
}

fn app(name: &str, app: &str) -> PodBuilder {
    pod(name).label("app", app)
}

/// What a test says of a pod's terms.
trait WithTerms {
    fn wants(self, terms: &[Value]) -> PodBuilder;
    fn avoids(self, terms: &[Value]) -> PodBuilder;
    fn likes(self, weight: i32, term: Value) -> PodBuilder;
    fn dislikes(self, weight: i32, term: Value) -> PodBuilder;
}

impl WithTerms for PodBuilder {
    fn wants(self, terms: &[Value]) -> PodBuilder {
        self.merge(json!({"spec": {"affinity": {"podAffinity": {REQUIRED: terms}}}}))
    }

    fn avoids(self, terms: &[Value]) -> PodBuilder {
        self.merge(json!({"spec": {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}}))
    }

    fn likes(self, weight: i32, term: Value) -> PodBuilder {
        let terms = json!([{"weight": weight, "podAffinityTerm": term}]);
        self.merge(json!({"spec": {"affinity": {"podAffinity": {PREFERRED: terms}}}}))
    }

    fn dislikes(self, weight: i32, term: Value) -> PodBuilder {
        let terms = json!([{"weight": weight, "podAffinityTerm": term}]);
        self.merge(json!({"spec": {"affinity": {"podAntiAffinity": {PREFERRED: terms}}}}))
    }
}

fn namespace(name: &str, labels: &Value) -> Value {
    let metadata = json!({"name": name, "labels": labels});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
}
