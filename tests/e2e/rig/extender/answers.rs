//! The extender's answers: takes a request, gives what annotations of its pod ask for.
//!
//! `extender/refuse` and `extender/never` name nodes that filter refuses, `extender/best` the
//! node that prioritize likes, `extender/victims` the only candidate that preempt leaves.

use plimsoll_tests::controlplane::Api;
use serde_json::{Map, Value, json};

use crate::rig::pod_path;

/// The score of the node that a pod is said to like: the highest that there is.
const BEST: i64 = 10;

pub(super) fn filter(body: &Value) -> Value {
    let (refuse, never) = (said(body, "refuse"), said(body, "never"));
    let (mut kept, mut failed, mut unresolvable) = (Vec::new(), Map::new(), Map::new());
    for name in names(body) {
        if never.contains(&name) {
            unresolvable.insert(name, json!("never, says the extender"));
        } else if refuse.contains(&name) {
            failed.insert(name, json!("not now, says the extender"));
        } else {
            kept.push(name);
        }
    }
    let mut answer = json!({"FailedNodes": failed, "FailedAndUnresolvableNodes": unresolvable,
        "Error": ""});
    if body["Nodes"].is_null() {
        answer["NodeNames"] = json!(kept);
    } else {
        let items = body["Nodes"]["items"].as_array().into_iter().flatten();
        let kept = items.filter(|node| kept.contains(&name(node)));
        answer["Nodes"] = json!({"metadata": {}, "items": kept.collect::<Vec<_>>()});
    }
    answer
}

pub(super) fn prioritize(body: &Value) -> Value {
    let best = said(body, "best");
    let score = |name: String| {
        let score = if best.contains(&name) { BEST } else { 0 };
        json!({"Host": name, "Score": score})
    };
    names(body).into_iter().map(score).collect()
}

pub(super) fn preempt(body: &Value) -> Value {
    let wanted = said(body, "victims");
    let mut left = Map::new();
    for key in ["NodeNameToVictims", "NodeNameToMetaVictims"] {
        for (node, victims) in body[key].as_object().into_iter().flatten() {
            if wanted.is_empty() || wanted.contains(node) {
                left.insert(node.clone(), by_uid(victims));
            }
        }
    }
    json!({"NodeNameToMetaVictims": left})
}

/// Binds, if there is a way to the API server.
pub(super) fn bind(api: Option<&Api>, body: &Value) -> Value {
    let pod = &body["PodName"];
    let binding = json!({"apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": pod, "namespace": body["PodNamespace"], "uid": body["PodUID"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": body["Node"]}});
    let path = format!("{}/binding", pod_path(pod.as_str().unwrap_or_default()));
    let bound = api.map(|api| api.create(&path, &binding));
    let error = bound.and_then(Result::err);
    json!({"Error": error.map(|error| error.to_string()).unwrap_or_default()})
}

fn by_uid(victims: &Value) -> Value {
    let pods = victims["Pods"].as_array().into_iter().flatten();
    let uid = |pod: &Value| {
        let whole = &pod["metadata"]["uid"];
        let uid = if whole.is_null() { &pod["UID"] } else { whole };
        json!({"UID": uid})
    };
    json!({"Pods": pods.map(uid).collect::<Vec<_>>(),
        "NumPDBViolations": victims["NumPDBViolations"]})
}

/// The nodes of a question, in its order.
fn names(body: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(names) = body["NodeNames"].as_array() {
        return names.iter().map(text).collect();
    }
    let items = body["Nodes"]["items"].as_array().into_iter().flatten();
    items.map(name).collect()
}

fn name(node: &Value) -> String {
    node["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The nodes that an annotation of the pod names.
fn said(body: &Value, annotation: &str) -> Vec<String> {
    let annotations = &body["Pod"]["metadata"]["annotations"];
    let text = annotations[format!("extender/{annotation}")].as_str();
    let names = text.unwrap_or_default().split(',');
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}
