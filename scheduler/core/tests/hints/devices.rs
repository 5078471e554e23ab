//! `DynamicResources`: claims, devices, classes.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::hold;
use crate::theme::{Theme, plain_pod};

const DRIVER: &str = "gpu.example.com";

fn node(dice: &mut Dice, _: &str) -> Value {
    let mut node = json!({"metadata": {"labels": dice.labels(70, &["zone"], &["1", "2"])}});
    let mut offers = json!({"cpu": "8", "memory": "8Gi", "pods": "110"});
    if dice.chance(25) {
        offers["example.com/gpu"] = dice.below(3).to_string().into();
    }
    node["status"]["allocatable"] = offers;
    node
}

fn class(dice: &mut Dice) -> Value {
    let wanted = dice.pick(&[
        "device.driver == \"gpu.example.com\"",
        "device.attributes[\"gpu.example.com\"].big",
    ]);
    let mut class = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": wanted}}]},
    });
    if dice.chance(50) {
        class["spec"]["extendedResourceName"] = "example.com/gpu".into();
    }
    class
}

/// A slice of the node of this name, or of nodes of a zone.
fn slice(dice: &mut Dice, name: &str) -> Value {
    let devices = (0..dice.below(3)).map(|number| {
        json!({"name": format!("d{number}"), "attributes": {"big": {"bool": number == 1}}})
    });
    let devices: Vec<Value> = devices.collect();
    let mut slice = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {
            "driver": DRIVER, "devices": devices,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        },
    });
    if name == "zonal" {
        slice["spec"]["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["1"]}]}]});
    } else {
        slice["spec"]["nodeName"] = name.into();
    }
    slice
}

/// A claim that has devices of a pool or none, and is in use by another pod or not.
fn claim(dice: &mut Dice, name: &str, allocated: usize) -> Value {
    let mut claim = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": format!("u-{name}")},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {
            "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
        }}]}},
        "status": {},
    });
    if name == "made" {
        claim["metadata"]["ownerReferences"] = json!([
            {"apiVersion": "v1", "kind": "Pod", "name": "own", "uid": "own", "controller": true}]);
    }
    if dice.chance(allocated) {
        // A claim that has a device keeps it, or gives it back: it never moves.
        let (pool, device) = match name {
            "own" | "x0" => ("n0", "d0"),
            "x1" => ("n1", "d1"),
            "x2" => ("zonal", "d0"),
            _ => ("n1", "d0"),
        };
        claim["status"]["allocation"] = json!({"devices": {"results": [
            {"request": "r", "driver": DRIVER, "pool": pool, "device": device}]}});
        if pool != "zonal" {
            claim["status"]["allocation"]["nodeSelector"] = json!({"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}]});
        }
        if dice.chance(30) {
            claim["status"]["reservedFor"] = json!([{"resource": "pods", "name": "p", "uid": "p"}]);
        }
    }
    claim
}

fn objects(dice: &mut Dice) -> Vec<Value> {
    let mut all = vec![class(dice)];
    all.extend(["n0", "n1", "n6", "zonal"].map(|name| slice(dice, name)));
    all.extend(["own", "made"].map(|name| claim(dice, name, 15)));
    all.extend(["x0", "x1", "x2"].map(|name| claim(dice, name, 70)));
    all
}

#[test]
fn dynamic_resources() {
    let own = |dice: &mut Dice| {
        let mut pod = json!({"spec": {"resourceClaims": [], "containers": [{"name": "main", "resources": {}}]}});
        let mut wanted = Vec::new();
        if dice.chance(60) {
            wanted.push(json!({"name": "a", "resourceClaimName": "own"}));
        }
        if dice.chance(40) {
            wanted.push(json!({"name": "t", "resourceClaimTemplateName": "template"}));
        }
        pod["spec"]["resourceClaims"] = wanted.into();
        if dice.chance(50) {
            pod["status"]["resourceClaimStatuses"] =
                json!([{"name": "t", "resourceClaimName": "made"}]);
        }
        if dice.chance(35) {
            let count = (1 + dice.below(2)).to_string();
            pod["spec"]["containers"][0]["resources"]["requests"] =
                json!({"example.com/gpu": count});
        }
        pod
    };
    hold(
        &Theme {
            plugin: "DynamicResources",
            args: "",
            node,
            placed: plain_pod,
            own,
            objects,
            weights: [2, 0, 3, 6],
            present: 85,
            mutable: &[
                ("ResourceClaim", "/status"),
                ("ResourceSlice", "/spec/devices"),
                ("DeviceClass", "/spec/selectors"),
                ("DeviceClass", "/spec/extendedResourceName"),
            ],
        },
        // dynamicresources.go:291 does not register it: the resource that the class stood for
        // is looked for on the node then.
        &["\"DeviceClass\" gone"],
    );
}
