//! Nodes (`ValidateNode`, `ValidateNodeUpdate`).

use std::net::IpAddr;

use serde_json::Value;

use super::{amounts, by_rule, choice, placement::EFFECTS};
use crate::{json, names, status::Cause};

/// Checks a new node.
pub(super) fn check(node: &Value) -> Vec<Cause> {
    let mut causes = taints(node);
    causes.extend(resources(node));
    causes.extend(ranges(node));
    causes
}

/// Checks a changed node.
pub(super) fn check_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = ranges(new);
    causes.extend(resources(new));
    let of = |node| json::list(node, &["spec", "podCIDRs"]);
    if !of(old).is_empty() && of(old) != of(new) {
        let why = "node updates may not change podCIDR except from \"\" to valid";
        causes.push(Cause::forbidden("spec.podCIDRs", why));
    }
    let provider = |node| json::text(node, &["spec", "providerID"]);
    if let Some(before) = provider(old)
        && provider(new) != Some(before)
    {
        let what = if provider(new).is_some() {
            "modified"
        } else {
            "cleared"
        };
        let why = format!("field cannot be {what} once set");
        causes.push(Cause::invalid_json("spec.providerID", &Value::Null, &why));
    }
    causes.extend(taints(new));
    causes
}

fn taints(node: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen = Vec::new();
    for (at, taint) in json::list(node, &["spec", "taints"]).iter().enumerate() {
        // The path is that of kube-apiserver, though taints stand in the spec.
        let path = format!("metadata.taints[{at}]");
        let text = |name| json::text(taint, &[name]).unwrap_or("");
        let (key, value, effect) = (text("key"), text("value"), text("effect"));
        causes.extend(by_rule(&format!("{path}.key"), key, names::qualified(key)));
        let wrong = names::label_value(value);
        if !wrong.is_empty() {
            causes.push(Cause::invalid(
                &format!("{path}.value"),
                value,
                &wrong.join(";"),
            ));
        }
        let field = format!("{path}.effect");
        if effect.is_empty() {
            causes.push(Cause::required(&field, ""));
        }
        causes.extend(choice(
            &field,
            Some(effect).filter(|it| !it.is_empty()),
            &EFFECTS,
        ));
        if seen.contains(&(key, effect)) {
            // The fields are named and ordered as in kube-apiserver's internal type.
            let shown = format!(
                "{{\"Key\":{key:?},\"Value\":{value:?},\"Effect\":{effect:?},\"TimeAdded\":{}}}",
                taint["timeAdded"]
            );
            causes.push(Cause::duplicate_taint(&path, &shown));
        }
        seen.push((key, effect));
    }
    causes
}

fn resources(node: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for list in ["capacity", "allocatable"] {
        let map = json::at(node, &["status", list]).and_then(Value::as_object);
        for (name, amount) in map.into_iter().flatten() {
            let field = format!("status.{list}.{name}");
            causes.extend(amounts::value(&field, name, amount));
        }
    }
    causes
}

/// Refuses two address ranges of one family, and a range that is none.
fn ranges(node: &Value) -> Vec<Cause> {
    let ranges = json::list(node, &["spec", "podCIDRs"]);
    let mut causes = Vec::new();
    let mut families = Vec::new();
    for (at, range) in ranges.iter().enumerate() {
        let text = range.as_str().unwrap_or("");
        if let Some(family) = family(text) {
            families.push(family);
        } else {
            let field = format!("spec.podCIDRs[{at}]");
            let why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            causes.push(Cause::invalid(&field, text, why));
        }
    }
    let one_each = families.len() <= 2 && (families.len() < 2 || families[0] != families[1]);
    if !one_each {
        let why = "may specify no more than one CIDR for each IP family";
        let shown = Value::Array(ranges.to_vec());
        causes.push(Cause::invalid_json("spec.podCIDRs", &shown, why));
    }
    causes
}

/// Tells whether a range is of version 6; nothing where it is no range.
fn family(text: &str) -> Option<bool> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    let most = if address.is_ipv6() { 128 } else { 32 };
    (length <= most).then_some(address.is_ipv6())
}
