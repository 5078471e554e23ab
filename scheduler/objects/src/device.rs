//! Devices: what nodes offer, how classes name them, what is claimed and given.
//!
//! Values of `resource.k8s.io/v1`. Takes nothing that the scheduler does not read, except
//! what it must write back as it was: the drivers' own configuration and node selectors.

mod claim;
mod offer;

use std::sync::Arc;

use serde_json::Value;

pub use self::claim::{
    AllocatedConfig, AllocatedDevice, Allocation, AllocationMode, ClaimSpec, ClaimStatus,
    ConfigSource, Consumer, DeviceCondition, DeviceConfig, DeviceConstraint, DeviceRequest,
    DeviceStatus, DeviceWish, RequestKind, ResourceClaim,
};
pub use self::offer::{
    Attribute, CapacityPolicy, CapacityRange, CounterSet, CounterUse, Device, DeviceCapacity,
    NodeChoice, NodesSelector, ResourcePool, ResourceSlice, SelectorRequirement, SelectorTerm,
};
use crate::meta::ObjectMeta;

/// A taint of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceTaint {
    /// `key`.
    pub key: Arc<str>,
    /// `value`; empty where there is none.
    pub value: Arc<str>,
    /// `effect`: `NoSchedule` and `NoExecute` keep claims away, others do not.
    pub effect: Arc<str>,
}

/// A toleration of a device's taints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceToleration {
    /// `key`; empty for every key.
    pub key: Arc<str>,
    /// `operator`; empty is `Equal`.
    pub operator: Arc<str>,
    /// `value`.
    pub value: Arc<str>,
    /// `effect`; empty for every effect.
    pub effect: Arc<str>,
    /// `tolerationSeconds`: kept for what is written, never read.
    pub seconds: Option<i64>,
}

/// A CEL selector; `None` for a kind of selector that this version does not know.
pub type DeviceSelector = Option<Arc<str>>;

/// A `resource.k8s.io/v1.DeviceClass`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceClass {
    /// Name, time of creation.
    pub meta: ObjectMeta,
    /// `spec.selectors`: all must match a device.
    pub selectors: Box<[DeviceSelector]>,
    /// `spec.config[].opaque`: goes into the allocation as it is.
    pub config: Box<[Option<Arc<Value>>]>,
    /// `spec.extendedResourceName`: pods that request this get a device of the class.
    pub extended_resource: Option<Arc<str>>,
}

// === impl DeviceTaint ===

impl DeviceTaint {
    /// Whether it keeps claims away that do not tolerate it.
    pub fn repels(&self) -> bool {
        matches!(&*self.effect, "NoSchedule" | "NoExecute")
    }
}

// === impl DeviceToleration ===

impl DeviceToleration {
    /// Whether it tolerates `taint` (`resourceclaim.ToleratesTaint`).
    pub fn tolerates(&self, taint: &DeviceTaint) -> bool {
        let effect = self.effect.is_empty() || self.effect == taint.effect;
        let key = self.key.is_empty() || self.key == taint.key;
        let value = match &*self.operator {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            _ => false,
        };
        effect && key && value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{DeviceTaint, DeviceToleration};

    fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> DeviceToleration {
        DeviceToleration {
            key: Arc::from(key),
            operator: Arc::from(operator),
            value: Arc::from(value),
            effect: Arc::from(effect),
            seconds: None,
        }
    }

    #[test]
    fn a_toleration_matches_by_key_value_and_effect() {
        let taint = DeviceTaint {
            key: Arc::from("broken"),
            value: Arc::from("fan"),
            effect: Arc::from("NoSchedule"),
        };
        let cases = [
            (toleration("broken", "Exists", "", ""), true),
            (toleration("", "Exists", "", ""), true),
            (toleration("broken", "Equal", "fan", "NoSchedule"), true),
            (toleration("broken", "", "fan", ""), true),
            (toleration("broken", "", "", ""), false),
            (toleration("other", "Exists", "", ""), false),
            (toleration("broken", "Exists", "", "NoExecute"), false),
            (toleration("broken", "Unheard", "fan", ""), false),
        ];
        for (toleration, expected) in cases {
            assert_eq!(toleration.tolerates(&taint), expected, "{toleration:?}");
        }
        assert!(taint.repels());
        let none = DeviceTaint {
            effect: Arc::from("None"),
            ..taint
        };
        assert!(!none.repels());
    }
}
