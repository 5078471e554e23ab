//! What a pod may change (`ValidatePodUpdate`): images, deadlines, more tolerations, fewer gates, and
//! while it has gates, a stricter node selector.
//!
//! Differs: kube-apiserver adds a comparison of its internal types to the refusal of other changes.

use serde_json::Value;

use super::number;
use crate::{json, status::Cause};

const FIXED: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks a change of a pod.
pub(super) fn check(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for list in ["containers", "initContainers"] {
        let count = |of| json::list(of, &["spec", list]).len();
        if count(old) != count(new) {
            let field = format!("spec.{list}");
            let why = "pod updates may not add or remove containers";
            causes.push(Cause::forbidden(&field, why));
            return causes;
        }
    }
    causes.extend(deadline(old, new));
    causes.extend(tolerations(old, new));
    causes.extend(gates(old, new));
    let (old_spec, mut munged) = (&old["spec"], new["spec"].clone());
    munge(old_spec, &mut munged);
    if !json::list(old, &["spec", "schedulingGates"]).is_empty() {
        causes.extend(gated(old_spec, &mut munged));
    }
    if munged != *old_spec {
        causes.push(Cause::forbidden("spec", FIXED));
    }
    causes
}

/// Takes over from the old spec what may change.
fn munge(old: &Value, new: &mut Value) {
    for list in ["containers", "initContainers"] {
        let items = new.get_mut(list).and_then(Value::as_array_mut);
        for (container, before) in items.into_iter().flatten().zip(json::list(old, &[list])) {
            copy(before, container, "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        copy(old, new, field);
    }
    let grace = |of: &Value| number(of, &["terminationGracePeriodSeconds"]);
    if grace(old).is_some_and(|it| it < 0) && grace(new) == Some(1) {
        copy(old, new, "terminationGracePeriodSeconds");
    }
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    json::put(json::fields(to), field, from.get(field).cloned());
}

fn deadline(old: &Value, new: &Value) -> Option<Cause> {
    let field = "spec.activeDeadlineSeconds";
    let seconds = |of| number(of, &["spec", "activeDeadlineSeconds"]);
    match (seconds(old), seconds(new)) {
        (Some(before), Some(after)) if before < after => Some(Cause::invalid_json(
            field,
            &after,
            "must be less than or equal to previous value",
        )),
        (Some(_), None) => Some(Cause::invalid_json(
            field,
            &Value::Null,
            "must not update from a positive integer to nil value",
        )),
        _ => None,
    }
}

fn tolerations(old: &Value, new: &Value) -> Option<Cause> {
    let bare = |toleration: &Value| {
        let mut bare = toleration.clone();
        json::fields(&mut bare).remove("tolerationSeconds");
        bare
    };
    let of = |pod| json::list(pod, &["spec", "tolerations"]).iter().map(bare);
    let kept = of(old).all(|before| of(new).any(|after| after == before));
    let why = "existing toleration can not be modified except its tolerationSeconds";
    (!kept).then(|| Cause::forbidden("spec.tolerations", why))
}

fn gates(old: &Value, new: &Value) -> Vec<Cause> {
    let of = |pod| json::list(pod, &["spec", "schedulingGates"]);
    let mut causes = Vec::new();
    for (at, gate) in of(new).iter().enumerate() {
        let name = |gate: &Value| json::text(gate, &["name"]).unwrap_or("").to_owned();
        if !of(old).iter().any(|before| name(before) == name(gate)) {
            let field = format!("spec.schedulingGates[{at}].name");
            let why = format!(
                "only deletion is allowed, but found new scheduling gate '{}'",
                name(gate)
            );
            causes.push(Cause::forbidden(&field, &why));
        }
    }
    causes
}

/// Lets a pod with gates add to its node selector, and takes that out of the comparison.
fn gated(old: &Value, munged: &mut Value) -> Option<Cause> {
    let selector = |of: &Value| of.get("nodeSelector").and_then(Value::as_object).cloned();
    let (before, after) = (
        selector(old).unwrap_or_default(),
        selector(munged).unwrap_or_default(),
    );
    copy(old, munged, "nodeSelector");
    let kept = before
        .iter()
        .all(|(key, value)| after.get(key) == Some(value));
    let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    (!kept).then(|| {
        let value = Value::Object(after);
        Cause::invalid_json("spec.nodeSelector", &value, why)
    })
}
