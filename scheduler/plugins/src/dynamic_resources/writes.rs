//! What is written of claims, as data.
//!
//! Strategic merge patches: they add one consumer or one finalizer to what is there, so
//! that pods which share a claim do not get into each other's way. A claim that was
//! allocated elsewhere in the meantime refuses another allocation: the API server lets
//! nobody change one.

use jiff::Timestamp;
use plimsoll_framework::{ObjectWrite, WriteVerb};
use plimsoll_objects::device::{
    AllocatedConfig, AllocatedDevice, Allocation, AllocationMode, ConfigSource, DeviceToleration,
    NodesSelector, RequestKind, SelectorRequirement,
};
use plimsoll_objects::{ObjectKey, Pod, ResourceClaim, Uid};
use serde_json::{Map, Value, json};

use super::extended::Mapping;

/// Keeps a claim from going while it is allocated.
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
const EXTENDED_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

fn claim_write(key: &ObjectKey, subresource: &str, verb: WriteVerb) -> ObjectWrite {
    ObjectWrite {
        api_version: "resource.k8s.io/v1".to_owned(),
        kind: "ResourceClaim".to_owned(),
        key: key.clone(),
        subresource: subresource.to_owned(),
        verb,
    }
}

/// The finalizer, onto the very version that the allocation was made for.
pub(super) fn protect(claim: &ResourceClaim) -> ObjectWrite {
    let mut metadata = json!({"uid": &*claim.meta.uid.0, "finalizers": [FINALIZER]});
    if !claim.meta.resource_version.is_empty() {
        metadata["resourceVersion"] = json!(&*claim.meta.resource_version);
    }
    let body = json!({ "metadata": metadata });
    claim_write(&claim.meta.key, "", WriteVerb::StrategicPatch(body))
}

/// `pod` as a consumer, and the allocation where there is none yet.
pub(super) fn reserve(
    claim: &ResourceClaim,
    allocation: Option<&Allocation>,
    pod: &Pod,
    now: Timestamp,
) -> ObjectWrite {
    let consumer = json!({
        "resource": "pods",
        "name": &*pod.key().name,
        "uid": &*pod.uid().0,
    });
    let mut status = json!({"reservedFor": [consumer]});
    if let Some(allocation) = allocation {
        status["allocation"] = allocation_json(allocation, now);
    }
    let body = json!({"metadata": {"uid": &*claim.meta.uid.0}, "status": status});
    claim_write(&claim.meta.key, "status", WriteVerb::StrategicPatch(body))
}

/// `pod` is no consumer any more.
pub(super) fn unreserve(claim: &ResourceClaim, pod: &Uid) -> ObjectWrite {
    let body = json!({
        "metadata": {"uid": &*claim.meta.uid.0},
        "status": {"reservedFor": [{"$patch": "delete", "uid": &*pod.0}]},
    });
    claim_write(&claim.meta.key, "status", WriteVerb::StrategicPatch(body))
}

/// The claim gives its devices back, unless somebody changed it.
pub(super) fn deallocate(claim: &ResourceClaim) -> ObjectWrite {
    let mut metadata = json!({"uid": &*claim.meta.uid.0});
    if !claim.meta.resource_version.is_empty() {
        metadata["resourceVersion"] = json!(&*claim.meta.resource_version);
    }
    let body = json!({
        "metadata": metadata,
        "status": {"allocation": null, "reservedFor": null, "devices": null},
    });
    claim_write(&claim.meta.key, "status", WriteVerb::MergePatch(body))
}

/// The claim goes, finalizer or not.
pub(super) fn delete(claim: &ResourceClaim) -> Vec<ObjectWrite> {
    let uid = claim.meta.uid.0.to_string();
    let body =
        json!({"metadata": {"uid": &uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER]}});
    vec![
        claim_write(&claim.meta.key, "", WriteVerb::StrategicPatch(body)),
        claim_write(&claim.meta.key, "", WriteVerb::Delete { uid }),
    ]
}

/// A claim for the extended resources of `pod`; the API server names it.
pub(super) fn create_extended(claim: &ResourceClaim, pod: &Pod) -> ObjectWrite {
    let requests = claim.spec.requests.iter().filter_map(|request| {
        let RequestKind::Exactly(wish) = &request.kind else {
            return None;
        };
        let AllocationMode::Exact(count) = wish.mode else {
            return None;
        };
        let exactly = json!({
            "deviceClassName": &*wish.class,
            "allocationMode": "ExactCount",
            "count": count,
        });
        Some(json!({"name": &*request.name, "exactly": exactly}))
    });
    let (name, namespace) = (&*pod.key().name, &*pod.key().namespace);
    let body = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": format!("{name}-extended-resources-"),
            "namespace": namespace,
            "annotations": {EXTENDED_ANNOTATION: "true"},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Pod", "name": name,
                "uid": &*pod.uid().0, "controller": true,
            }],
        },
        "spec": {"devices": {"requests": requests.collect::<Vec<Value>>()}},
    });
    let key = ObjectKey::new(namespace, "");
    claim_write(&key, "", WriteVerb::Create(body))
}

/// Which request of the claim `name` is for which container of `pod`.
pub(super) fn tell_pod(pod: &Pod, name: &str, mappings: &[Mapping]) -> ObjectWrite {
    let mappings = mappings.iter().map(|mapping| {
        json!({
            "containerName": &*mapping.container,
            "resourceName": &*mapping.resource,
            "requestName": &*mapping.request,
        })
    });
    let status = json!({
        "requestMappings": mappings.collect::<Vec<Value>>(),
        "resourceClaimName": name,
    });
    let body = json!({
        "metadata": {"uid": &*pod.uid().0},
        "status": {"extendedResourceClaimStatus": status},
    });
    ObjectWrite {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        key: pod.key().clone(),
        subresource: "status".to_owned(),
        verb: WriteVerb::MergePatch(body),
    }
}

fn allocation_json(allocation: &Allocation, now: Timestamp) -> Value {
    let results: Vec<Value> = allocation.results.iter().map(result_json).collect();
    let mut devices = json!({"results": results});
    if !allocation.config.is_empty() {
        let config: Vec<Value> = allocation.config.iter().map(config_json).collect();
        devices["config"] = Value::Array(config);
    }
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut json = json!({"devices": devices, "allocationTimestamp": seconds.to_string()});
    if let Some(nodes) = &allocation.nodes {
        json["nodeSelector"] = selector_json(nodes);
    }
    json
}

fn result_json(device: &AllocatedDevice) -> Value {
    let mut json = json!({
        "request": &*device.request,
        "driver": &*device.driver,
        "pool": &*device.pool,
        "device": &*device.device,
    });
    if device.admin_access {
        json["adminAccess"] = json!(true);
    }
    if !device.tolerations.is_empty() {
        json["tolerations"] = device.tolerations.iter().map(toleration_json).collect();
    }
    let conditions = [
        ("bindingConditions", &device.binding_conditions),
        (
            "bindingFailureConditions",
            &device.binding_failure_conditions,
        ),
    ];
    for (field, conditions) in conditions {
        if !conditions.is_empty() {
            json[field] = conditions.iter().map(|one| json!(&**one)).collect();
        }
    }
    if let Some(share) = &device.share {
        json["shareID"] = json!(&**share);
    }
    if let Some(consumed) = &device.consumed {
        let amounts = consumed.iter();
        let amounts = amounts.map(|(name, amount)| (name.to_string(), json!(amount.to_string())));
        json["consumedCapacity"] = Value::Object(amounts.collect());
    }
    json
}

fn toleration_json(toleration: &DeviceToleration) -> Value {
    let texts = [
        ("key", &toleration.key),
        ("operator", &toleration.operator),
        ("value", &toleration.value),
        ("effect", &toleration.effect),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut json: Map<String, Value> = texts
        .map(|(field, text)| (field.to_owned(), json!(&**text)))
        .collect();
    if let Some(seconds) = toleration.seconds {
        json.insert("tolerationSeconds".to_owned(), json!(seconds));
    }
    Value::Object(json)
}

fn config_json(config: &AllocatedConfig) -> Value {
    let source = match config.source {
        ConfigSource::Class => "FromClass",
        ConfigSource::Claim => "FromClaim",
    };
    let mut json = json!({"source": source});
    if !config.requests.is_empty() {
        json["requests"] = config.requests.iter().map(|one| json!(&**one)).collect();
    }
    if let Some(opaque) = &config.opaque {
        json["opaque"] = (**opaque).clone();
    }
    json
}

fn selector_json(nodes: &NodesSelector) -> Value {
    let terms = nodes.terms.iter().map(|term| {
        let mut json = json!({});
        let lists = [
            ("matchFields", &term.fields),
            ("matchExpressions", &term.expressions),
        ];
        for (field, requirements) in lists {
            if !requirements.is_empty() {
                json[field] = requirements.iter().map(requirement_json).collect();
            }
        }
        json
    });
    json!({"nodeSelectorTerms": terms.collect::<Vec<Value>>()})
}

fn requirement_json(requirement: &SelectorRequirement) -> Value {
    let mut json = json!({"key": &*requirement.key, "operator": &*requirement.operator});
    if let Some(values) = &requirement.values {
        json["values"] = values.iter().map(|value| json!(&**value)).collect();
    }
    json
}
