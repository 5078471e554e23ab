//! What is claimed, and what was given.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::{DeviceSelector, DeviceToleration, NodesSelector};
use crate::meta::{ObjectMeta, Uid};
use crate::quantity::Quantity;

/// A `resource.k8s.io/v1.ResourceClaim`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceClaim {
    /// Name, uid, owner.
    pub meta: ObjectMeta,
    /// Annotation `resource.kubernetes.io/extended-resource-claim` is `true`: a scheduler
    /// made it for a pod's extended resources.
    pub for_extended_resources: bool,
    /// What is wanted.
    pub spec: ClaimSpec,
    /// What is.
    pub status: ClaimStatus,
}

/// `spec.devices`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaimSpec {
    /// `requests`.
    pub requests: Box<[DeviceRequest]>,
    /// `constraints`.
    pub constraints: Box<[DeviceConstraint]>,
    /// `config`: goes into the allocation as it is.
    pub config: Box<[DeviceConfig]>,
}

/// One of `requests`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRequest {
    /// `name`: unique in the claim.
    pub name: Arc<str>,
    /// Which devices.
    pub kind: RequestKind,
}

/// How a request names its devices.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestKind {
    /// `exactly`.
    Exactly(Box<DeviceWish>),
    /// `firstAvailable`: the first of these that can be had. Never empty.
    FirstAvailable(Box<[DeviceWish]>),
    /// A kind of request that this version does not know.
    Unknown,
}

/// Devices of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceWish {
    /// `name` of a subrequest; empty for `exactly`.
    pub name: Arc<str>,
    /// `deviceClassName`.
    pub class: Arc<str>,
    /// `selectors`: all must match a device.
    pub selectors: Box<[DeviceSelector]>,
    /// `allocationMode` and `count`.
    pub mode: AllocationMode,
    /// `adminAccess`, whose absence is not the same as false.
    pub admin_access: Option<bool>,
    /// `tolerations`.
    pub tolerations: Box<[DeviceToleration]>,
    /// `capacity.requests`; `None` where there are none.
    pub capacity: Option<BTreeMap<Arc<str>, Quantity>>,
    /// Whether it has `derivedAttributes`, which this version cannot judge.
    pub has_derived_attributes: bool,
}

/// How many devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllocationMode {
    /// `ExactCount`: so many.
    Exact(i64),
    /// `All` that match.
    All,
    /// A mode that this version does not know.
    Other(Arc<str>),
}

/// One of `constraints`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceConstraint {
    /// `requests` (and subrequests, as `request/subrequest`) that it is about; empty for all.
    pub requests: Box<[Arc<str>]>,
    /// `matchAttribute`: all devices have the same value of it.
    pub same: Option<Arc<str>>,
    /// `distinctAttribute`: no two devices have the same value of it.
    pub distinct: Option<Arc<str>>,
}

/// One of `config`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceConfig {
    /// `requests` (and subrequests) that it is for; empty for all.
    pub requests: Box<[Arc<str>]>,
    /// `opaque`.
    pub opaque: Option<Arc<Value>>,
}

/// `status`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaimStatus {
    /// `allocation`.
    pub allocation: Option<Arc<Allocation>>,
    /// `reservedFor`.
    pub reserved_for: Box<[Consumer]>,
    /// `devices`: what drivers say of the allocated devices.
    pub devices: Box<[DeviceStatus]>,
}

/// One of `reservedFor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// `resource`, such as `pods`.
    pub resource: Arc<str>,
    /// `name`.
    pub name: Arc<str>,
    /// `uid`.
    pub uid: Uid,
}

/// `status.allocation`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Allocation {
    /// `devices.results`.
    pub results: Box<[AllocatedDevice]>,
    /// `devices.config`: only of an allocation that is still to be written.
    pub config: Box<[AllocatedConfig]>,
    /// `nodeSelector`: the nodes that have all of the devices; `None` for every node.
    pub nodes: Option<Arc<NodesSelector>>,
    /// `allocationTimestamp`.
    pub timestamp: Option<Timestamp>,
}

/// One of `devices.results`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatedDevice {
    /// `request`, or `request/subrequest`.
    pub request: Arc<str>,
    /// `driver`.
    pub driver: Arc<str>,
    /// `pool`.
    pub pool: Arc<str>,
    /// `device`.
    pub device: Arc<str>,
    /// `adminAccess`: the device stays free for others.
    pub admin_access: bool,
    /// `tolerations`: only of an allocation that is still to be written.
    pub tolerations: Box<[DeviceToleration]>,
    /// `bindingConditions`.
    pub binding_conditions: Box<[Arc<str>]>,
    /// `bindingFailureConditions`.
    pub binding_failure_conditions: Box<[Arc<str>]>,
    /// `shareID`: this is a share of the device.
    pub share: Option<Arc<str>>,
    /// `consumedCapacity`; `None` where there is none.
    pub consumed: Option<BTreeMap<Arc<str>, Quantity>>,
}

/// One of `devices.config`.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocatedConfig {
    /// `source`.
    pub source: ConfigSource,
    /// `requests` that it is for; empty for all.
    pub requests: Vec<Arc<str>>,
    /// `opaque`.
    pub opaque: Option<Arc<Value>>,
}

/// Where a configuration comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigSource {
    /// `FromClass`.
    Class,
    /// `FromClaim`.
    Claim,
}

/// One of `status.devices`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceStatus {
    /// `driver`.
    pub driver: Arc<str>,
    /// `pool`.
    pub pool: Arc<str>,
    /// `device`.
    pub device: Arc<str>,
    /// `conditions`.
    pub conditions: Box<[DeviceCondition]>,
}

/// One condition of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCondition {
    /// `type`.
    pub kind: Arc<str>,
    /// `status` is `True`.
    pub is_true: bool,
    /// `reason`.
    pub reason: Arc<str>,
    /// `message`.
    pub message: Arc<str>,
}

// === impl ResourceClaim ===

impl ResourceClaim {
    /// Whether it is allocated.
    pub fn is_allocated(&self) -> bool {
        self.status.allocation.is_some()
    }

    /// Whether `pod` is among those it is reserved for.
    pub fn is_reserved_for(&self, pod: &Uid) -> bool {
        let consumers = self.status.reserved_for.iter();
        consumers.into_iter().any(|consumer| consumer.uid == *pod)
    }

    /// What its driver says of an allocated device.
    pub fn status_of(&self, device: &AllocatedDevice) -> Option<&DeviceStatus> {
        let mut statuses = self.status.devices.iter();
        statuses.find(|status| {
            status.device == device.device
                && status.driver == device.driver
                && status.pool == device.pool
        })
    }
}

// === impl DeviceWish ===

impl DeviceWish {
    /// Whether devices are wanted for administration, whoever has them.
    pub fn is_admin(&self) -> bool {
        self.admin_access == Some(true)
    }
}

// === impl DeviceStatus ===

impl DeviceStatus {
    /// The condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&DeviceCondition> {
        self.conditions.iter().find(|one| &*one.kind == kind)
    }

    /// Whether the condition of this type is true.
    pub fn is_true(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|one| one.is_true)
    }
}
