//! The columns of leases, priority classes and disruption budgets.

use serde_json::{Value, json};

use super::{AGE, Column, NAME, count, flag, number, plain, text};

pub(super) static LEASE: &[Column] = &[
    NAME,
    text("Holder", |it, _| plain(it, &["spec", "holderIdentity"])),
    AGE,
];

pub(super) static PRIORITY_CLASS: &[Column] = &[
    NAME,
    number("Value", |it, _| json!(count(it, &["value"]))),
    flag("Global-Default", |it, _| json!(it["globalDefault"] == true)),
    AGE,
    text("PreemptionPolicy", |it, _| plain(it, &["preemptionPolicy"])),
];

pub(super) static BUDGET: &[Column] = &[
    NAME,
    text("Min Available", |it, _| limit(it, "minAvailable")),
    text("Max Unavailable", |it, _| limit(it, "maxUnavailable")),
    number("Allowed Disruptions", |it, _| {
        json!(count(it, &["status", "disruptionsAllowed"]))
    }),
    AGE,
];

fn limit(budget: &Value, field: &str) -> Value {
    match &budget["spec"][field] {
        Value::Null => json!("N/A"),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}
