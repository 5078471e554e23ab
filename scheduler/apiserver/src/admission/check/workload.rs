//! Kinds that hold a pod template: deployments and the like (`pkg/apis/apps/validation`).

use serde_json::Value;

use super::{meta, number, placement, pod};
use crate::{json, resources::Resource, selector::LabelSelector, status::Cause};

/// Checks an object if it holds a pod template.
pub(super) fn check(resource: &Resource, value: &Value) -> Vec<Cause> {
    if resource.group != "apps" {
        return Vec::new();
    }
    let spec = &value["spec"];
    let mut causes = Vec::new();
    if let Some(replicas) = number(spec, &["replicas"]).filter(|it| *it < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid_json("spec.replicas", &replicas, why));
    }
    let labels = json::at(spec, &["template", "metadata", "labels"]);
    if spec["selector"].is_null() {
        causes.push(Cause::required("spec.selector", ""));
    } else {
        causes.extend(placement::selector("spec.selector", &spec["selector"]));
    }
    let field = "spec.template.metadata.labels";
    let selects = LabelSelector::from_object(&spec["selector"]).is_some_and(|selector| {
        let label = |key: &str| labels.and_then(|it| it.get(key)).and_then(Value::as_str);
        !selector.is_empty() && selector.matches(label)
    });
    if !selects {
        let shown = labels.cloned().unwrap_or(Value::Null);
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid_json(field, &shown, why));
    }
    causes.extend(meta::labels(
        field,
        spec,
        &["template", "metadata", "labels"],
    ));
    causes.extend(pod::spec("spec.template.spec", &spec["template"]["spec"]));
    causes
}
