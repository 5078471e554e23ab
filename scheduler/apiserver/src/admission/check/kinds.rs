//! The other kinds that a scheduler or its operator writes.

use serde_json::{Map, Value};

use super::{by_rule, choice, number, placement};
use crate::{json, names, resources::Resource, status::Cause};

/// The largest priority that is not the system's.
const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;

/// The classes of the system with their priorities.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// Checks a new object.
pub(super) fn check(resource: &Resource, value: &Value) -> Vec<Cause> {
    match resource.kind {
        "PriorityClass" => class(value),
        "PodDisruptionBudget" => budget(value),
        "ConfigMap" => config_map(value),
        "Lease" => lease(value),
        "Service" => service(value),
        "Event" => event(value),
        _ => Vec::new(),
    }
}

/// Checks a changed object.
pub(super) fn check_update(resource: &Resource, old: &Value, new: &Value) -> Vec<Cause> {
    match resource.kind {
        "PriorityClass" => class_update(old, new),
        "Event" => event(new),
        _ => check(resource, new),
    }
}

fn class(class: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = json::text(class, &["metadata", "name"]).unwrap_or("");
    let value = number(class, &["value"]).unwrap_or(0);
    if name.starts_with("system-") {
        if let Some(error) = no_system_class(class, name, value) {
            let why = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {error}"
            );
            causes.push(Cause::forbidden("metadata.name", &why));
        }
    } else if value > HIGHEST_USER_PRIORITY {
        let why =
            format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        causes.push(Cause::forbidden("value", &why));
    }
    causes.extend(choice(
        "preemptionPolicy",
        json::text(class, &["preemptionPolicy"]),
        &["Never", "PreemptLowerPriority"],
    ));
    causes
}

fn no_system_class(class: &Value, name: &str, value: i64) -> Option<String> {
    let known = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name);
    let Some((_, wanted)) = known else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if value != *wanted {
        return Some(format!("value of {name} PriorityClass must be {wanted}"));
    }
    let default = class["globalDefault"] == true;
    default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}

fn class_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if number(old, &["value"]) != number(new, &["value"]) {
        causes.push(Cause::forbidden(
            "value",
            "may not be changed in an update.",
        ));
    }
    let policy = |of: &Value| of["preemptionPolicy"].clone();
    if policy(old) != policy(new) {
        let field = "preemptionPolicy";
        causes.push(Cause::invalid_json(
            field,
            &policy(new),
            "field is immutable",
        ));
    }
    causes
}

fn budget(budget: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &budget["spec"];
    let limits = ["minAvailable", "maxUnavailable"];
    let stated = |name: &&str| !spec[*name].is_null();
    if limits.iter().all(stated) {
        // The fields are named and ordered as in kube-apiserver's internal type.
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["minAvailable"],
            spec["selector"],
            spec["maxUnavailable"],
            spec["unhealthyPodEvictionPolicy"]
        );
        let why = "minAvailable and maxUnavailable cannot be both set";
        causes.push(Cause::invalid_json("spec", &shown, why));
    }
    for name in limits.iter().filter(|name| stated(name)) {
        causes.extend(limit(&format!("spec.{name}"), &spec[*name]));
    }
    causes.extend(choice(
        "spec.unhealthyPodEvictionPolicy",
        json::text(spec, &["unhealthyPodEvictionPolicy"]),
        &["AlwaysAllow", "IfHealthyBudget"],
    ));
    causes.extend(placement::selector("spec.selector", &spec["selector"]));
    causes
}

fn limit(field: &str, value: &Value) -> Option<Cause> {
    if let Some(number) = value.as_i64() {
        return (number < 0).then(|| Cause::invalid_json(field, value, NOT_NEGATIVE));
    }
    let percent = value
        .as_str()?
        .strip_suffix('%')
        .and_then(|it| it.parse::<u32>().ok());
    match percent {
        Some(percent) if percent > 100 => Some(Cause::invalid_json(
            field,
            value,
            "must not be greater than 100%",
        )),
        Some(_) => None,
        None => {
            let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
            Some(Cause::invalid_json(field, value, why))
        }
    }
}

fn config_map(map: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for part in ["data", "binaryData"] {
        let keys = map[part].as_object();
        for key in keys.into_iter().flat_map(Map::keys) {
            let field = format!("{part}[{key}]");
            causes.extend(by_rule(&field, key, names::config_key(key)));
            if part == "data" && !map["binaryData"][key].is_null() {
                let why = "duplicate of key present in binaryData";
                causes.push(Cause::invalid(&field, key, why));
            }
        }
    }
    causes
}

fn lease(lease: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &lease["spec"];
    if let Some(seconds) = number(spec, &["leaseDurationSeconds"]).filter(|it| *it <= 0) {
        let field = "spec.leaseDurationSeconds";
        causes.push(Cause::invalid_json(
            field,
            &seconds,
            "must be greater than 0",
        ));
    }
    if let Some(count) = number(spec, &["leaseTransitions"]).filter(|it| *it < 0) {
        let field = "spec.leaseTransitions";
        causes.push(Cause::invalid_json(field, &count, NOT_NEGATIVE));
    }
    causes
}

fn service(service: &Value) -> Vec<Cause> {
    let spec = &service["spec"];
    let text = |name| json::text(spec, &[name]).unwrap_or("");
    let needs_ports = text("type") != "ExternalName" && text("clusterIP") != "None";
    if needs_ports && json::list(spec, &["ports"]).is_empty() {
        return vec![Cause::required("spec.ports", "")];
    }
    Vec::new()
}

/// Checks what every event must have, whichever API it came through (`legacyValidateEvent`).
fn event(event: &Value) -> Vec<Cause> {
    let text = |path: &[&str]| json::text(event, path).unwrap_or("").to_owned();
    let field = "involvedObject.namespace";
    let (own, subject) = (
        text(&["metadata", "namespace"]),
        text(&["involvedObject", "namespace"]),
    );
    let fits = if subject.is_empty() {
        // The events of cluster objects, such as nodes, are in the default namespace.
        is_of_cluster(&event["involvedObject"]) || own == "default"
    } else {
        own == subject
    };
    if fits {
        return Vec::new();
    }
    vec![Cause::invalid(
        field,
        &subject,
        "does not match event.namespace",
    )]
}

fn is_of_cluster(subject: &Value) -> bool {
    let text = |name| json::text(subject, &[name]).unwrap_or("");
    Resource::of(text("apiVersion"), text("kind")).is_some_and(|it| !it.namespaced)
}
