//! Objects in and out of the table's form, and bodies off the protobuf wire.

use serde_json::{Value, json};

use super::*;

fn filled(kind: &str, mut value: Value) -> Value {
    fill(types().named(kind).unwrap(), &mut value);
    value
}

#[test]
fn every_line_of_the_table_is_a_field_or_a_type() {
    let text = include_str!("types.txt");
    let lines = text.lines().filter(|line| line.starts_with(' ')).count();
    let known: usize = text
        .lines()
        .filter_map(|line| types().named(line))
        .map(|of| of.wire.len())
        .sum();
    assert_eq!(known, lines);
}

#[test]
fn every_resource_has_a_type() {
    for resource in Resource::all() {
        assert!(type_of(resource).is_some(), "{}", resource.qualified());
    }
}

#[test]
fn what_go_always_writes_is_there_and_what_it_leaves_out_is_not() {
    let pod = json!({"metadata": {"name": "a", "labels": {}}, "spec": {"nodeName": "",
        "hostNetwork": false, "terminationGracePeriodSeconds": 0, "containers": [{"name": "m"}]}});
    assert_eq!(
        filled("Pod", pod),
        json!({"metadata": {"name": "a"}, "spec": {"terminationGracePeriodSeconds": 0,
            "containers": [{"name": "m", "resources": {}}]}, "status": {}})
    );
    let node = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let status = filled("Node", node)["status"].clone();
    assert_eq!(
        status["daemonEndpoints"],
        json!({"kubeletEndpoint": {"Port": 0}})
    );
    assert_eq!(
        status["conditions"][0],
        json!({"type": "Ready", "status": "True", "lastHeartbeatTime": null, "lastTransitionTime": null})
    );
    assert_eq!(status["nodeInfo"]["kubeletVersion"], "");
}

#[test]
fn a_quantity_is_read_into_its_canonical_form() {
    let mut pod = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": 0.5, "memory": "1024Mi"}}}]}});
    read(types().named("Pod").unwrap(), &mut pod).unwrap();
    assert_eq!(
        pod["spec"]["containers"][0]["resources"]["requests"],
        json!({"cpu": "500m", "memory": "1Gi"})
    );
}

/// Writes one field of a message that holds bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
    out.extend_from_slice(bytes);
    out
}

fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &meta), field(2, raw)].concat()
}

#[test]
fn a_namespace_is_read_off_the_protobuf_wire() {
    let label = [field(1, b"a"), field(2, b"b")].concat();
    // creationTimestamp is there and empty, as Go writes it.
    let metadata = [field(1, b"team"), field(8, b""), field(11, &label)].concat();
    let raw = [field(1, &metadata), field(2, b""), field(3, &field(1, b""))].concat();
    let read = message(&envelope("v1", "Namespace", &raw)).unwrap();
    assert_eq!(
        read,
        json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "team", "labels": {"a": "b"}}, "spec": {}, "status": {}})
    );
}

#[test]
fn numbers_and_choices_are_read_off_the_protobuf_wire() {
    // minAvailable: a choice of kind text, "50%".
    let half = [vec![0x08, 1, 0x10, 0], field(3, b"50%")].concat();
    let raw = field(2, &field(1, &half));
    let read = message(&envelope("policy/v1", "PodDisruptionBudget", &raw)).unwrap();
    assert_eq!(read["spec"], json!({"minAvailable": "50%"}));
    let negative = [
        0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
    ];
    let read = message(&envelope(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        &negative,
    ))
    .unwrap();
    assert_eq!(read["value"], -1);
}

#[test]
fn a_broken_body_is_no_message() {
    let good = envelope("v1", "Namespace", &field(1, &field(1, b"team")));
    assert!(message(&good).is_some());
    for end in 0..good.len() {
        // Cut anywhere, it is refused or read as what is there; it never fails otherwise.
        drop(message(&good[..end]));
    }
    assert!(message(b"{}").is_none());
    assert!(message(&envelope("v1", "Widget", b"")).is_none());
    assert!(message(&envelope("v1", "Namespace", &[0x0a, 0xff])).is_none());
}

#[test]
fn a_strict_reader_names_every_field_that_a_kind_does_not_have() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadta": {},
        "spec": {"containers": [{"name": "m", "imag": "x"}]}});
    let found = unknown_fields("v1", "Pod", &pod).unwrap();
    let expected = [
        "unknown field \"metadta\"",
        "unknown field \"spec.containers[0].imag\"",
    ];
    assert_eq!(found, expected);
    assert!(unknown_fields("v1", "Pod", &json!({"spec": 1})).is_err());
    let odd = json!({"x": 1});
    assert!(
        unknown_fields("example.com/v1", "Odd", &odd)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_kind_called_like_a_part_of_another_is_not_taken_for_it() {
    let claim = json!({"metadata": {"name": "a"}, "spec": {"devices": {}}});
    let found = unknown_fields("resource.k8s.io/v1", "ResourceClaim", &claim).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
