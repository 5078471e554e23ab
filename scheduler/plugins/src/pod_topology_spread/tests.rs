//! The plugin against cases, and against the rule written down plainly.

mod defaults;
mod hard;
mod model;
mod soft;
mod wake;

use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use serde_json::{Value, json};

use super::constraint::HOST;

/// A node of a zone, named as its host.
fn host(name: &str, zone: &str) -> NodeBuilder {
    node(name).label("zone", zone).label(HOST, name)
}

/// A pod of an app.
fn app(name: &str, app: &str) -> PodBuilder {
    pod(name).label("app", app)
}

/// A constraint over `key` on the pods of app `web`.
fn constraint(key: &str, action: &str, max_skew: i32) -> Value {
    json!({
        "maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": {"app": "web"}},
    })
}

fn hard(key: &str, max_skew: i32) -> Value {
    constraint(key, "DoNotSchedule", max_skew)
}

fn soft(key: &str, max_skew: i32) -> Value {
    constraint(key, "ScheduleAnyway", max_skew)
}

/// `pod` with these constraints.
fn spread(pod: PodBuilder, constraints: &[Value]) -> PodBuilder {
    pod.merge(json!({"spec": {"topologySpreadConstraints": constraints}}))
}

/// The same constraint with other fields.
fn with(mut constraint: Value, fields: Value) -> Value {
    if let (Value::Object(into), Value::Object(fields)) = (&mut constraint, fields) {
        into.extend(fields);
    }
    constraint
}
