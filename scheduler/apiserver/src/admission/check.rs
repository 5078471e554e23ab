//! Validation: takes an object as it shall be stored and gives each mistake in it, in the words and the
//! order of kube-apiserver (`pkg/apis/*/validation`). Checked are names and what a scheduler reads.

mod amounts;
mod container;
mod kinds;
mod meta;
mod node;
mod placement;
mod pod;
mod pod_update;
mod workload;

use serde_json::Value;

use crate::{json, resources::Resource, status::Cause};

/// Checks a new object.
pub(super) fn create(resource: &Resource, value: &Value) -> Vec<Cause> {
    let mut causes = meta::check(resource, value);
    match resource.kind {
        "Pod" => causes.extend(pod::check(value)),
        "Node" => causes.extend(node::check(value)),
        "Event" => return kinds::check(resource, value),
        _ => {
            causes.extend(kinds::check(resource, value));
            causes.extend(workload::check(resource, value));
        }
    }
    causes
}

/// Checks a changed object.
pub(super) fn update(resource: &Resource, old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = meta::check_update(old, new);
    match resource.kind {
        "Pod" => {
            causes.extend(pod::check(new));
            causes.extend(pod_update::check(old, new));
        }
        "Node" => causes.extend(node::check_update(old, new)),
        _ => {
            causes.extend(kinds::check_update(resource, old, new));
            causes.extend(workload::check(resource, new));
        }
    }
    causes
}

/// Gives the mistakes of a text by a rule, as causes at a field.
fn by_rule(field: &str, text: &str, wrong: Vec<String>) -> impl Iterator<Item = Cause> {
    wrong
        .into_iter()
        .map(move |why| Cause::invalid(field, text, &why))
}

/// Gives a whole number at a path.
fn number(value: &Value, path: &[&str]) -> Option<i64> {
    json::at(value, path)?.as_i64()
}

/// Refuses a text that is none of the known ones; nothing is said of one that is missing.
fn choice(field: &str, value: Option<&str>, known: &[&str]) -> Option<Cause> {
    let value = value.filter(|value| !known.contains(value))?;
    Some(Cause::unsupported(field, value, known))
}

/// Gives the entries of a map of texts.
fn pairs<'a>(value: &'a Value, path: &[&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = json::at(value, path).and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or("")))
}

#[cfg(test)]
mod tests;
