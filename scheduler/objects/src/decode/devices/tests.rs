//! Devices and claims as the API server has them.

use std::sync::Arc;

use serde_json::json;

use super::{device_class, resource_claim, resource_slice};
use crate::device::{AllocationMode, Attribute, RequestKind};
use crate::quantity::Quantity;

fn bytes(value: &serde_json::Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[test]
fn a_slice_has_its_devices_with_what_selectors_read() {
    let slice = resource_slice(&bytes(&json!({
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "n1", "generation": 2, "resourceSliceCount": 1},
            "nodeName": "n1",
            "devices": [{
                "name": "gpu-0",
                "attributes": {
                    "model": {"string": "large"}, "cores": {"int": 8}, "ecc": {"bool": true},
                    "driver": {"version": "1.2.3"}, "list": {"strings": ["a"]}, "none": null,
                },
                "capacity": {"memory": {"value": "40Gi", "requestPolicy": {
                    "default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"},
                }}},
                "consumesCounters": [{"counterSet": "c", "counters": {"mem": {"value": "1"}}}],
                "taints": [{"key": "k", "effect": "NoSchedule"}],
                "bindingConditions": [],
                "allowMultipleAllocations": true,
            }],
            "sharedCounters": [{"name": "c", "counters": {"mem": {"value": "4"}}}],
        },
    })))
    .unwrap();
    assert_eq!(
        (&*slice.driver, slice.pool.generation),
        ("gpu.example.com", 2)
    );
    assert_eq!(slice.nodes.name.as_deref(), Some("n1"));
    let device = &slice.devices[0];
    let expected = [
        ("cores", Attribute::Int(8)),
        ("driver", Attribute::Version(Arc::from("1.2.3"))),
        ("ecc", Attribute::Bool(true)),
        ("list", Attribute::Unknown),
        ("model", Attribute::Text(Arc::from("large"))),
        ("none", Attribute::Unknown),
    ];
    for (name, value) in expected {
        assert_eq!(device.attributes.get(name), Some(&value), "{name}");
    }
    let policy = device.capacity["memory"].policy.as_ref().unwrap();
    assert_eq!(policy.default, Some(Quantity::from_units(1 << 30)));
    assert!(policy.valid_range.unwrap().max.is_none());
    assert_eq!(device.binding_conditions.as_deref(), Some([].as_slice()));
    assert!(device.shareable && device.taints[0].repels());
    assert!(!slice.has_compatibility_groups());
}

#[test]
fn a_claim_has_what_is_wanted_and_what_was_given() {
    let claim = resource_claim(&bytes(&json!({
        "metadata": {
            "name": "c", "namespace": "team",
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        },
        "spec": {"devices": {
            "requests": [
                {"name": "one", "exactly": {
                    "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2,
                    "selectors": [{"cel": {"expression": "true"}}, {}],
                    "capacity": {"requests": {"memory": "1Gi"}},
                }},
                {"name": "two", "firstAvailable": [
                    {"name": "a", "deviceClassName": "gpu", "allocationMode": "All"},
                ]},
                {"name": "three"},
            ],
            "constraints": [{"requests": ["one"], "matchAttribute": "a/b"}],
            "config": [{"requests": ["one"], "opaque": {"driver": "d", "parameters": {"x": 1}}}],
        }},
        "status": {
            "allocation": {
                "devices": {"results": [{
                    "request": "one", "driver": "d", "pool": "p", "device": "x",
                    "shareID": "s", "consumedCapacity": {"memory": "1Gi"},
                }]},
                "nodeSelector": {"nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
                ]},
                "allocationTimestamp": "2026-01-31T12:00:00Z",
            },
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
        },
    })))
    .unwrap();
    assert!(claim.for_extended_resources);
    let RequestKind::Exactly(one) = &claim.spec.requests[0].kind else {
        panic!("it is exactly one");
    };
    assert_eq!(one.mode, AllocationMode::Exact(2));
    assert_eq!(*one.selectors, [Some(Arc::from("true")), None]);
    assert!(matches!(
        claim.spec.requests[1].kind,
        RequestKind::FirstAvailable(_)
    ));
    assert_eq!(claim.spec.requests[2].kind, RequestKind::Unknown);
    assert_eq!(claim.spec.constraints[0].same.as_deref(), Some("a/b"));
    let allocation = claim.status.allocation.as_ref().unwrap();
    assert_eq!(allocation.results[0].share.as_deref(), Some("s"));
    assert!(allocation.timestamp.is_some());
    assert_eq!(allocation.nodes.as_ref().unwrap().mistakes(), None);
    assert!(claim.is_reserved_for(&crate::meta::Uid(Arc::from("u"))));
}

#[test]
fn a_mistake_has_its_path() {
    let cases = [
        (
            json!({"status": {"allocation": {"allocationTimestamp": "soon"}}}),
            "status.allocation.allocationTimestamp",
        ),
        (
            json!({"spec": {"devices": {"requests": [{"exactly": {"count": "x"}}]}}}),
            "spec.devices.requests[0].exactly.count",
        ),
    ];
    for (object, path) in cases {
        let error = resource_claim(&bytes(&object)).unwrap_err().to_string();
        assert!(error.starts_with(path), "{error}");
    }
}

#[test]
fn a_class_has_its_selectors_and_its_extended_resource() {
    let class = device_class(&bytes(&json!({
        "metadata": {"name": "gpu"},
        "spec": {
            "selectors": [{"cel": {"expression": "device.driver == \"d\""}}],
            "extendedResourceName": "example.com/gpu",
            "config": [{"opaque": {"driver": "d"}}],
        },
    })))
    .unwrap();
    assert_eq!(class.extended_resource.as_deref(), Some("example.com/gpu"));
    assert_eq!((class.selectors.len(), class.config.len()), (1, 1));
    assert!(device_class(b"{}").unwrap().selectors.is_empty());
}
