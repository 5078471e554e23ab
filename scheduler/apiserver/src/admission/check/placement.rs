//! What a pod says of where it wants to be: selectors, affinity, tolerations, spread
//! (`validateAffinity`, `ValidateTolerations`, `validateTopologySpreadConstraints`).

use serde_json::Value;

use super::{by_rule, choice, meta, number};
use crate::{json, names, status::Cause};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Checks the affinity of a spec that stands at `field`.
pub(super) fn affinity(field: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let base = format!("{field}.affinity");
    if let Some(node) = json::at(spec, &["affinity", "nodeAffinity"]).filter(|it| it.is_object()) {
        node_affinity(&format!("{base}.nodeAffinity"), node, &mut causes);
    }
    for side in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = json::at(spec, &["affinity", side]) else {
            continue;
        };
        for (at, term) in json::list(pods, &[REQUIRED]).iter().enumerate() {
            pod_term(
                &format!("{base}.{side}.{REQUIRED}[{at}]"),
                term,
                &mut causes,
            );
        }
        for (at, weighted) in json::list(pods, &[PREFERRED]).iter().enumerate() {
            let path = format!("{base}.{side}.{PREFERRED}[{at}]");
            causes.extend(weight(&path, weighted));
            pod_term(
                &format!("{path}.podAffinityTerm"),
                &weighted["podAffinityTerm"],
                &mut causes,
            );
        }
    }
    causes
}

fn node_affinity(path: &str, node: &Value, causes: &mut Vec<Cause>) {
    if let Some(required) = json::at(node, &[REQUIRED]).filter(|it| it.is_object()) {
        let terms = json::list(required, &["nodeSelectorTerms"]);
        let path = format!("{path}.{REQUIRED}.nodeSelectorTerms");
        if terms.is_empty() {
            let why = "must have at least one node selector term";
            causes.push(Cause::required(&path, why));
        }
        for (at, term) in terms.iter().enumerate() {
            node_term(&format!("{path}[{at}]"), term, true, causes);
        }
    }
    for (at, term) in json::list(node, &[PREFERRED]).iter().enumerate() {
        let path = format!("{path}.{PREFERRED}[{at}]");
        causes.extend(weight(&path, term));
        node_term(
            &format!("{path}.preference"),
            &term["preference"],
            false,
            causes,
        );
    }
}

fn weight(path: &str, term: &Value) -> Option<Cause> {
    let weight = number(term, &["weight"]).unwrap_or(0);
    let why = "must be in the range 1-100";
    (!(1..=100).contains(&weight))
        .then(|| Cause::invalid_json(&format!("{path}.weight"), &weight, why))
}

fn node_term(path: &str, term: &Value, values_too: bool, causes: &mut Vec<Cause>) {
    for (at, requirement) in json::list(term, &["matchExpressions"]).iter().enumerate() {
        let path = format!("{path}.matchExpressions[{at}]");
        node_requirement(&path, requirement, causes);
        if !values_too {
            continue;
        }
        for (at, value) in json::list(requirement, &["values"]).iter().enumerate() {
            let text = value.as_str().unwrap_or("");
            let field = format!("{path}.values[{at}]");
            causes.extend(by_rule(&field, text, names::label_value(text)));
        }
    }
    for (at, requirement) in json::list(term, &["matchFields"]).iter().enumerate() {
        field_requirement(&format!("{path}.matchFields[{at}]"), requirement, causes);
    }
}

fn node_requirement(path: &str, requirement: &Value, causes: &mut Vec<Cause>) {
    let operator = json::text(requirement, &["operator"]).unwrap_or("");
    let count = json::list(requirement, &["values"]).len();
    let values = format!("{path}.values");
    match operator {
        "In" | "NotIn" if count == 0 => causes.push(Cause::required(
            &values,
            "must be specified when `operator` is 'In' or 'NotIn'",
        )),
        "Exists" | "DoesNotExist" if count > 0 => causes.push(Cause::forbidden(
            &values,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )),
        "Gt" | "Lt" if count != 1 => causes.push(Cause::required(
            &values,
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
        )),
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => causes.push(Cause::invalid(
            &format!("{path}.operator"),
            other,
            "not a valid selector operator",
        )),
    }
    let key = json::text(requirement, &["key"]).unwrap_or("");
    causes.extend(by_rule(&format!("{path}.key"), key, names::qualified(key)));
}

fn field_requirement(path: &str, requirement: &Value, causes: &mut Vec<Cause>) {
    let operator = json::text(requirement, &["operator"]).unwrap_or("");
    if !matches!(operator, "In" | "NotIn") {
        let field = format!("{path}.operator");
        causes.push(Cause::invalid(
            &field,
            operator,
            "not a valid selector operator",
        ));
    } else if json::list(requirement, &["values"]).len() != 1 {
        causes.push(Cause::required(
            &format!("{path}.values"),
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ));
    }
    let key = json::text(requirement, &["key"]).unwrap_or("");
    if key != "metadata.name" {
        let field = format!("{path}.key");
        causes.push(Cause::invalid(
            &field,
            key,
            "not a valid field selector key",
        ));
    }
}

fn pod_term(path: &str, term: &Value, causes: &mut Vec<Cause>) {
    causes.extend(selector(
        &format!("{path}.labelSelector"),
        &term["labelSelector"],
    ));
    let field = format!("{path}.topologyKey");
    let key = json::text(term, &["topologyKey"]).unwrap_or("");
    if key.is_empty() {
        causes.push(Cause::required(&field, "can not be empty"));
    }
    causes.extend(by_rule(&field, key, names::qualified(key)));
}

/// Checks a label selector in its object form.
pub(super) fn selector(path: &str, selector: &Value) -> Vec<Cause> {
    let mut causes = meta::labels(&format!("{path}.matchLabels"), selector, &["matchLabels"]);
    for (at, requirement) in json::list(selector, &["matchExpressions"])
        .iter()
        .enumerate()
    {
        let path = format!("{path}.matchExpressions[{at}]");
        let count = json::list(requirement, &["values"]).len();
        match json::text(requirement, &["operator"]).unwrap_or("") {
            "In" | "NotIn" if count == 0 => causes.push(Cause::required(
                &format!("{path}.values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if count > 0 => causes.push(Cause::forbidden(
                &format!("{path}.values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => causes.push(Cause::invalid(
                &format!("{path}.operator"),
                other,
                "not a valid selector operator",
            )),
        }
        let key = json::text(requirement, &["key"]).unwrap_or("");
        causes.extend(by_rule(&format!("{path}.key"), key, names::qualified(key)));
    }
    causes
}

/// Checks the tolerations of a spec that stands at `field`.
pub(super) fn tolerations(field: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (at, toleration) in json::list(spec, &["tolerations"]).iter().enumerate() {
        let field = |name| format!("{field}.tolerations[{at}].{name}");
        let text = |name| json::text(toleration, &[name]).unwrap_or("");
        let (key, operator, value, effect) =
            (text("key"), text("operator"), text("value"), text("effect"));
        if key.is_empty() && operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            causes.push(Cause::invalid(&field("operator"), operator, why));
        } else if !key.is_empty() {
            causes.extend(by_rule(&field("key"), key, names::qualified(key)));
        }
        if toleration["tolerationSeconds"].is_number() && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            causes.push(Cause::invalid(&field("effect"), effect, why));
        }
        match operator {
            "" | "Equal" => {
                let wrong = names::label_value(value);
                if !wrong.is_empty() {
                    causes.push(Cause::invalid(&field("operator"), value, &wrong.join(";")));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                causes.push(Cause::invalid(&field("operator"), value, why));
            }
            "Exists" => {}
            other => {
                let known = ["Equal", "Exists"];
                causes.push(Cause::unsupported(&field("operator"), other, &known));
            }
        }
        causes.extend(choice(
            &field("effect"),
            Some(effect).filter(|it| !it.is_empty()),
            &EFFECTS,
        ));
    }
    causes
}

/// Checks the spread constraints of a spec that stands at `field`.
pub(super) fn spread(field: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let constraints = json::list(spec, &["topologySpreadConstraints"]);
    for (at, constraint) in constraints.iter().enumerate() {
        let path = format!("{field}.topologySpreadConstraints[{at}]");
        let skew = number(constraint, &["maxSkew"]).unwrap_or(0);
        if skew <= 0 {
            let field = format!("{path}.maxSkew");
            causes.push(Cause::invalid_json(
                &field,
                &skew,
                "must be greater than zero",
            ));
        }
        let text = |name| json::text(constraint, &[name]).unwrap_or("");
        let key = text("topologyKey");
        if key.is_empty() {
            causes.push(Cause::required(
                &format!("{path}.topologyKey"),
                "can not be empty",
            ));
        } else {
            causes.extend(by_rule(
                &format!("{path}.topologyKey"),
                key,
                names::qualified(key),
            ));
        }
        let known = ["DoNotSchedule", "ScheduleAnyway"];
        let then = text("whenUnsatisfiable");
        causes.extend(choice(
            &format!("{path}.whenUnsatisfiable"),
            Some(then),
            &known,
        ));
        let same = |other: &&Value| {
            ["topologyKey", "whenUnsatisfiable"]
                .iter()
                .all(|name| other[*name] == constraint[*name])
        };
        if constraints[at + 1..].iter().any(|other| same(&other)) {
            let field = format!("{path}.{{topologyKey, whenUnsatisfiable}}");
            causes.push(Cause::duplicate(&field, &format!("{{{key}, {then}}}")));
        }
        if let Some(domains) = number(constraint, &["minDomains"]) {
            let field = format!("{path}.minDomains");
            if domains <= 0 {
                causes.push(Cause::invalid_json(
                    &field,
                    &domains,
                    "must be greater than zero",
                ));
            }
            if then != "DoNotSchedule" {
                let why = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {then}"
                );
                causes.push(Cause::invalid_json(&field, &domains, &why));
            }
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let field = format!("{path}.{name}");
            causes.extend(choice(
                &field,
                json::text(constraint, &[name]),
                &["Honor", "Ignore"],
            ));
        }
        causes.extend(selector(
            &format!("{path}.labelSelector"),
            &constraint["labelSelector"],
        ));
    }
    causes
}
