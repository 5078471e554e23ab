//! A claim as the API server sends it: the fields that are read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::{WireConfig, WireNodeSelector, WireSelector, WireToleration};
use crate::decode::values::{Items, Text};
use crate::decode::wire;
use crate::quantity::Quantity;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct WireClaim<'a> {
    #[serde(borrow)]
    pub(super) metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    pub(super) spec: Option<WireSpec<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<WireStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireSpec<'a> {
    #[serde(borrow)]
    pub(super) devices: Option<WireWanted<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireWanted<'a> {
    #[serde(borrow)]
    pub(super) requests: Items<WireRequest<'a>>,
    #[serde(borrow)]
    pub(super) constraints: Items<WireConstraint<'a>>,
    #[serde(borrow)]
    pub(super) config: Items<WireConfig<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireRequest<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) exactly: Option<WireWish<'a>>,
    #[serde(borrow)]
    pub(super) first_available: Items<WireWish<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireWish<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) device_class_name: Text<'a>,
    #[serde(borrow)]
    pub(super) selectors: Items<WireSelector<'a>>,
    #[serde(borrow)]
    pub(super) allocation_mode: Text<'a>,
    pub(super) count: Option<i64>,
    pub(super) admin_access: Option<bool>,
    #[serde(borrow)]
    pub(super) tolerations: Items<WireToleration<'a>>,
    #[serde(borrow)]
    pub(super) capacity: Option<WireRequirements<'a>>,
    pub(super) derived_attributes: Items<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireRequirements<'a> {
    #[serde(borrow)]
    pub(super) requests: Option<BTreeMap<Text<'a>, Quantity>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireConstraint<'a> {
    #[serde(borrow)]
    pub(super) requests: Items<Text<'a>>,
    #[serde(borrow)]
    pub(super) match_attribute: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) distinct_attribute: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireStatus<'a> {
    #[serde(borrow)]
    pub(super) allocation: Option<WireAllocation<'a>>,
    #[serde(borrow)]
    pub(super) reserved_for: Items<WireConsumer<'a>>,
    #[serde(borrow)]
    pub(super) devices: Items<WireDeviceStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireAllocation<'a> {
    #[serde(borrow)]
    pub(super) devices: Option<WireAllocated<'a>>,
    #[serde(borrow)]
    pub(super) node_selector: Option<WireNodeSelector<'a>>,
    #[serde(borrow)]
    pub(super) allocation_timestamp: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireAllocated<'a> {
    #[serde(borrow)]
    pub(super) results: Items<WireResult<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireResult<'a> {
    #[serde(borrow)]
    pub(super) request: Text<'a>,
    #[serde(borrow)]
    pub(super) driver: Text<'a>,
    #[serde(borrow)]
    pub(super) pool: Text<'a>,
    #[serde(borrow)]
    pub(super) device: Text<'a>,
    pub(super) admin_access: Option<bool>,
    #[serde(borrow)]
    pub(super) tolerations: Items<WireToleration<'a>>,
    #[serde(borrow)]
    pub(super) binding_conditions: Items<Text<'a>>,
    #[serde(borrow)]
    pub(super) binding_failure_conditions: Items<Text<'a>>,
    #[serde(borrow, rename = "shareID")]
    pub(super) share_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) consumed_capacity: Option<BTreeMap<Text<'a>, Quantity>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireConsumer<'a> {
    #[serde(borrow)]
    pub(super) resource: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireDeviceStatus<'a> {
    #[serde(borrow)]
    pub(super) driver: Text<'a>,
    #[serde(borrow)]
    pub(super) pool: Text<'a>,
    #[serde(borrow)]
    pub(super) device: Text<'a>,
    #[serde(borrow)]
    pub(super) conditions: Items<wire::Condition<'a>>,
}
