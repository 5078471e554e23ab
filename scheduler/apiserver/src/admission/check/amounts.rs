//! Requests and limits: names of resources and their amounts (`ValidateContainerResourceRequirements`).

use serde_json::{Map, Value};

use super::by_rule;
use crate::{json, names, quantity::Quantity, status::Cause};

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// What a quota may count besides what a container may ask for.
const COUNTED: [&str; 12] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
];

/// Checks the resources of a container, which stand at `field`.
pub(super) fn check(field: &str, resources: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let none = Map::new();
    let part = |name| {
        let map = json::at(resources, &[name]).and_then(Value::as_object);
        map.unwrap_or(&none)
    };
    let limits = part("limits");
    for (name, amount) in limits {
        causes.extend(one(&format!("{field}.limits[{name}]"), name, amount));
    }
    for (name, amount) in part("requests") {
        causes.extend(one(&format!("{field}.requests[{name}]"), name, amount));
        let over = over_limit(name, amount, limits.get(name));
        match over {
            Some(Over::Limit(why)) => {
                let request = amount.as_str().unwrap_or("");
                causes.push(Cause::invalid(&format!("{field}.requests"), request, &why));
            }
            Some(Over::NoLimit) => causes.push(Cause::required(
                &format!("{field}.limits"),
                "Limit must be set for non overcommitable resources",
            )),
            None => {}
        }
    }
    causes
}

/// Checks that an amount is one a node or a container can have.
pub(super) fn value(field: &str, name: &str, amount: &Value) -> Vec<Cause> {
    let text = amount.as_str().unwrap_or("");
    let mut causes = Vec::new();
    let Some(quantity) = Quantity::parse(text) else {
        return causes;
    };
    if quantity.nanos() < 0 {
        causes.push(Cause::invalid(field, text, NOT_NEGATIVE));
    }
    if is_counted(name) && !quantity.is_whole() {
        causes.push(Cause::invalid(field, text, "must be an integer"));
    }
    causes
}

fn one(field: &str, name: &str, amount: &Value) -> Vec<Cause> {
    let mut causes = resource_name(field, name);
    causes.extend(value(field, name, amount));
    causes
}

fn resource_name(field: &str, name: &str) -> Vec<Cause> {
    let mut causes: Vec<Cause> = by_rule(field, name, names::qualified(name)).collect();
    let mut add = |why| causes.push(Cause::invalid(field, name, why));
    if name.contains('/') {
        if !is_native(name) && !is_extended(name) {
            add("doesn't follow extended resource name standard");
        }
    } else if !is_for_containers(name) {
        if !COUNTED.contains(&name) {
            add("must be a standard resource type or fully qualified");
        }
        add("must be a standard resource for containers");
    }
    causes
}

enum Over {
    Limit(String),
    NoLimit,
}

fn over_limit(name: &str, request: &Value, limit: Option<&Value>) -> Option<Over> {
    let flexible = is_native(name) && !name.starts_with("hugepages-");
    let nanos = |it: &Value| Quantity::parse(it.as_str()?).map(Quantity::nanos);
    let Some(limit) = limit else {
        return (!flexible).then_some(Over::NoLimit);
    };
    let (asked, most) = (nanos(request)?, nanos(limit)?);
    let text = limit.as_str().unwrap_or("");
    if asked != most && !flexible {
        return Some(Over::Limit(format!(
            "must be equal to {name} limit of {text}"
        )));
    }
    (asked > most).then(|| {
        Over::Limit(format!(
            "must be less than or equal to {name} limit of {text}"
        ))
    })
}

fn is_for_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified(&format!("requests.{name}")).is_empty()
}

fn is_counted(name: &str) -> bool {
    is_extended(name)
        || matches!(
            name,
            "pods"
                | "services"
                | "replicationcontrollers"
                | "secrets"
                | "configmaps"
                | "persistentvolumeclaims"
        )
}
