//! Objects as the API server sends them, odd ones, and broken ones with their paths.

mod constraints;
mod features;
mod garbage;
mod volumes;
mod whole;

use std::error::Error;

use serde_json::{Value, json};

use super::{DecodeError, decode_node, decode_pod};
use crate::bandwidth::LinkSpeed;
use crate::node::Node;
use crate::pod::{ConditionStatus, Phase, Pod};
use crate::taint::{TaintEffect, TolerationOperator};

fn pod(json: &Value) -> Pod {
    decode_pod(json.to_string().as_bytes()).unwrap_or_else(|e| panic!("{e}: {:?}", e.source()))
}

fn node(json: &Value) -> Node {
    decode_node(json.to_string().as_bytes()).unwrap_or_else(|e| panic!("{e}: {:?}", e.source()))
}

fn full_pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web-0", "namespace": "shop", "uid": "u-1", "resourceVersion": "42",
            "creationTimestamp": "2026-01-31T12:00:00Z",
            "deletionTimestamp": "2026-01-31T13:00:00Z",
            "labels": {"app": "web"},
            "annotations": {
                "kubernetes.io/config.hash": "abc", "kubernetes.io/egress-bandwidth": "80M",
                "plimsoll.dev/transfer-bytes": "1T", "scheduling.x-k8s.io/x": "y",
                "kubectl.kubernetes.io/last-applied-configuration": "{}", "example.com/a": "b",
            },
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "u-8"},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-9", "controller": true},
            ],
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:x": {}}}],
        },
        "spec": {
            "nodeName": "n1", "schedulerName": "plimsoll", "priority": -5,
            "preemptionPolicy": "Never", "schedulingGates": [{"name": "g"}],
            "tolerations": [
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "b", "value": "c"}, {"key": "d", "operator": "Lt", "value": "5"},
                {"key": "e", "effect": "NoNothing"},
            ],
            "initContainers": [{"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}}}],
            "containers": [{"name": "app", "env": [{"name": "A", "value": "b"}],
                            "resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "2Gi"}}}],
            "overhead": {"cpu": "10m"},
        },
        "status": {
            "phase": "Running", "startTime": "2026-01-31T12:00:05Z", "nominatedNodeName": "n2",
            "conditions": [
                {"type": "Ready", "status": "False"},
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1"},
            ],
            "containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}}],
        },
    })
}

#[test]
fn a_pod_keeps_what_the_scheduler_reads() {
    let pod = pod(&full_pod());
    assert_eq!(
        (pod.key().to_string(), pod.uid().to_string()),
        ("shop/web-0".into(), "u-1".into())
    );
    assert_eq!(&*pod.meta.resource_version, "42");
    assert_eq!(
        pod.meta.created.unwrap().to_string(),
        "2026-01-31T12:00:00Z"
    );
    assert!(pod.is_deleting() && !pod.is_terminal());
    assert_eq!(&*pod.meta.labels["app"], "web");
    assert_eq!(&*pod.meta.controller.as_ref().unwrap().name, "web");
    let spec = &pod.spec;
    assert_eq!(
        (spec.node_name.as_deref(), &*spec.scheduler_name),
        (Some("n1"), "plimsoll")
    );
    assert_eq!((spec.priority, spec.never_preempts), (-5, true));
    assert_eq!(&*spec.scheduling_gates[0], "g");
    assert_eq!(spec.container_names, ["side".into(), "app".into()]);
    assert_eq!(spec.requests.filter.cpu, 1260);
    assert_eq!(spec.requests.placed.cpu, 3260);
    assert_eq!(
        (spec.requests.limits.cpu, spec.requests.limits.memory),
        (None, None)
    );
    assert_eq!(
        (spec.bandwidth.ingress, spec.bandwidth.egress),
        (None, Some(10_000_000))
    );
    assert_eq!(pod.status.phase, Phase::Running);
    assert_eq!(pod.status.nominated_node.as_deref(), Some("n2"));
    assert_eq!(
        pod.status.started.unwrap().to_string(),
        "2026-01-31T12:00:05Z"
    );
    let scheduled = pod.status.scheduled.unwrap();
    assert_eq!(
        (scheduled.status, &*scheduled.reason),
        (ConditionStatus::False, "Unschedulable")
    );
}

#[test]
fn only_annotations_that_are_read_are_kept() {
    let keys: Vec<_> = pod(&full_pod()).meta.annotations.into_keys().collect();
    let kept = [
        "kubernetes.io/config.hash",
        "kubernetes.io/egress-bandwidth",
        "plimsoll.dev/transfer-bytes",
        "scheduling.x-k8s.io/x",
    ];
    assert_eq!(keys, kept.map(Into::into));
}

#[test]
fn tolerations_that_can_match_nothing_are_dropped_or_marked() {
    let tolerations = pod(&full_pod()).spec.tolerations;
    let seen: Vec<_> = tolerations
        .iter()
        .map(|t| (&*t.key, &t.operator, t.effect))
        .collect();
    let other = TolerationOperator::Other("Lt".into());
    assert_eq!(
        seen,
        [
            (
                "a",
                &TolerationOperator::Exists,
                Some(TaintEffect::NoExecute)
            ),
            ("b", &TolerationOperator::Equal, None),
            ("d", &other, None),
        ]
    );
}

#[test]
fn a_pod_of_nothing_has_the_defaults_of_the_api_server() {
    for text in ["{}", r#"{"metadata": null, "spec": null, "status": null}"#] {
        let pod = decode_pod(text.as_bytes()).unwrap();
        assert_eq!(pod.uid().to_string(), "default/");
        assert_eq!(&*pod.spec.scheduler_name, "default-scheduler");
        assert_eq!((pod.spec.node_name, pod.spec.priority), (None, 0));
        assert!(pod.spec.requests.filter.is_zero());
        assert_eq!(
            (pod.status.phase, pod.status.scheduled),
            (Phase::Pending, None)
        );
    }
}

#[test]
fn null_is_an_absent_field_everywhere() {
    let nulls = json!({
        "metadata": {"name": "p", "namespace": null, "uid": null, "labels": null, "annotations": null,
                     "ownerReferences": null, "creationTimestamp": null, "deletionTimestamp": null},
        "spec": {"nodeName": null, "schedulerName": null, "priority": null, "tolerations": null,
                 "containers": [null, {"name": "a", "resources": null},
                                {"name": "b", "resources": {"requests": null, "limits": {"cpu": null}}}],
                 "initContainers": null, "overhead": null, "resources": null, "schedulingGates": [null]},
        "status": {"phase": null, "conditions": null, "containerStatuses": [{"name": "a", "allocatedResources": null, "resources": null}],
                   "startTime": null, "resources": null, "allocatedResources": null},
    });
    let pod = pod(&nulls);
    assert_eq!(pod.uid().to_string(), "default/p");
    assert_eq!(pod.spec.container_names.len(), 3);
    assert!(!pod.is_deleting());
}

#[test]
fn an_absent_and_an_empty_status_list_differ() {
    let taken = |status: Value| {
        let pod = pod(&json!({
            "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]},
            "status": {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
                       "containerStatuses": [status]},
        }));
        pod.spec.requests.placed.cpu
    };
    assert_eq!(
        taken(json!({"name": "a", "allocatedResources": {"cpu": "1"}})),
        1000
    );
    assert_eq!(
        taken(
            json!({"name": "a", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {}}})
        ),
        1000
    );
    assert_eq!(
        taken(json!({"name": "a", "allocatedResources": {}, "resources": {"requests": {}}})),
        0
    );
}

#[test]
fn words_of_a_newer_version_are_understood_as_far_as_they_can_be() {
    let pod = pod(&json!({
        "spec": {"preemptionPolicy": "Sometimes", "containers": [{"name": "a", "restartPolicy": "Rarely"}]},
        "status": {"phase": "Hibernating", "conditions": [{"type": "PodScheduled", "status": "Perhaps"}]},
    }));
    assert!(!pod.spec.never_preempts && !pod.is_terminal());
    assert_eq!(pod.status.phase, Phase::Unknown);
    assert_eq!(
        pod.status.scheduled.unwrap().status,
        ConditionStatus::Unknown
    );
}

#[test]
fn a_node_keeps_taints_amounts_and_link_speed() {
    let node = node(&json!({
        "metadata": {"name": "n1", "uid": "u", "annotations": {"plimsoll.dev/link-speed": "10G"}},
        "spec": {"unschedulable": true, "podCIDR": "10.0.0.0/24", "taints": [
            {"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "PreferNoSchedule"},
            {"key": "d", "effect": "NoIdea"}, {"key": "e"}]},
        "status": {"capacity": {"cpu": "8", "memory": "16Gi", "pods": "110", "unknown": "1"},
                   "allocatable": {"cpu": "7910m", "ephemeral-storage": "90", "hugepages-2Mi": "0", "nvidia.com/gpu": "4"},
                   "images": [{"names": ["x"]}]},
    }));
    assert_eq!((&**node.name(), node.unschedulable), ("n1", true));
    assert_eq!(&*node.meta.key.namespace, "");
    assert_eq!(node.taints.len(), 2);
    assert_eq!(
        (node.status.capacity.cpu, node.status.capacity.pods),
        (8000, 110)
    );
    assert_eq!(node.status.allocatable.cpu, 7910);
    assert_eq!(node.status.allocatable.get("hugepages-2Mi"), Some(0));
    assert_eq!(node.status.allocatable.get("hugepages-1Gi"), None);
    assert_eq!(node.link_speed, Some(LinkSpeed::Known(1_250_000_000)));
}

#[test]
fn a_link_speed_that_is_none_is_kept_for_reporting() {
    for text in ["fast", "0", "-1G", ""] {
        let node = node(&json!({"metadata": {"annotations": {"plimsoll.dev/link-speed": text}}}));
        assert_eq!(node.link_speed, Some(LinkSpeed::Invalid(text.into())));
    }
    assert_eq!(node(&json!({})).link_speed, None);
}

#[test]
fn a_wrong_quantity_is_refused_with_its_path() {
    let bad = json!({"requests": {"memory": "1Gi", "cpu": "two"}});
    for (object, path) in [
        (
            json!({"spec": {"containers": [{}, {"resources": bad}]}}),
            "spec.containers[1].resources.requests.cpu",
        ),
        (
            json!({"spec": {"initContainers": [{"resources": {"limits": {"cpu": ""}}}]}}),
            "spec.initContainers[0].resources.limits.cpu",
        ),
        (
            json!({"spec": {"overhead": {"cpu": "x"}}}),
            "spec.overhead.cpu",
        ),
        (
            json!({"spec": {"resources": bad}}),
            "spec.resources.requests.cpu",
        ),
        (
            json!({"status": {"allocatedResources": {"cpu": "x"}}}),
            "status.allocatedResources.cpu",
        ),
        (
            json!({"status": {"resources": bad}}),
            "status.resources.requests.cpu",
        ),
        (
            json!({"spec": {"containers": [{"name": "a"}]}, "status": {"initContainerStatuses": [{"name": "a", "resources": bad}]}}),
            "status.initContainerStatuses[0].resources.requests.cpu",
        ),
    ] {
        let error = decode_pod(object.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("{path}: invalid quantity"));
        assert!(
            error
                .source()
                .unwrap()
                .to_string()
                .contains("is not a quantity")
        );
    }
    let error = decode_node(
        json!({"status": {"allocatable": {"cpu": "x"}}})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "status.allocatable.cpu: invalid quantity"
    );
}

#[test]
fn a_wrong_type_or_time_is_refused_with_its_path() {
    for (object, text) in [
        (
            json!({"spec": {"containers": [{"name": 5}]}}),
            "spec.containers[0].name: unexpected JSON",
        ),
        (
            json!({"spec": {"tolerations": {}}}),
            "spec.tolerations: unexpected JSON",
        ),
        (
            json!({"spec": {"priority": 3_000_000_000_u32}}),
            "spec.priority: unexpected JSON",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "metadata.labels.a: unexpected JSON",
        ),
        (json!("text"), ".: unexpected JSON"),
        (
            json!({"metadata": {"creationTimestamp": "noon"}}),
            "metadata.creationTimestamp: `noon` is not a time such as 2026-01-31T12:00:00Z",
        ),
    ] {
        assert_eq!(
            decode_pod(object.to_string().as_bytes())
                .unwrap_err()
                .to_string(),
            text
        );
    }
    assert!(matches!(
        decode_pod(b"{").unwrap_err(),
        DecodeError::Json { .. }
    ));
    assert!(matches!(
        decode_pod(b"{\"metadata\": {\"name\": \"\xff\"}}").unwrap_err(),
        DecodeError::Json { .. }
    ));
}

#[test]
fn a_typed_client_decodes_straight_into_a_pod_and_keeps_the_path() {
    let decoded: Pod = serde_json::from_value(full_pod()).unwrap();
    assert_eq!(decoded, pod(&full_pod()));
    let bad = r#"{"spec": {"overhead": {"cpu": "x"}}}"#;
    let error = serde_json::from_str::<Pod>(bad).unwrap_err().to_string();
    assert!(
        error.starts_with("spec.overhead.cpu: invalid quantity: `x` is not a quantity"),
        "{error}"
    );
    assert!(serde_json::from_str::<Node>("{}").is_ok());
}

#[test]
fn escaped_text_is_decoded() {
    let pod =
        decode_pod(br#"{"metadata": {"name": "a\u00e9", "labels": {"k\"": "v\n"}}}"#).unwrap();
    assert_eq!(
        (&*pod.meta.key.name, &*pod.meta.labels["k\""]),
        ("a\u{e9}", "v\n")
    );
}
