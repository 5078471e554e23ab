//! Selectors, affinity, ports and images, as the API server sends them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{node, pod};
use crate::constraints::{HostPort, NodeAffinity};
use crate::decode::decode_pod;
use crate::pod::Pod;

fn with(spec: &Value) -> Pod {
    pod(&json!({"metadata": {"name": "a"}, "spec": spec}))
}

fn full() -> Value {
    let term = json!({
        "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
    });
    json!({
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": term}],
        }},
        "containers": [{"name": "c", "image": "app", "ports": [
            {"containerPort": 8080}, {"containerPort": 80, "hostPort": 80, "protocol": "TCP"},
        ]}],
    })
}

#[test]
fn a_pod_keeps_what_it_asks_of_its_node() {
    let pod = with(&full());
    let asked = pod.spec.constraints.as_deref().expect("constraints");
    let selector = asked.node_selector.as_ref().expect("a selector");
    assert_eq!(&*selector["disk"], "ssd");
    let required = asked.node_affinity.required.as_ref().expect("terms");
    assert_eq!(required.terms[0].names(), Some(&[Arc::from("n1")][..]));
    let preferred = asked.node_affinity.preferred.as_deref().expect("terms");
    assert_eq!((preferred.len(), preferred[0].weight), (1, 7));
    let labelled = |labels: Value| node(&json!({"metadata": {"name": "n1", "labels": labels}}));
    assert!(asked.allows(&labelled(json!({"disk": "ssd", "zone": "a"}))));
    assert!(!asked.allows(&labelled(json!({"disk": "ssd", "zone": "b"}))));
    assert!(!asked.allows(&labelled(json!({"zone": "a"}))));
}

#[test]
fn most_pods_ask_nothing_and_have_no_room_for_it() {
    let plain = with(&json!({
        "containers": [{"name": "c", "ports": [{"containerPort": 80}]}],
        "affinity": {"podAffinity": {}}, "nodeSelector": null,
    }));
    assert_eq!(plain.spec.constraints, None);
    // An empty selector is one all the same.
    let empty = with(&json!({"nodeSelector": {}}));
    assert!(empty.spec.constraints.is_some());
}

#[test]
fn a_pod_that_has_a_node_keeps_its_ports_only() {
    let mut spec = full();
    spec["nodeName"] = "n1".into();
    let pod = with(&spec);
    let asked = pod.spec.constraints.as_deref().expect("a port");
    assert_eq!(asked.node_selector, None);
    assert_eq!(asked.node_affinity, NodeAffinity::default());
    assert_eq!(pod.host_ports().len(), 1);
    assert!(pod.spec.images.is_empty());
}

fn port(port: i32, protocol: &str, address: Option<&str>) -> HostPort {
    HostPort {
        port,
        protocol: Arc::from(protocol),
        address: address.map(Arc::from),
    }
}

#[test]
fn host_ports_are_those_of_containers_that_run_beside_each_other() {
    let ports = |port: i32| json!([{"containerPort": port, "hostPort": port}]);
    let pod = with(&json!({
        "initContainers": [
            {"name": "once", "ports": ports(1)},
            {"name": "side", "restartPolicy": "Always", "ports": ports(2)},
        ],
        "containers": [
            {"name": "c", "ports": [
                {"hostPort": 3, "protocol": "UDP", "hostIP": "10.0.0.1"},
                {"hostPort": 4, "hostIP": "0.0.0.0"}, {"hostPort": 0}, {"hostPort": -1},
                {"containerPort": 5},
            ]},
            {"name": "d", "ports": [{"hostPort": 6, "hostIP": "::"}]},
        ],
    }));
    let expected = [
        port(2, "TCP", None),
        port(3, "UDP", Some("10.0.0.1")),
        port(4, "TCP", None),
        port(6, "TCP", Some("::")),
    ];
    assert_eq!(pod.host_ports(), expected);
}

#[test]
fn on_the_nodes_network_too_only_what_is_written_is_a_port_of_the_node() {
    let pod = with(&json!({"hostNetwork": true, "containers": [
        {"name": "c", "ports": [{"containerPort": 80}, {"containerPort": 82, "hostPort": 82}]},
    ]}));
    assert_eq!(pod.host_ports(), [port(82, "TCP", None)]);
}

#[test]
fn images_have_tags_and_come_one_for_each_source() {
    let pod = with(&json!({
        "initContainers": [{"name": "i", "image": "registry:5000/init"}],
        "containers": [{"name": "c", "image": "app:2"}, {"name": "d", "image": "app@sha256:0"}, {"name": "e"}],
        "volumes": [{"name": "v", "image": {"reference": "data"}}, {"name": "w", "emptyDir": {}}],
    }));
    let images: Vec<&str> = pod.spec.images.iter().map(|image| &**image).collect();
    let expected = [
        "registry:5000/init:latest",
        "app:2",
        "app@sha256:0",
        ":latest",
        "data:latest",
    ];
    assert_eq!(images, expected);
}

#[test]
fn a_node_lists_its_images_by_each_of_their_names() {
    let node = node(&json!({"metadata": {"name": "n1"}, "status": {"images": [
        {"names": ["a@sha256:0", "a:1"], "sizeBytes": 5}, {"names": null, "sizeBytes": 6},
        {"names": ["b:1"]},
    ]}}));
    let images = node.status.images.iter();
    let images: Vec<(&str, i64)> = images.map(|image| (&*image.name, image.bytes)).collect();
    assert_eq!(images, [("a@sha256:0", 5), ("a:1", 5), ("b:1", 0)]);
}

#[test]
fn a_selector_that_cannot_be_parsed_is_a_value_and_no_broken_object() {
    let pod = with(&json!({"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a b", "operator": "Near", "values": ["-5"]}]}, null, {},
        ]},
        "preferredDuringSchedulingIgnoredDuringExecution": [null, {"preference": null}],
    }}}));
    let asked = pod.spec.constraints.as_deref().expect("constraints");
    let required = asked.node_affinity.required.as_ref().expect("terms");
    assert_eq!((required.terms.len(), required.mistakes().len()), (3, 1));
}

#[test]
fn fields_of_another_type_are_refused_with_their_path() {
    let cases = [
        (json!({"nodeSelector": {"a": 1}}), "spec.nodeSelector.a"),
        (
            json!({"containers": [{"ports": [{"hostPort": "80"}]}]}),
            "spec.containers[0].ports[0].hostPort",
        ),
        (
            json!({"affinity": {"nodeAffinity": 1}}),
            "spec.affinity.nodeAffinity",
        ),
    ];
    for (spec, path) in cases {
        let json = json!({"metadata": {"name": "a"}, "spec": spec});
        let error = decode_pod(json.to_string().as_bytes()).expect_err("a mistake");
        assert_eq!(error.to_string(), format!("{path}: unexpected JSON"));
    }
}

#[test]
fn a_daemon_is_a_pod_that_a_daemon_set_controls() {
    let owned = |kind: &str, controller: bool| {
        let owner = json!({"kind": kind, "name": "o", "uid": "u", "controller": controller});
        pod(&json!({"metadata": {"name": "a", "ownerReferences": [owner]}})).is_daemon()
    };
    assert!(owned("DaemonSet", true));
    assert!(!owned("DaemonSet", false) && !owned("ReplicaSet", true));
}
