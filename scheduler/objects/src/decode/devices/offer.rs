//! Slices: what drivers offer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::super::values::{Items, Text};
use super::super::{DecodeError, convert, wire};
use super::{WireNodeSelector, named, nodes_selector, shared, texts};
use crate::device::{
    Attribute, CapacityPolicy, CapacityRange, CounterSet, CounterUse, Device, DeviceCapacity,
    DeviceTaint, NodeChoice, ResourcePool, ResourceSlice,
};
use crate::intern::intern;
use crate::quantity::Quantity;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireSlice<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<WireSpec<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireSpec<'a> {
    #[serde(borrow)]
    driver: Text<'a>,
    #[serde(borrow)]
    pool: Option<WirePool<'a>>,
    #[serde(borrow)]
    node_name: Text<'a>,
    all_nodes: Option<bool>,
    #[serde(borrow)]
    node_selector: Option<WireNodeSelector<'a>>,
    per_device_node_selection: Option<bool>,
    #[serde(borrow)]
    devices: Items<WireDevice<'a>>,
    #[serde(borrow)]
    shared_counters: Items<WireCounterSet<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePool<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    generation: Option<i64>,
    resource_slice_count: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireDevice<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    attributes: Option<BTreeMap<Text<'a>, Option<WireAttribute<'a>>>>,
    #[serde(borrow)]
    capacity: Option<BTreeMap<Text<'a>, Option<WireCapacity>>>,
    #[serde(borrow)]
    consumes_counters: Items<WireCounterUse<'a>>,
    #[serde(borrow)]
    node_name: Text<'a>,
    all_nodes: Option<bool>,
    #[serde(borrow)]
    node_selector: Option<WireNodeSelector<'a>>,
    #[serde(borrow)]
    taints: Items<WireTaint<'a>>,
    binds_to_node: Option<bool>,
    #[serde(borrow)]
    binding_conditions: Option<Items<Text<'a>>>,
    #[serde(borrow)]
    binding_failure_conditions: Items<Text<'a>>,
    allow_multiple_allocations: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireAttribute<'a> {
    int: Option<i64>,
    bool: Option<bool>,
    #[serde(borrow)]
    string: Option<Text<'a>>,
    #[serde(borrow)]
    version: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireCapacity {
    value: Option<Quantity>,
    request_policy: Option<WirePolicy>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePolicy {
    default: Option<Quantity>,
    valid_values: Option<Items<Quantity>>,
    valid_range: Option<WireRange>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireRange {
    min: Option<Quantity>,
    max: Option<Quantity>,
    step: Option<Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCounter {
    value: Option<Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCounterSet<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    counters: Option<BTreeMap<Text<'a>, Option<WireCounter>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireCounterUse<'a> {
    #[serde(borrow)]
    counter_set: Text<'a>,
    #[serde(borrow)]
    counters: Option<BTreeMap<Text<'a>, Option<WireCounter>>>,
    #[serde(borrow)]
    compatibility_groups: Items<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireTaint<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    effect: Text<'a>,
}

/// A slice of the wire as a value.
pub(super) fn convert(wire: &WireSlice<'_>) -> Result<ResourceSlice, DecodeError> {
    let (no_spec, no_pool) = (WireSpec::default(), WirePool::default());
    let spec = wire.spec.as_ref().unwrap_or(&no_spec);
    let pool = spec.pool.as_ref().unwrap_or(&no_pool);
    Ok(ResourceSlice {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
        driver: shared(&spec.driver),
        pool: ResourcePool {
            name: shared(&pool.name),
            generation: pool.generation.unwrap_or(0),
            slice_count: pool.resource_slice_count.unwrap_or(0),
        },
        nodes: NodeChoice {
            name: named(&spec.node_name),
            all: spec.all_nodes.unwrap_or(false),
            selector: spec.node_selector.as_ref().map(nodes_selector),
        },
        per_device_nodes: spec.per_device_node_selection.unwrap_or(false),
        devices: spec.devices.0.iter().map(device).collect(),
        shared_counters: spec.shared_counters.0.iter().map(counter_set).collect(),
    })
}

fn device(wire: &WireDevice<'_>) -> Device {
    let attributes = wire.attributes.iter().flatten();
    let capacity = wire.capacity.iter().flatten();
    Device {
        name: shared(&wire.name),
        attributes: attributes
            .map(|(name, value)| {
                (
                    shared(name),
                    value.as_ref().map_or(Attribute::Unknown, attribute),
                )
            })
            .collect(),
        capacity: capacity
            .map(|(name, value)| (shared(name), device_capacity(value.as_ref())))
            .collect(),
        consumes: wire.consumes_counters.0.iter().map(counter_use).collect(),
        nodes: NodeChoice {
            name: named(&wire.node_name),
            all: wire.all_nodes.unwrap_or(false),
            selector: wire.node_selector.as_ref().map(nodes_selector),
        },
        taints: wire.taints.0.iter().map(taint).collect(),
        binds_to_node: wire.binds_to_node.unwrap_or(false),
        binding_conditions: wire.binding_conditions.as_ref().map(texts),
        binding_failure_conditions: texts(&wire.binding_failure_conditions),
        shareable: wire.allow_multiple_allocations.unwrap_or(false),
    }
}

/// The one value that is set.
fn attribute(wire: &WireAttribute<'_>) -> Attribute {
    match wire {
        WireAttribute { int: Some(int), .. } => Attribute::Int(*int),
        WireAttribute {
            bool: Some(bool), ..
        } => Attribute::Bool(*bool),
        WireAttribute {
            string: Some(text), ..
        } => Attribute::Text(shared(text)),
        WireAttribute {
            version: Some(text),
            ..
        } => Attribute::Version(shared(text)),
        _ => Attribute::Unknown,
    }
}

fn device_capacity(wire: Option<&WireCapacity>) -> DeviceCapacity {
    let policy = wire.and_then(|wire| wire.request_policy.as_ref());
    let policy = policy.map(|policy| {
        let values = policy.valid_values.as_ref();
        Box::new(CapacityPolicy {
            default: policy.default,
            valid_values: values.map(|values| values.0.iter().copied().collect()),
            valid_range: policy.valid_range.as_ref().map(|range| CapacityRange {
                min: range.min,
                max: range.max,
                step: range.step,
            }),
        })
    });
    DeviceCapacity {
        value: wire.and_then(|wire| wire.value).unwrap_or_default(),
        policy,
    }
}

fn counter_set(wire: &WireCounterSet<'_>) -> CounterSet {
    CounterSet {
        name: shared(&wire.name),
        counters: counters(wire.counters.as_ref()),
    }
}

fn counter_use(wire: &WireCounterUse<'_>) -> CounterUse {
    CounterUse {
        set: shared(&wire.counter_set),
        counters: counters(wire.counters.as_ref()),
        has_groups: !wire.compatibility_groups.0.is_empty(),
    }
}

fn counters(
    wire: Option<&BTreeMap<Text<'_>, Option<WireCounter>>>,
) -> BTreeMap<Arc<str>, Quantity> {
    let pairs = wire.into_iter().flatten();
    pairs
        .map(|(name, counter)| {
            let value = counter.as_ref().and_then(|counter| counter.value);
            (intern(&name.0), value.unwrap_or_default())
        })
        .collect()
}

fn taint(wire: &WireTaint<'_>) -> DeviceTaint {
    DeviceTaint {
        key: shared(&wire.key),
        value: shared(&wire.value),
        effect: shared(&wire.effect),
    }
}
