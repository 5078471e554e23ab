//! Defaults of kinds that hold a pod template (`pkg/apis/apps/v1/defaults.go`).

use serde_json::{Map, Value, json};

use crate::{admission::container, json, resources::Resource};

/// What a pod spec in a template gets; a pod gets more when it is made from it.
const TEMPLATE: [(&str, &str); 3] = [
    ("restartPolicy", "Always"),
    ("dnsPolicy", "ClusterFirst"),
    ("schedulerName", "default-scheduler"),
];

/// How long a pod of a template may take to end, in seconds, as kube-apiserver.
const GRACE_S: i64 = 30;

/// Fills in the defaults of a workload; other kinds stay as they are.
pub(super) fn fill(resource: &Resource, value: &mut Value) {
    let defaults = match resource.kind {
        "Deployment" => json!({
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate"},
        }),
        "StatefulSet" => json!({
            "revisionHistoryLimit": 10,
            "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate"},
        }),
        "DaemonSet" => json!({
            "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate"},
        }),
        "ReplicaSet" | "ReplicationController" => json!({}),
        _ => return,
    };
    let spec = json::section(value, "spec");
    complete(spec, &defaults);
    roll(resource.kind, spec);
    if spec.get("template").is_some_and(Value::is_object) {
        template(json::child(json::child(spec, "template"), "spec"));
    }
}

/// Sets what is absent, section by section.
fn complete(map: &mut Map<String, Value>, defaults: &Value) {
    for (field, default) in defaults.as_object().into_iter().flatten() {
        match default {
            Value::Object(_) => complete(json::child(map, field), default),
            plain => json::set_default(map, field, plain.clone()),
        }
    }
}

/// Says how a rolling update rolls.
fn roll(kind: &str, spec: &mut Map<String, Value>) {
    let (section, defaults) = match kind {
        "Deployment" => (
            "strategy",
            json!({"maxUnavailable": "25%", "maxSurge": "25%"}),
        ),
        "StatefulSet" => ("updateStrategy", json!({"partition": 0})),
        "DaemonSet" => (
            "updateStrategy",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
        ),
        _ => return,
    };
    let strategy = json::child(spec, section);
    if strategy.get("type").is_some_and(|it| it == "RollingUpdate") {
        complete(json::child(strategy, "rollingUpdate"), &defaults);
    }
}

fn template(spec: &mut Map<String, Value>) {
    for (field, default) in TEMPLATE {
        json::set_default(spec, field, default);
    }
    json::set_default(spec, "terminationGracePeriodSeconds", GRACE_S);
    json::set_default(spec, "securityContext", json!({}));
    let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            container::fill(container, host_network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_rolls_and_its_template_is_complete() {
        let mut deployment = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}},
            "template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}}});
        fill(Resource::named("deployments").unwrap(), &mut deployment);
        let spec = &deployment["spec"];
        assert_eq!(
            spec["strategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}})
        );
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Always");
        assert_eq!(pod["containers"][0]["imagePullPolicy"], "Always");
    }

    #[test]
    fn a_strategy_without_rolling_stays_without() {
        let mut deployment = json!({"spec": {"strategy": {"type": "Recreate"}}});
        fill(Resource::named("deployments").unwrap(), &mut deployment);
        assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
        assert!(deployment["spec"].get("template").is_none());
    }
}
