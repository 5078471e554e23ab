//! Binding pods to nodes, as `pods/binding` of kube-apiserver does
//! (`pkg/registry/core/pod/storage/storage.go`, `setPodNodeAndMetadata`).

use serde_json::{Map, Value, json};

use super::{State, Target, index::Key};
use crate::{clock, json, resources::Resource, status::Status};

/// Which pod goes where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// The node's name.
    pub node: String,
    /// The uid that the pod must have, where it matters.
    pub uid: Option<String>,
    /// The resource version that the pod must have, where it matters.
    pub resource_version: Option<String>,
    /// Annotations that the pod gets.
    pub annotations: Vec<(String, String)>,
    /// Labels that the pod gets where it has none of that key.
    pub labels: Vec<(String, String)>,
}

impl State {
    pub(crate) fn bind(
        &mut self,
        key: Key<'_>,
        binding: &Binding,
        dry_run: bool,
    ) -> Result<(), Status> {
        let pods = Resource::named("pods").ok_or_else(Status::no_such_resource)?;
        let target = Target {
            resource: pods,
            key,
        };
        let mut pod = self.get(target)?.value();
        check_preconditions(target, &pod, binding)?;
        if let Some(why) = refusal(&pod, key.1) {
            return Err(Status::conflict("pods/binding", key.1, &why));
        }
        assign(&mut pod, binding);
        if !dry_run {
            self.commit(pods, pod);
        }
        Ok(())
    }
}

fn check_preconditions(target: Target<'_>, pod: &Value, binding: &Binding) -> Result<(), Status> {
    let checks = [
        ("UID", "uid", &binding.uid),
        (
            "ResourceVersion",
            "resourceVersion",
            &binding.resource_version,
        ),
    ];
    for (what, field, wanted) in checks {
        let found = json::text(pod, &["metadata", field]).unwrap_or("");
        let Some(wanted) = wanted
            .as_deref()
            .filter(|it| !it.is_empty() && *it != found)
        else {
            continue;
        };
        let (namespace, name) = target.key;
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/pods/{namespace}/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
        );
        return Err(target.conflict(&why));
    }
    Ok(())
}

/// Says why a pod takes no binding.
fn refusal(pod: &Value, name: &str) -> Option<String> {
    if json::text(pod, &["metadata", "deletionTimestamp"]).is_some() {
        return Some(format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        ));
    }
    if let Some(node) = json::text(pod, &["spec", "nodeName"]) {
        return Some(format!("pod {name} is already assigned to node {node:?}"));
    }
    let gated = !json::list(pod, &["spec", "schedulingGates"]).is_empty();
    gated.then(|| format!("pod {name} has non-empty .spec.schedulingGates"))
}

fn assign(pod: &mut Value, binding: &Binding) {
    let observed = json::at(pod, &["metadata", "generation"]).cloned();
    json::section(pod, "spec").insert("nodeName".to_owned(), binding.node.clone().into());
    let metadata = json::section(pod, "metadata");
    if !binding.annotations.is_empty() {
        let annotations = json::child(metadata, "annotations");
        for (key, value) in &binding.annotations {
            annotations.insert(key.clone(), value.clone().into());
        }
    }
    if !binding.labels.is_empty() {
        let labels = json::child(metadata, "labels");
        for (key, value) in &binding.labels {
            json::set_default(labels, key, value.clone());
        }
    }
    let status = json::section(pod, "status");
    status.remove("nominatedNodeName");
    set_scheduled(status, observed);
}

/// Sets the condition `PodScheduled` to true; its time moves only when it was not true before. It says
/// of which generation it is where the one before it did.
fn set_scheduled(status: &mut Map<String, Value>, observed: Option<Value>) {
    let mut condition = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": clock::stamp(clock::now()),
    });
    let slot = status.entry("conditions").or_insert(Value::Null);
    if !slot.is_array() {
        *slot = json!([]);
    }
    let Some(conditions) = slot.as_array_mut() else {
        return;
    };
    match conditions
        .iter_mut()
        .find(|it| it["type"] == "PodScheduled")
    {
        Some(before) => {
            if before.get("observedGeneration").is_some() {
                json::put(json::fields(&mut condition), "observedGeneration", observed);
            }
            if before["status"] == "True" {
                condition["lastTransitionTime"] = before["lastTransitionTime"].clone();
            }
            *before = condition;
        }
        None => conditions.push(condition),
    }
}
