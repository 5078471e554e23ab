//! What drivers offer: slices of pools of devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::DeviceTaint;
use crate::meta::ObjectMeta;
use crate::node::Node;
use crate::quantity::Quantity;
use crate::selector::{NodeSelector, NodeSelectorTerm, message};

/// A `resource.k8s.io/v1.ResourceSlice`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceSlice {
    /// Name.
    pub meta: ObjectMeta,
    /// `spec.driver`.
    pub driver: Arc<str>,
    /// `spec.pool`.
    pub pool: ResourcePool,
    /// The nodes that have its devices.
    pub nodes: NodeChoice,
    /// `spec.perDeviceNodeSelection`: every device says itself which nodes have it.
    pub per_device_nodes: bool,
    /// `spec.devices`.
    pub devices: Box<[Device]>,
    /// `spec.sharedCounters`.
    pub shared_counters: Box<[CounterSet]>,
}

/// `spec.pool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePool {
    /// `name`.
    pub name: Arc<str>,
    /// `generation`: slices of an older one do not count.
    pub generation: i64,
    /// `resourceSliceCount`: how many slices of this generation make it complete.
    pub slice_count: i64,
}

/// Which nodes have something: at most one of the fields is set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeChoice {
    /// `nodeName`.
    pub name: Option<Arc<str>>,
    /// `allNodes`.
    pub all: bool,
    /// `nodeSelector`.
    pub selector: Option<Arc<NodesSelector>>,
}

/// A `v1.NodeSelector`, parsed and as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct NodesSelector {
    /// To match nodes.
    pub parsed: NodeSelector,
    /// To be written into allocations.
    pub terms: Box<[SelectorTerm]>,
}

/// A `v1.NodeSelectorTerm` as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectorTerm {
    /// `matchFields`.
    pub fields: Box<[SelectorRequirement]>,
    /// `matchExpressions`.
    pub expressions: Box<[SelectorRequirement]>,
}

/// A `v1.NodeSelectorRequirement` as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorRequirement {
    /// `key`.
    pub key: Arc<str>,
    /// `operator`.
    pub operator: Arc<str>,
    /// `values`; `None` where there are none.
    pub values: Option<Box<[Arc<str>]>>,
}

/// One device.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// `name`: unique in its pool.
    pub name: Arc<str>,
    /// `attributes`, by name with or without domain.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// `capacity`, by name with or without domain.
    pub capacity: BTreeMap<Arc<str>, DeviceCapacity>,
    /// `consumesCounters`.
    pub consumes: Box<[CounterUse]>,
    /// The nodes that have it, where its slice leaves that to it.
    pub nodes: NodeChoice,
    /// `taints`.
    pub taints: Box<[DeviceTaint]>,
    /// `bindsToNode`.
    pub binds_to_node: bool,
    /// `bindingConditions`; `None` where the object has none.
    pub binding_conditions: Option<Box<[Arc<str>]>>,
    /// `bindingFailureConditions`.
    pub binding_failure_conditions: Box<[Arc<str>]>,
    /// `allowMultipleAllocations`: many claims may have a share of it.
    pub shareable: bool,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// `int`.
    Int(i64),
    /// `bool`.
    Bool(bool),
    /// `string`.
    Text(Arc<str>),
    /// `version`: a semantic version.
    Version(Arc<str>),
    /// A kind of value that this version does not know.
    Unknown,
}

/// One capacity of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCapacity {
    /// `value`: all of it.
    pub value: Quantity,
    /// `requestPolicy`: what a share may be.
    pub policy: Option<Box<CapacityPolicy>>,
}

/// `requestPolicy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityPolicy {
    /// `default`: what a claim gets that asks for nothing.
    pub default: Option<Quantity>,
    /// `validValues`, ascending; `None` where there are none.
    pub valid_values: Option<Box<[Quantity]>>,
    /// `validRange`.
    pub valid_range: Option<CapacityRange>,
}

/// `requestPolicy.validRange`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityRange {
    /// `min`.
    pub min: Option<Quantity>,
    /// `max`.
    pub max: Option<Quantity>,
    /// `step`, counted from `min`.
    pub step: Option<Quantity>,
}

/// One of `spec.sharedCounters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterSet {
    /// `name`: unique in the pool.
    pub name: Arc<str>,
    /// `counters`.
    pub counters: BTreeMap<Arc<str>, Quantity>,
}

/// One of a device's `consumesCounters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterUse {
    /// `counterSet`.
    pub set: Arc<str>,
    /// `counters`.
    pub counters: BTreeMap<Arc<str>, Quantity>,
    /// Whether it has `compatibilityGroups`, which this version cannot judge.
    pub has_groups: bool,
}

// === impl ResourceSlice ===

impl ResourceSlice {
    /// Whether a device of it declares compatibility groups: as long as their feature gate
    /// is off, such a slice does not count.
    pub fn has_compatibility_groups(&self) -> bool {
        let uses = self.devices.iter().flat_map(|device| &device.consumes);
        uses.into_iter().any(|consumed| consumed.has_groups)
    }
}

// === impl NodeChoice ===

impl NodeChoice {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && !self.all && self.selector.is_none()
    }

    /// Whether `node` is among them.
    ///
    /// # Errors
    /// The selector has a mistake, in kube-scheduler's words.
    pub fn matches(&self, node: &Node) -> Result<bool, String> {
        if let Some(name) = &self.name {
            return Ok(name == node.name());
        }
        match &self.selector {
            _ if self.all => Ok(true),
            Some(selector) => selector.matches(node),
            None => Ok(false),
        }
    }
}

// === impl NodesSelector ===

impl NodesSelector {
    /// Whether a term matches `node`.
    ///
    /// # Errors
    /// A term has a mistake, in kube-scheduler's words.
    pub fn matches(&self, node: &Node) -> Result<bool, String> {
        match self.mistakes() {
            Some(mistakes) => Err(mistakes),
            None => Ok(self.parsed.matches(node)),
        }
    }

    /// The mistakes of its terms as one text.
    pub fn mistakes(&self) -> Option<String> {
        let wrong = self.parsed.terms.iter().any(NodeSelectorTerm::has_mistakes);
        wrong.then(|| message(&self.parsed.mistakes()))
    }
}
