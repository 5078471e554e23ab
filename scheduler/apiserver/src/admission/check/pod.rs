//! The spec of a pod or of a pod template (`ValidatePodSpec`).

use serde_json::Value;

use super::{by_rule, choice, container, meta, number, placement};
use crate::{json, names, status::Cause};

/// Checks a pod.
pub(super) fn check(pod: &Value) -> Vec<Cause> {
    let mut causes = spec("spec", &pod["spec"]);
    let gated = !json::list(pod, &["spec", "schedulingGates"]).is_empty();
    if gated && json::text(pod, &["spec", "nodeName"]).is_some() {
        let why = "cannot be set until all schedulingGates have been cleared";
        causes.push(Cause::forbidden("spec.nodeName", why));
    }
    causes
}

/// Checks a spec that stands at `field`.
pub(super) fn spec(field: &str, spec: &Value) -> Vec<Cause> {
    let at = |name: &str| format!("{field}.{name}");
    let text = |name| json::text(spec, &[name]);
    let mut causes = container::check(field, spec);
    causes.extend(choice(
        &at("restartPolicy"),
        text("restartPolicy"),
        &["Always", "OnFailure", "Never"],
    ));
    causes.extend(choice(
        &at("dnsPolicy"),
        text("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    ));
    causes.extend(meta::labels(&at("nodeSelector"), spec, &["nodeSelector"]));
    causes.extend(placement::affinity(field, spec));
    causes.extend(gates(field, spec));
    causes.extend(placement::spread(field, spec));
    for (name, rule) in [
        (
            "serviceAccountName",
            names::subdomain as fn(&str) -> Vec<String>,
        ),
        ("nodeName", names::subdomain),
    ] {
        if let Some(value) = text(name) {
            causes.extend(by_rule(&at(name), value, rule(value)));
        }
    }
    if let Some(seconds) = number(spec, &["activeDeadlineSeconds"])
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let why = format!("must be between 1 and {}, inclusive", i32::MAX);
        let field = at("activeDeadlineSeconds");
        causes.push(Cause::invalid_json(&field, &seconds, &why));
    }
    for name in ["hostname", "subdomain"] {
        if let Some(value) = text(name) {
            causes.extend(by_rule(&at(name), value, names::label(value)));
        }
    }
    causes.extend(placement::tolerations(field, spec));
    if let Some(name) = text("priorityClassName") {
        causes.extend(by_rule(
            &at("priorityClassName"),
            name,
            names::subdomain(name),
        ));
    }
    causes.extend(choice(
        &at("preemptionPolicy"),
        text("preemptionPolicy"),
        &["Never", "PreemptLowerPriority"],
    ));
    causes
}

fn gates(field: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (at, gate) in json::list(spec, &["schedulingGates"]).iter().enumerate() {
        let path = format!("{field}.schedulingGates[{at}]");
        let name = json::text(gate, &["name"]).unwrap_or("");
        causes.extend(by_rule(&path, name, names::qualified(name)));
        if seen.contains(&name) {
            causes.push(Cause::duplicate(&path, name));
        }
        seen.push(name);
    }
    causes
}
