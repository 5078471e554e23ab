//! The plugin over small clusters: what its hooks say.

mod holding;
mod verdicts;
mod waking;

use plimsoll_framework::test_util::{Cluster, PodBuilder, check_filter, cluster, node, pod};
use serde_json::{Value, json};

use super::spec;

const DRIVER: &str = "gpu.example.com";

/// A class of all devices of the driver.
fn class() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": format!("device.driver == {DRIVER:?}")}}]},
    })
}

/// The only slice of a pool of its name, on the node of its name.
fn slice(node: &str, devices: Value) -> Value {
    let mut slice = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": node},
        "spec": {
            "driver": DRIVER, "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        },
    });
    slice["spec"]["devices"] = devices;
    slice
}

/// Devices by name with nothing else to say.
fn plain(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name})).collect()
}

/// A claim in the namespace `default`.
fn claim(name: &str, requests: Value) -> Value {
    let mut claim = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {
            "name": name, "namespace": "default", "uid": format!("uid-{name}"),
            "resourceVersion": "7",
        },
        "status": {},
    });
    claim["spec"]["devices"]["requests"] = requests;
    claim
}

/// One request for so many devices of the class.
fn some(count: i64) -> Value {
    json!([{"name": "r", "exactly": {
        "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count,
    }}])
}

/// The claim with a device of a pool, usable on the node of the pool's name.
fn given(mut claim: Value, pool: &str, device: &str) -> Value {
    claim["status"]["allocation"] = json!({
        "devices": {"results": [
            {"request": "r", "driver": DRIVER, "pool": pool, "device": device},
        ]},
        "nodeSelector": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]},
        ]},
    });
    claim
}

/// A pod that uses these claims.
fn using(names: &[&str]) -> PodBuilder {
    let claims = names.iter();
    let claims = claims.map(|name| json!({"name": name, "resourceClaimName": name}));
    pod("p").merge(json!({
        "metadata": {"uid": "uid-p"},
        "spec": {"resourceClaims": claims.collect::<Vec<Value>>()},
    }))
}

/// Two nodes and the class, with more objects.
fn two_nodes(objects: impl IntoIterator<Item = Value>) -> Cluster {
    let cluster = cluster([node("n1"), node("n2")]);
    cluster.objects([class()]).objects(objects)
}

/// What the nodes say to a pod that uses the claim `c`.
fn judged(objects: impl IntoIterator<Item = Value>) -> Vec<String> {
    check_filter(&spec(), &Value::Null, &two_nodes(objects), &using(&["c"]))
}
