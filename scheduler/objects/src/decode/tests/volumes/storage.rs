//! Storage classes and what CSI drivers say.

use serde_json::{Value, json};

use super::super::garbage::mutations;
use super::labels;
use crate::object::{Object, ObjectKind};
use crate::storage::{BindingMode, CsiNodeDriver};
use crate::volume::InTreePlugin;

fn object(kind: ObjectKind, json: &Value) -> Object {
    Object::decode(kind, json.to_string().as_bytes()).unwrap()
}

fn class(json: &Value) -> std::sync::Arc<crate::StorageClass> {
    match object(ObjectKind::StorageClass, json) {
        Object::StorageClass(class) => class,
        other => panic!("{other:?}"),
    }
}

fn full(kind: ObjectKind) -> Value {
    let topology = json!({"matchLabels": {"zone": "a"}, "matchExpressions": [
        {"key": "disk", "operator": "In", "values": ["ssd"]}]});
    match kind {
        ObjectKind::StorageClass => json!({
            "metadata": {"name": "fast"}, "provisioner": "csi.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}, {}],
        }),
        ObjectKind::CsiNode => json!({
            "metadata": {"name": "n1", "annotations": {
                "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}},
            "spec": {"drivers": [
                {"name": "a", "nodeID": "n1", "allocatable": {"count": 4}}, {"name": "b", "allocatable": null}]},
        }),
        ObjectKind::CsiDriver => json!({
            "metadata": {"name": "csi.example.com"},
            "spec": {"storageCapacity": true, "preventPodSchedulingIfMissing": true},
        }),
        ObjectKind::CsiStorageCapacity => json!({
            "metadata": {"name": "cap", "namespace": "kube-system"}, "storageClassName": "fast",
            "capacity": "20Gi", "maximumVolumeSize": "5Gi", "nodeTopology": topology,
        }),
        _ => json!({
            "metadata": {"name": "att"},
            "spec": {"attacher": "csi.example.com", "nodeName": "n1", "source": {"persistentVolumeName": "pv"}},
        }),
    }
}

const KINDS: [ObjectKind; 5] = [
    ObjectKind::StorageClass,
    ObjectKind::CsiNode,
    ObjectKind::CsiDriver,
    ObjectKind::CsiStorageCapacity,
    ObjectKind::VolumeAttachment,
];

#[test]
fn a_class_allows_the_nodes_that_one_of_its_terms_matches() {
    let fast = class(&full(ObjectKind::StorageClass));
    assert_eq!(fast.binding_mode, Some(BindingMode::WaitForFirstConsumer));
    assert!(fast.provisions());
    assert!(fast.allows(&labels(&[("zone", "b")])));
    assert!(!fast.allows(&labels(&[("zone", "c")])));
    let cases = [
        (json!({}), true),
        (json!({"allowedTopologies": []}), true),
        (json!({"allowedTopologies": [{}]}), false),
        (
            json!({"allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": []}]}]}),
            false,
        ),
    ];
    for (json, allowed) in cases {
        assert_eq!(
            class(&json).allows(&labels(&[("zone", "a")])),
            allowed,
            "{json}"
        );
    }
}

#[test]
fn a_class_may_make_no_volumes() {
    for provisioner in ["", "kubernetes.io/no-provisioner"] {
        assert!(!class(&json!({"provisioner": provisioner})).provisions());
    }
    assert_eq!(class(&json!({})).binding_mode, None);
    let immediate = class(&json!({"volumeBindingMode": "Immediate"}));
    assert_eq!(immediate.binding_mode, Some(BindingMode::Immediate));
}

#[test]
fn a_node_has_drivers_with_and_without_limits() {
    let Object::CsiNode(node) = object(ObjectKind::CsiNode, &full(ObjectKind::CsiNode)) else {
        panic!("a CSINode");
    };
    let driver = |name: &str, limit| CsiNodeDriver {
        name: name.into(),
        limit,
    };
    assert_eq!(*node.drivers, [driver("a", Some(4)), driver("b", None)]);
    assert!(node.has_migrated(InTreePlugin::GcePd));
    assert!(!node.has_migrated(InTreePlugin::Cinder));
}

#[test]
fn a_driver_and_an_attachment_are_read() {
    let Object::CsiDriver(driver) = object(ObjectKind::CsiDriver, &full(ObjectKind::CsiDriver))
    else {
        panic!("a CSIDriver");
    };
    assert!(driver.storage_capacity && driver.required_on_node);
    let kind = ObjectKind::VolumeAttachment;
    let Object::VolumeAttachment(attachment) = object(kind, &full(kind)) else {
        panic!("a VolumeAttachment");
    };
    assert_eq!(&*attachment.attacher, "csi.example.com");
    assert_eq!(
        (&*attachment.node, attachment.volume.as_deref()),
        ("n1", Some("pv"))
    );
}

#[test]
fn the_largest_volume_is_the_more_precise_figure() {
    let kind = ObjectKind::CsiStorageCapacity;
    let mut json = full(kind);
    let capacity = |json: &Value| match object(kind, json) {
        Object::CsiStorageCapacity(capacity) => capacity,
        other => panic!("{other:?}"),
    };
    let read = capacity(&json);
    assert_eq!(read.volume_limit(), Some("5Gi".parse().unwrap()));
    let topology = read.topology.as_ref().unwrap();
    assert!(topology.matches(&labels(&[("zone", "a"), ("disk", "ssd")])));
    assert_eq!(&*read.pin.as_ref().unwrap().key, "zone");
    json["maximumVolumeSize"] = Value::Null;
    assert_eq!(
        capacity(&json).volume_limit(),
        Some("20Gi".parse().unwrap())
    );
    json["nodeTopology"] = json!({});
    let everywhere = capacity(&json);
    assert!(everywhere.topology.as_ref().unwrap().matches(&labels(&[])));
    assert_eq!(everywhere.pin, None);
}

#[test]
fn with_any_field_made_odd_they_are_an_error_or_an_object() {
    for kind in KINDS {
        mutations(&full(kind), |mutated| {
            if let Ok(Object::StorageClass(class)) =
                Object::decode(kind, mutated.to_string().as_bytes())
            {
                class.allows(&labels(&[("zone", "a")]));
            }
        });
    }
}
