//! The columns of tables, kind by kind (`pkg/printers/internalversion/printers.go`): those that a
//! scheduler's operator looks at; the other kinds show name and age.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use crate::{json, resources::Resource};

/// One column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    /// 0 is always shown, 1 with `-o wide`.
    pub(super) priority: u8,
    pub(super) cell: fn(&Value, Timestamp) -> Value,
}

/// Gives the columns of a resource.
pub(super) fn columns(resource: &Resource) -> &'static [Column] {
    match (resource.kind, resource.alias.is_some()) {
        ("Pod", _) => POD,
        ("Node", _) => NODE,
        ("Namespace", _) => NAMESPACE,
        ("Event", false) => EVENT,
        ("Lease", _) => LEASE,
        ("PriorityClass", _) => PRIORITY_CLASS,
        ("PodDisruptionBudget", _) => BUDGET,
        _ => PLAIN,
    }
}

const NAME: Column = text("Name", |it, _| shown(it, &["metadata", "name"]));
const AGE: Column = text("Age", |it, now| {
    json!(age::since(
        json::text(it, &["metadata", "creationTimestamp"]),
        now
    ))
});

static PLAIN: &[Column] = &[NAME, AGE];

static POD: &[Column] = &[
    NAME,
    text("Ready", |it, _| json!(ready(it))),
    text("Status", |it, _| json!(pod_status(it))),
    number("Restarts", |it, _| json!(restarts(it))),
    AGE,
    wide("IP", |it, _| shown(it, &["status", "podIP"])),
    wide("Node", |it, _| shown(it, &["spec", "nodeName"])),
    wide("Nominated Node", |it, _| {
        shown(it, &["status", "nominatedNodeName"])
    }),
];

static NODE: &[Column] = &[
    NAME,
    text("Status", |it, _| json!(node_status(it))),
    text("Roles", |it, _| json!(roles(it))),
    AGE,
    text("Version", |it, _| {
        shown(it, &["status", "nodeInfo", "kubeletVersion"])
    }),
];

static NAMESPACE: &[Column] = &[
    NAME,
    text("Status", |it, _| shown(it, &["status", "phase"])),
    AGE,
];

static EVENT: &[Column] = &[
    text("Last Seen", |it, now| json!(age::since(last_seen(it), now))),
    text("Type", |it, _| shown(it, &["type"])),
    text("Reason", |it, _| shown(it, &["reason"])),
    text("Object", |it, _| json!(subject(it))),
    text("Message", |it, _| shown(it, &["message"])),
    wide("Name", |it, _| shown(it, &["metadata", "name"])),
];

static LEASE: &[Column] = &[
    NAME,
    text("Holder", |it, _| shown(it, &["spec", "holderIdentity"])),
    AGE,
];

static PRIORITY_CLASS: &[Column] = &[
    NAME,
    number("Value", |it, _| json!(it["value"].as_i64().unwrap_or(0))),
    text("Global-Default", |it, _| json!(it["globalDefault"] == true)),
    AGE,
    text("PreemptionPolicy", |it, _| shown(it, &["preemptionPolicy"])),
];

static BUDGET: &[Column] = &[
    NAME,
    text("Min Available", |it, _| limit(it, "minAvailable")),
    text("Max Unavailable", |it, _| limit(it, "maxUnavailable")),
    number("Allowed Disruptions", |it, _| {
        json!(it["status"]["disruptionsAllowed"].as_i64().unwrap_or(0))
    }),
    AGE,
];

const fn text(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        name,
        kind: "string",
        priority: 0,
        cell,
    }
}

const fn number(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        name,
        kind: "integer",
        priority: 0,
        cell,
    }
}

const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        name,
        kind: "string",
        priority: 1,
        cell,
    }
}

fn shown(object: &Value, path: &[&str]) -> Value {
    json!(json::text(object, path).unwrap_or("<none>"))
}

fn limit(budget: &Value, field: &str) -> Value {
    match &budget["spec"][field] {
        Value::Null => json!("N/A"),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

fn ready(pod: &Value) -> String {
    let statuses = json::list(pod, &["status", "containerStatuses"]);
    let ready = statuses.iter().filter(|it| it["ready"] == true).count();
    format!("{ready}/{}", json::list(pod, &["spec", "containers"]).len())
}

fn restarts(pod: &Value) -> i64 {
    let statuses = json::list(pod, &["status", "containerStatuses"]).iter();
    statuses
        .filter_map(|it| it["restartCount"].as_i64())
        .fold(0, i64::saturating_add)
}

fn pod_status(pod: &Value) -> &str {
    if json::text(pod, &["metadata", "deletionTimestamp"]).is_some() {
        return "Terminating";
    }
    let mut conditions = json::list(pod, &["status", "conditions"]).iter();
    if conditions.any(|it| it["type"] == "PodScheduled" && it["reason"] == "SchedulingGated") {
        return "SchedulingGated";
    }
    let reason = json::text(pod, &["status", "reason"]);
    reason
        .or_else(|| json::text(pod, &["status", "phase"]))
        .unwrap_or("Unknown")
}

fn node_status(node: &Value) -> String {
    let mut conditions = json::list(node, &["status", "conditions"]).iter();
    let ready = match conditions.find(|it| it["type"] == "Ready") {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    if node["spec"]["unschedulable"] == true {
        return format!("{ready},SchedulingDisabled");
    }
    ready.to_owned()
}

fn roles(node: &Value) -> String {
    let labels = json::at(node, &["metadata", "labels"]).and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    }
}

fn last_seen(event: &Value) -> Option<&str> {
    json::text(event, &["series", "lastObservedTime"])
        .or_else(|| json::text(event, &["lastTimestamp"]))
        .or_else(|| json::text(event, &["eventTime"]))
        .or_else(|| json::text(event, &["metadata", "creationTimestamp"]))
}

fn subject(event: &Value) -> String {
    let text = |field| json::text(event, &["involvedObject", field]).unwrap_or("");
    format!("{}/{}", text("kind").to_lowercase(), text("name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(kind: &str, object: &Value) -> Vec<Value> {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let resource = Resource::named(kind).unwrap();
        columns(resource)
            .iter()
            .map(|column| (column.cell)(object, now))
            .collect()
    }

    #[test]
    fn a_pod_shows_where_it_is_and_how_it_does() {
        let pod = json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-11-30T11:59:00Z"},
            "spec": {"nodeName": "n", "containers": [{}, {}]},
            "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2}]},
        });
        let expected = json!(["a", "1/2", "Running", 2, "60s", "<none>", "n", "<none>"]);
        assert_eq!(json!(cells("pods", &pod)), expected);
    }

    #[test]
    fn a_cordoned_node_says_so() {
        let node = json!({
            "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": ""}},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        let expected = json!([
            "n",
            "Ready,SchedulingDisabled",
            "worker",
            "<unknown>",
            "<none>"
        ]);
        assert_eq!(json!(cells("nodes", &node)), expected);
    }

    #[test]
    fn an_event_names_its_subject() {
        let event = json!({
            "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "a"}, "type": "Normal",
            "reason": "Scheduled", "message": "m", "eventTime": "2026-11-30T11:59:30.123456Z",
        });
        let expected = json!(["30s", "Normal", "Scheduled", "pod/a", "m", "e"]);
        assert_eq!(json!(cells("events", &event)), expected);
    }
}
