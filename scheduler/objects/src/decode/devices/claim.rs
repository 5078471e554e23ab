//! Claims: what is wanted and what was given.

mod fields;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::fields::{
    WireAllocation, WireDeviceStatus, WireRequest, WireResult, WireStatus, WireWanted, WireWish,
};
use super::super::values::Text;
use super::super::{DecodeError, convert};
use super::{named, nodes_selector, selectors, shared, texts, tolerations};
use crate::device::{
    AllocatedDevice, Allocation, AllocationMode, ClaimSpec, ClaimStatus, Consumer, DeviceCondition,
    DeviceConfig, DeviceConstraint, DeviceRequest, DeviceStatus, DeviceWish, RequestKind,
    ResourceClaim,
};
use crate::meta::Uid;
use crate::quantity::Quantity;

pub(super) use self::fields::WireClaim;

/// Marks the claim of a pod's extended resources.
const EXTENDED_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

/// A claim of the wire as a value.
pub(super) fn convert(wire: &WireClaim<'_>) -> Result<ResourceClaim, DecodeError> {
    let metadata = wire.metadata.as_ref();
    let annotations = metadata.and_then(|metadata| metadata.annotations.as_ref());
    let mut annotations = annotations.iter().flat_map(|texts| &texts.0);
    let wanted = wire.spec.as_ref().and_then(|spec| spec.devices.as_ref());
    Ok(ResourceClaim {
        meta: convert::meta(metadata, "default")?,
        for_extended_resources: annotations
            .any(|(key, value)| key.0 == EXTENDED_ANNOTATION && value.0 == "true"),
        spec: wanted.map(spec).unwrap_or_default(),
        status: wire
            .status
            .as_ref()
            .map(status)
            .transpose()?
            .unwrap_or_default(),
    })
}

fn spec(wire: &WireWanted<'_>) -> ClaimSpec {
    let config = wire.config.0.iter().map(|config| DeviceConfig {
        requests: texts(&config.requests),
        opaque: config.opaque(),
    });
    let constraints = wire
        .constraints
        .0
        .iter()
        .map(|constraint| DeviceConstraint {
            requests: texts(&constraint.requests),
            same: constraint.match_attribute.as_ref().map(shared),
            distinct: constraint.distinct_attribute.as_ref().map(shared),
        });
    ClaimSpec {
        requests: wire.requests.0.iter().map(request).collect(),
        constraints: constraints.collect(),
        config: config.collect(),
    }
}

fn request(wire: &WireRequest<'_>) -> DeviceRequest {
    let kind = match &wire.exactly {
        Some(exactly) => RequestKind::Exactly(Box::new(wish(exactly))),
        None if wire.first_available.0.is_empty() => RequestKind::Unknown,
        None => RequestKind::FirstAvailable(wire.first_available.0.iter().map(wish).collect()),
    };
    DeviceRequest {
        name: shared(&wire.name),
        kind,
    }
}

fn wish(wire: &WireWish<'_>) -> DeviceWish {
    let mode = match &*wire.allocation_mode.0 {
        "ExactCount" => AllocationMode::Exact(wire.count.unwrap_or(0)),
        "All" => AllocationMode::All,
        other => AllocationMode::Other(Arc::from(other)),
    };
    let capacity = wire.capacity.as_ref().and_then(|one| one.requests.as_ref());
    DeviceWish {
        name: shared(&wire.name),
        class: shared(&wire.device_class_name),
        selectors: selectors(&wire.selectors),
        mode,
        admin_access: wire.admin_access,
        tolerations: tolerations(&wire.tolerations),
        capacity: capacity.map(amounts),
        has_derived_attributes: !wire.derived_attributes.0.is_empty(),
    }
}

fn amounts(wire: &BTreeMap<Text<'_>, Quantity>) -> BTreeMap<Arc<str>, Quantity> {
    let pairs = wire.iter();
    pairs
        .map(|(name, amount)| (shared(name), *amount))
        .collect()
}

fn status(wire: &WireStatus<'_>) -> Result<ClaimStatus, DecodeError> {
    let consumers = wire.reserved_for.0.iter().map(|consumer| Consumer {
        resource: shared(&consumer.resource),
        name: shared(&consumer.name),
        uid: Uid(shared(&consumer.uid)),
    });
    let allocation = wire.allocation.as_ref().map(allocation).transpose()?;
    Ok(ClaimStatus {
        allocation: allocation.map(Arc::new),
        reserved_for: consumers.collect(),
        devices: wire.devices.0.iter().map(device_status).collect(),
    })
}

fn allocation(wire: &WireAllocation<'_>) -> Result<Allocation, DecodeError> {
    let results = wire.devices.iter().flat_map(|devices| &devices.results.0);
    let timestamp = convert::time(wire.allocation_timestamp.as_ref(), || {
        "status.allocation.allocationTimestamp".to_owned()
    })?;
    Ok(Allocation {
        results: results.map(allocated).collect(),
        config: Box::default(),
        nodes: wire.node_selector.as_ref().map(nodes_selector),
        timestamp,
    })
}

fn allocated(wire: &WireResult<'_>) -> AllocatedDevice {
    AllocatedDevice {
        request: shared(&wire.request),
        driver: shared(&wire.driver),
        pool: shared(&wire.pool),
        device: shared(&wire.device),
        admin_access: wire.admin_access == Some(true),
        tolerations: tolerations(&wire.tolerations),
        binding_conditions: texts(&wire.binding_conditions),
        binding_failure_conditions: texts(&wire.binding_failure_conditions),
        share: wire.share_id.as_ref().and_then(named),
        consumed: wire.consumed_capacity.as_ref().map(amounts),
    }
}

fn device_status(wire: &WireDeviceStatus<'_>) -> DeviceStatus {
    let conditions = wire.conditions.0.iter().map(|condition| DeviceCondition {
        kind: shared(&condition.kind),
        is_true: condition.status.0 == "True",
        reason: shared(&condition.reason),
        message: shared(&condition.message),
    });
    DeviceStatus {
        driver: shared(&wire.driver),
        pool: shared(&wire.pool),
        device: shared(&wire.device),
        conditions: conditions.collect(),
    }
}
