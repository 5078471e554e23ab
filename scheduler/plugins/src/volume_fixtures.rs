//! Claims, volumes and storage of tests, as the API server has them.

use plimsoll_framework::test_util::{PodBuilder, pod};
use plimsoll_objects::{Object, ObjectKind};
use serde_json::{Value, json};

/// A pod with these `spec.volumes`.
pub(crate) fn with_volumes(name: &str, volumes: &Value) -> PodBuilder {
    pod(name).merge(json!({"spec": {"volumes": volumes}}))
}

/// A pod that names these claims.
pub(crate) fn with_claims(name: &str, claims: &[&str]) -> PodBuilder {
    let volumes = claims
        .iter()
        .map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}));
    with_volumes(name, &volumes.collect())
}

/// A claim of 5 GiB that has no volume.
pub(crate) fn claim(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "1"},
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
        "status": {"phase": "Pending"},
    })
}

/// A claim that has the volume `volume`.
pub(crate) fn bound_claim(name: &str, class: &str, volume: &str) -> Value {
    let mut claim = claim(name, class);
    claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
    claim["spec"]["volumeName"] = volume.into();
    claim["status"]["phase"] = "Bound".into();
    claim
}

/// A free volume of 10 GiB of the driver `csi.example.com`.
pub(crate) fn volume(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "resourceVersion": "1"},
        "spec": {
            "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
            "csi": {"driver": "csi.example.com", "volumeHandle": format!("handle-{name}")},
        },
        "status": {"phase": "Available"},
    })
}

/// A free volume of so many bytes that only nodes with the label can reach.
pub(crate) fn local(name: &str, size: &str, label: (&str, &str)) -> Value {
    let mut local = volume(name, "local");
    local["spec"]["capacity"]["storage"] = size.into();
    local["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": label.0, "operator": "In", "values": [label.1]}]}]}});
    local
}

/// A class whose claims wait for their pods.
pub(crate) fn waiting_class(name: &str, provisioner: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer",
    })
}

/// What the drivers of a node allow; `None` for one without a limit.
pub(crate) fn csi_node(node: &str, drivers: &[(&str, Option<i32>)]) -> Value {
    let drivers = drivers.iter().map(|(name, limit)| {
        let allocatable = limit.map(|count| json!({"count": count}));
        json!({"name": name, "nodeID": node, "allocatable": allocatable})
    });
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node},
        "spec": {"drivers": drivers.collect::<Value>()},
    })
}

/// A driver.
pub(crate) fn csi_driver(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name},
        "spec": spec,
    })
}

/// What a driver has left for a class on nodes of a zone.
pub(crate) fn capacity(name: &str, class: &str, zone: &str, amount: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "kube-system"}, "storageClassName": class,
        "capacity": amount, "nodeTopology": {"matchLabels": {"topology.kubernetes.io/zone": zone}},
    })
}

/// A volume that is attached to a node.
pub(crate) fn attachment(name: &str, node: &str, volume: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
        "spec": {"attacher": "csi.example.com", "nodeName": node,
            "source": {"persistentVolumeName": volume}},
    })
}

/// Any of them as an object.
pub(crate) fn object(json: &Value) -> Object {
    let text = |field: &str| json[field].as_str().unwrap_or_default();
    let kind = ObjectKind::of(text("apiVersion"), text("kind")).expect("a known kind");
    Object::decode(kind, json.to_string().as_bytes()).expect("an object of a test")
}
