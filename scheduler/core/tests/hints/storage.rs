//! Plugins that look at volumes.

use serde_json::{Value, json};

use crate::change::ALL;
use crate::dice::Dice;
use crate::hold;
use crate::theme::{Theme, plain_node, plain_pod};

const DRIVER: &str = "csi.example.com";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";

fn zoned(dice: &mut Dice, _: &str) -> Value {
    json!({"metadata": {"labels": dice.labels(70, &[ZONE, REGION], &["1", "2", "3"])}})
}

fn with_volumes(volumes: &[Value]) -> Value {
    json!({"spec": {"volumes": volumes}})
}

fn claims(dice: &mut Dice, most: usize, percent: usize) -> Vec<Value> {
    let names = (0..most).map(|number| format!("c{number}"));
    let names = names.filter(|_| dice.chance(percent));
    names
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
        .collect()
}

/// The claim `c<number>`: its class follows from the number; it has its volume or not.
fn claim(dice: &mut Dice, number: usize, bound: usize) -> Value {
    let class = ["wait", "local", "now"][number % 3];
    let mut claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("c{number}"), "namespace": "default", "uid": format!("uc{number}")},
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
        "status": {"phase": "Pending"},
    });
    if dice.chance(bound) {
        claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
        claim["spec"]["volumeName"] = format!("v{number}").into();
        claim["status"]["phase"] = "Bound".into();
    }
    claim
}

/// The volume `v<number>`, of the class of the claim of that number.
fn volume(dice: &mut Dice, number: usize) -> Value {
    let class = ["wait", "local", "now"][number % 3];
    let mut volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": format!("v{number}"), "uid": format!("uv{number}")},
        "spec": {
            "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": class,
            "csi": {"driver": DRIVER, "volumeHandle": format!("h{number}")},
        },
        "status": {"phase": "Available"},
    });
    volume["metadata"]["labels"] = dice.labels(35, &[ZONE, REGION], &["1", "2", "1__2"]);
    if class == "local" {
        volume["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": ZONE, "operator": "In", "values": [if number < 3 { "1" } else { "2" }]}]}]}});
    }
    if dice.chance(40) {
        let other = dice.below(3);
        volume["spec"]["claimRef"] = json!({
            "name": format!("c{other}"), "namespace": "default", "uid": format!("uc{other}"),
        });
    }
    volume
}

fn class(dice: &mut Dice, name: &str) -> Value {
    let (mode, provisioner) = match name {
        "wait" => ("WaitForFirstConsumer", DRIVER),
        "local" => ("WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
        _ => ("Immediate", DRIVER),
    };
    let mut class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode,
    });
    if dice.chance(50) {
        class["allowedTopologies"] =
            json!([{"matchLabelExpressions": [{"key": ZONE, "values": [dice.pick(&["1", "2"])]}]}]);
    }
    class
}

fn classes(dice: &mut Dice) -> Vec<Value> {
    ["wait", "local", "now"]
        .map(|name| class(dice, name))
        .into()
}

fn driver(dice: &mut Dice) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
        "spec": {"storageCapacity": dice.chance(70)},
    })
}

fn capacities(dice: &mut Dice) -> Vec<Value> {
    let capacity = |zone: &str| {
        let mut capacity = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": format!("in-{zone}"), "namespace": "kube-system"},
            "storageClassName": "wait", "capacity": dice.pick(&["1Gi", "5Gi", "20Gi"]),
            "nodeTopology": {"matchLabels": {ZONE: zone}},
        });
        if dice.chance(30) {
            capacity["maximumVolumeSize"] = dice.pick(&["2Gi", "8Gi"]).into();
        }
        capacity
    };
    ["1", "2"].map(capacity).into()
}

#[test]
fn volume_restrictions() {
    let volumes = |dice: &mut Dice| {
        let read_only = dice.chance(40);
        let mut volumes = claims(dice, 2, 40);
        if dice.chance(50) {
            let disk = dice.pick(&["d1", "d2"]);
            volumes.push(match dice.below(4) {
                0 => json!({"name": "d", "gcePersistentDisk": {"pdName": disk, "readOnly": read_only}}),
                1 => json!({"name": "d", "awsElasticBlockStore": {"volumeID": disk}}),
                2 => json!({"name": "d", "iscsi": {"iqn": disk, "targetPortal": "t", "lun": 0, "readOnly": read_only}}),
                _ => json!({"name": "d", "rbd": {"monitors": ["m", disk], "image": "i", "readOnly": read_only}}),
            });
        }
        with_volumes(&volumes)
    };
    let objects = |dice: &mut Dice| {
        let mut exclusive = claim(dice, 0, 50);
        exclusive["spec"]["accessModes"] = json!(["ReadWriteOncePod"]);
        vec![exclusive, claim(dice, 1, 50)]
    };
    hold(
        &Theme {
            plugin: "VolumeRestrictions",
            args: "",
            node: plain_node,
            placed: volumes,
            own: volumes,
            objects,
            weights: [1, 4, 0, 3],
            present: 85,
            mutable: &[("PersistentVolumeClaim", ALL)],
        },
        &[],
    );
}

#[test]
fn volume_binding() {
    let objects = |dice: &mut Dice| {
        let mut all: Vec<Value> = (0..3).map(|number| claim(dice, number, 35)).collect();
        all.extend((0..3).map(|number| volume(dice, number)));
        all.extend(classes(dice));
        all.push(driver(dice));
        all.extend(capacities(dice));
        all
    };
    hold(
        &Theme {
            plugin: "VolumeBinding",
            args: "",
            node: zoned,
            placed: plain_pod,
            own: |dice| with_volumes(&claims(dice, 3, 55)),
            objects,
            weights: [3, 0, 0, 8],
            present: 80,
            mutable: &[
                ("PersistentVolumeClaim", ALL),
                ("PersistentVolume", ALL),
                ("StorageClass", "/allowedTopologies"),
                ("CSIDriver", "/spec/storageCapacity"),
                ("CSIStorageCapacity", ALL),
            ],
        },
        &[],
    );
}

#[test]
fn volume_zone() {
    let objects = |dice: &mut Dice| {
        let mut all: Vec<Value> = (0..3).map(|number| claim(dice, number, 70)).collect();
        all.extend((0..3).map(|number| volume(dice, number)));
        all.extend(classes(dice));
        all
    };
    hold(
        &Theme {
            plugin: "VolumeZone",
            args: "",
            node: zoned,
            placed: plain_pod,
            own: |dice| with_volumes(&claims(dice, 3, 55)),
            objects,
            weights: [3, 0, 0, 8],
            present: 85,
            mutable: &[
                ("PersistentVolumeClaim", ALL),
                ("PersistentVolume", ALL),
                ("StorageClass", "/allowedTopologies"),
            ],
        },
        &[],
    );
}

fn csi_node(dice: &mut Dice, name: &str) -> Value {
    let mut drivers = Vec::new();
    for driver in [DRIVER, "other.example.com", "ebs.csi.aws.com"] {
        if dice.chance(75) {
            let mut one = json!({"name": driver, "nodeID": name});
            if dice.chance(80) {
                one["allocatable"] = json!({"count": dice.below(4)});
            }
            drivers.push(one);
        }
    }
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
        "spec": {"drivers": drivers},
    })
}

fn attached(dice: &mut Dice, number: usize) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
        "metadata": {"name": format!("a{number}")},
        "spec": {"attacher": DRIVER, "nodeName": format!("n{}", number % 3),
            "source": {"persistentVolumeName": format!("v{}", dice.below(4))}},
    })
}

#[test]
fn node_volume_limits() {
    let pod = |dice: &mut Dice| {
        let mut volumes = claims(dice, 4, 50);
        if dice.chance(25) {
            let disk = dice.pick(&["e1", "e2"]);
            volumes.push(json!({"name": "d", "awsElasticBlockStore": {"volumeID": disk}}));
        }
        with_volumes(&volumes)
    };
    let objects = |dice: &mut Dice| {
        let mut all: Vec<Value> = (0..4).map(|number| claim(dice, number, 80)).collect();
        all.extend((0..4).map(|number| volume(dice, number)));
        all.extend(classes(dice));
        all.extend(["n0", "n1", "n2", "n6", "n7", "n8"].map(|name| csi_node(dice, name)));
        all.extend((0..5).map(|number| attached(dice, number)));
        all
    };
    hold(
        &Theme {
            plugin: "NodeVolumeLimits",
            args: "",
            node: plain_node,
            placed: pod,
            own: pod,
            objects,
            weights: [2, 4, 0, 6],
            present: 80,
            mutable: &[("PersistentVolumeClaim", ALL), ("CSINode", "/spec/drivers")],
        },
        // nodevolumelimits/csi.go:91 does not register: a pod that comes with the same volume,
        // the end of a node's limits, the end of a claim, a volume or a class that is in use.
        &[
            "pod added",
            "\"CSINode\" gone",
            "\"PersistentVolumeClaim\" gone",
            "\"PersistentVolume\" gone",
            "\"StorageClass\" gone",
        ],
    );
}
