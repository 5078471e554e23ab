//! What a pod needs of the kubelet, what a node declares, and who is being preempted.

use serde_json::{Value, json};

use super::{node, pod};
use crate::decode::decode_node;

fn needs(spec: &Value) -> Vec<&'static str> {
    let pod = pod(&json!({"metadata": {"name": "a"}, "spec": spec}));
    pod.spec.needs.names().collect()
}

#[test]
fn most_pods_need_nothing_out_of_the_ordinary() {
    let plain = [
        json!({}),
        json!({"hostNetwork": true, "hostUsers": true}),
        json!({"hostNetwork": true, "hostUsers": null}),
        json!({"hostUsers": false}),
        json!({"containers": [{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}),
        json!({"containers": [{"name": "c", "volumeMounts": [{"bindMountOptions": []}]}]}),
        json!({"containers": [{"name": "c", "restartPolicyRules": [{"action": "Restart"}]}]}),
    ];
    for spec in plain {
        assert!(needs(&spec).is_empty(), "{spec}");
    }
}

#[test]
fn what_a_pod_needs_is_read_off_its_containers_and_its_network() {
    let restart = "RestartAllContainersOnContainerExits";
    let users = "UserNamespacesHostNetworkSupport";
    let mounts = "VolumeBindMountOptions";
    let rules = json!([{"action": "Restart"}, {"action": "RestartAllContainers"}]);
    let mount = json!([{"name": "v"}, {"name": "w", "bindMountOptions": ["noexec"]}]);
    let cases = [
        (
            json!({"containers": [{"restartPolicyRules": rules}]}),
            restart,
        ),
        (
            json!({"initContainers": [{"restartPolicyRules": rules}]}),
            restart,
        ),
        (json!({"hostNetwork": true, "hostUsers": false}), users),
        (json!({"containers": [{}, {"volumeMounts": mount}]}), mounts),
        (json!({"initContainers": [{"volumeMounts": mount}]}), mounts),
        (
            json!({"ephemeralContainers": [{"volumeMounts": mount}]}),
            mounts,
        ),
    ];
    for (spec, name) in cases {
        assert_eq!(needs(&spec), [name], "{spec}");
    }
}

#[test]
fn a_node_keeps_the_features_that_it_declares() {
    let declared = node(&json!({"status": {"declaredFeatures": ["B", "A", null]}}));
    let names: Vec<&str> = declared
        .status
        .declared_features
        .iter()
        .map(|name| &**name)
        .collect();
    assert_eq!(names, ["B", "A", ""]);
    assert!(node(&json!({})).status.declared_features.is_empty());
    let wrong = decode_node(br#"{"status": {"declaredFeatures": "A"}}"#);
    assert_eq!(
        wrong.expect_err("a list").to_string(),
        "status.declaredFeatures: unexpected JSON"
    );
}

#[test]
fn only_the_schedulers_own_disruption_makes_a_victim() {
    let target = |status: &str, reason: &str| json!({"type": "DisruptionTarget", "status": status, "reason": reason});
    let preempted = target("True", "PreemptionByScheduler");
    let cases = [
        (vec![preempted.clone()], true),
        (vec![target("False", "PreemptionByScheduler")], false),
        (
            vec![target("True", "EvictionByEvictionAPI"), preempted.clone()],
            false,
        ),
        (
            vec![json!({"type": "Ready", "status": "True"}), preempted],
            true,
        ),
        (Vec::new(), false),
    ];
    for (conditions, is_preempted) in cases {
        let pod = pod(&json!({"metadata": {"name": "a"}, "status": {"conditions": conditions}}));
        assert_eq!(pod.status.is_preempted, is_preempted, "{conditions:?}");
    }
}
