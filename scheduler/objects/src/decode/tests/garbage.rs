//! Bytes, JSON of any shape, and whole objects with one field made odd: an error or a value,
//! never a panic, and whatever is decoded can be matched and summed up.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::{decode_node, decode_pod, full_pod};
use crate::node::Node;
use crate::pod::Pod;
use crate::pod_affinity::PodAffinity;
use crate::pod_volume::PodVolume;
use crate::selector::preferred_weight;

pub(super) fn odd_values() -> Vec<Value> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let texts = [
        "",
        " ",
        "x",
        "\u{0}",
        "ä/ö",
        "-1",
        "9223372036854775808",
        "-9223372036854775808",
        "1e999999999",
        "1e-999999999",
        "99999999999999999999E",
        "0001-01-01T00:00:00Z",
        "Always",
        "Exists",
        "Gt",
    ];
    let mut values = vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!([]),
        json!([null]),
        json!({}),
        json!({"": null}),
        json!({"": ""}),
        deep,
    ];
    values.extend(texts.map(Value::from));
    values
}

/// The paths (RFC 6901) of all values in `value`, itself first.
pub(super) fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                paths(inner, &format!("{at}/{name}"), out);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                paths(inner, &format!("{at}/{index}"), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `object` with each of its values replaced by each odd one.
pub(super) fn mutations(object: &Value, mut see: impl FnMut(&Value)) {
    let mut all = Vec::new();
    paths(object, "", &mut all);
    let odd = odd_values();
    for path in all {
        for value in &odd {
            let mut mutated = object.clone();
            *mutated.pointer_mut(&path).unwrap() = value.clone();
            see(&mutated);
        }
    }
}

fn wishful_pod() -> Value {
    let mut pod = full_pod();
    let requirements = |operator: &str, values: Value| json!([{"key": "zone", "operator": operator, "values": values}]);
    let term = json!({
        "matchExpressions": requirements("Gt", json!(["5"])),
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
    });
    let other = json!({"matchExpressions": requirements("NotIn", json!(["a"]))});
    pod["spec"]["nodeName"] = json!("");
    pod["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    pod["spec"]["affinity"] = json!({"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, other]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": term}],
    }});
    pod["spec"]["volumes"] = json!([{"name": "v", "image": {"reference": "data"}}]);
    pod["spec"]["containers"][0]["image"] = json!("host:5000/app");
    pod["spec"]["containers"][0]["ports"] =
        json!([{"hostPort": 80, "containerPort": 80, "protocol": "UDP", "hostIP": "10.0.0.1"}]);
    pod
}

fn busy_node() -> Value {
    json!({
        "metadata": {
            "name": "n1", "uid": "u", "labels": {"zone": "6", "disk": "ssd"},
            "annotations": {"plimsoll.dev/link-speed": "10G"},
        },
        "spec": {"unschedulable": false, "taints": [
            {"key": "a", "value": "b", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110", "example.com/gpu": "4"},
            "allocatable": {"cpu": "7910m", "memory": "15Gi", "ephemeral-storage": "90"},
            "images": [{"names": ["data:latest", "data@sha256:0"], "sizeBytes": 5}],
        },
    })
}

/// Everything that is asked of a pod and a node when one is placed on the other.
pub(super) fn use_up(pod: &Pod, node: &Node) {
    let mut sum = node.status.allocatable.clone();
    sum.add(&pod.spec.requests.placed);
    sum.sub(&pod.spec.requests.placed);
    if let Some(asked) = &pod.spec.constraints {
        asked.allows(node);
        let preferred = asked.node_affinity.preferred.as_deref();
        preferred_weight(preferred.unwrap_or_default(), node);
    }
    for volume in pod.volumes() {
        let mut others = pod.volumes().iter().filter_map(PodVolume::disk);
        others.any(|other| volume.disk().is_some_and(|disk| disk.conflicts_with(other)));
        let named = volume.claim().map(|name| pod.claim_key(name));
        assert!(named.is_none_or(|key| Some(key) == volume.claim_of(pod)));
    }
    if let Some(asked) = pod.spec.constraints.as_deref() {
        let affinity = asked.pod_affinity.as_deref();
        assert!(affinity.is_none_or(|affinity| !affinity.is_empty()));
        let mistake = affinity.and_then(PodAffinity::mistake);
        assert!(mistake.is_none_or(|mistake| !mistake.is_empty()));
    }
    let ports = pod.host_ports().iter();
    assert!(ports.clone().all(|port| port.conflicts_with(port)));
    assert!(ports.clone().all(|port| port.port > 0));
    let _ = (pod.is_daemon(), pod.is_terminal());
}

#[test]
fn a_pod_with_any_field_made_odd_is_an_error_or_a_pod() {
    let node = decode_node(busy_node().to_string().as_bytes()).unwrap();
    let whole = wishful_pod();
    decode_pod(whole.to_string().as_bytes()).unwrap();
    mutations(&whole, |mutated| {
        if let Ok(pod) = decode_pod(mutated.to_string().as_bytes()) {
            use_up(&pod, &node);
        }
    });
}

#[test]
fn a_node_with_any_field_made_odd_is_an_error_or_a_node() {
    let pod = decode_pod(wishful_pod().to_string().as_bytes()).unwrap();
    let whole = busy_node();
    let as_it_is = decode_node(whole.to_string().as_bytes()).unwrap();
    assert!(pod.spec.constraints.as_ref().unwrap().allows(&as_it_is));
    mutations(&whole, |mutated| {
        if let Ok(node) = decode_node(mutated.to_string().as_bytes()) {
            use_up(&pod, &node);
        }
    });
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~]{0,6}".prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "metadata",
        "spec",
        "status",
        "containers",
        "resources",
        "requests",
        "cpu",
        "name",
        "labels",
        "tolerations",
        "taints",
        "capacity",
        "conditions",
        "creationTimestamp",
        "overhead",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..5)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(0x0b1e),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_json_panics(json in any_json()) {
        let text = json.to_string();
        for message in [decode_pod(text.as_bytes()).err(), decode_node(text.as_bytes()).err()].into_iter().flatten() {
            prop_assert!(!message.to_string().is_empty());
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode_pod(&bytes).is_err() || serde_json::from_slice::<Value>(&bytes).is_ok());
    }
}
