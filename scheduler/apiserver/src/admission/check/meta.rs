//! The metadata of any object (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`).

use serde_json::Value;

use super::{by_rule, pairs};
use crate::{
    json, names,
    resources::{Quirk, Resource},
    status::Cause,
};

/// Checks the metadata of a new object.
pub(super) fn check(resource: &Resource, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match json::text(value, &["metadata", "name"]) {
        None => {
            let why = "name or generateName is required";
            causes.push(Cause::required("metadata.name", why));
        }
        Some(name) => {
            let wrong = if resource.has(Quirk::LabelName) {
                names::label(name)
            } else {
                names::subdomain(name)
            };
            causes.extend(by_rule("metadata.name", name, wrong));
        }
    }
    check_texts(value, &mut causes);
    causes
}

/// Checks the metadata of a changed object.
pub(super) fn check_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let finalizers = |of| json::list(of, &["metadata", "finalizers"]);
    let is_going = json::text(old, &["metadata", "deletionTimestamp"]).is_some();
    let fresh: Vec<String> = finalizers(new)
        .iter()
        .filter(|it| !finalizers(old).contains(it))
        .map(|it| format!("{:?}", it.as_str().unwrap_or("")))
        .collect();
    if is_going && !fresh.is_empty() {
        let why = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            fresh.join(", ")
        );
        causes.push(Cause::forbidden("metadata.finalizers", &why));
    }
    check_texts(new, &mut causes);
    causes
}

fn check_texts(value: &Value, causes: &mut Vec<Cause>) {
    causes.extend(labels("metadata.labels", value, &["metadata", "labels"]));
    for (key, _) in pairs(value, &["metadata", "annotations"]) {
        let wrong = names::qualified(&key.to_lowercase());
        causes.extend(by_rule("metadata.annotations", key, wrong));
    }
    for finalizer in json::list(value, &["metadata", "finalizers"]) {
        let text = finalizer.as_str().unwrap_or("");
        causes.extend(by_rule("metadata.finalizers", text, names::qualified(text)));
    }
}

/// Checks keys and values of labels that stand at a path.
pub(super) fn labels(field: &str, value: &Value, path: &[&str]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, text) in pairs(value, path) {
        causes.extend(by_rule(field, key, names::qualified(key)));
        causes.extend(by_rule(field, text, names::label_value(text)));
    }
    causes
}
