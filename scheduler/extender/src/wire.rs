//! The bodies of the protocol (`kube-scheduler/extender/v1`), one set of types for both
//! ends. Go's types carry no JSON tags: keys are capitalised, unused ones are `null`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::fields::{WireError, first_value, list, object};

/// What filter and prioritize are asked. `Object` is a whole pod or node as JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Args<Object = Value> {
    /// The whole pod.
    pub pod: Object,
    /// Whole nodes, if the extender keeps none itself.
    pub nodes: Option<NodeList<Object>>,
    /// The names of the nodes, if it does.
    pub node_names: Option<Vec<String>>,
}

/// A `v1.NodeList` as Go writes one that has no version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeList<Object = Value> {
    metadata: NoMeta,
    /// The nodes.
    pub items: Vec<Object>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
struct NoMeta {}

/// What filter answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct FilterResult {
    /// The nodes that are left.
    pub nodes: Option<NodeList>,
    /// The names of the nodes that are left.
    pub node_names: Option<Vec<String>>,
    /// Node and reason.
    pub failed_nodes: BTreeMap<String, String>,
    /// Node and reason, where no eviction would help.
    pub failed_and_unresolvable_nodes: BTreeMap<String, String>,
    /// Why there is no answer; empty if there is one.
    pub error: String,
}

/// One entry of the list that prioritize answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct HostPriority {
    /// Name of the node.
    pub host: String,
    /// 0 to 10; kube-scheduler does not check it.
    pub score: i64,
}

/// What bind is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct BindingArgs {
    /// Name of the pod.
    pub pod_name: String,
    /// Its namespace.
    pub pod_namespace: String,
    /// Its uid.
    #[serde(rename = "PodUID")]
    pub pod_uid: String,
    /// Name of the node.
    pub node: String,
}

/// What bind answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct BindingResult {
    /// Empty if the pod is bound.
    pub error: String,
}

/// What preempt is asked: one of the two maps, by node.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct PreemptionArgs<Object = Value> {
    /// The whole pod that needs room.
    pub pod: Object,
    /// Whole pods.
    pub node_name_to_victims: Option<BTreeMap<String, Victims<Object>>>,
    /// The same with uids only, for extenders that keep nodes themselves.
    pub node_name_to_meta_victims: Option<BTreeMap<String, MetaVictims>>,
}

/// Victims on one node.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Victims<Object = Value> {
    /// The pods, the most important first.
    pub pods: Vec<Object>,
    /// How many budgets are broken.
    #[serde(rename = "NumPDBViolations")]
    pub num_pdb_violations: i64,
}

/// What preempt answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct PreemptionResult {
    /// What is left of the candidates.
    pub node_name_to_meta_victims: BTreeMap<String, MetaVictims>,
}

/// Victims on one node, by uid.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct MetaVictims {
    /// The pods.
    pub pods: Vec<MetaPod>,
    /// How many budgets are broken.
    #[serde(rename = "NumPDBViolations")]
    pub num_pdb_violations: i64,
}

/// A pod by uid.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MetaPod {
    /// The uid.
    #[serde(rename = "UID")]
    pub uid: String,
}

impl Args {
    /// Reads a body, whatever the case of its keys.
    ///
    /// # Errors
    /// It is no JSON object, or a value has another type.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        let mut fields = object(first_value(body)?, "ExtenderArgs")?;
        Ok(Self {
            pod: fields.take("Pod"),
            nodes: node_list(fields.take("Nodes"))?,
            node_names: fields.texts("NodeNames")?,
        })
    }
}

impl FilterResult {
    /// Reads a body, whatever the case of its keys.
    ///
    /// # Errors
    /// It is no JSON object, or a value has another type.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        let mut fields = object(first_value(body)?, "ExtenderFilterResult")?;
        Ok(Self {
            nodes: node_list(fields.take("Nodes"))?,
            node_names: fields.texts("NodeNames")?,
            failed_nodes: fields.text_map("FailedNodes")?,
            failed_and_unresolvable_nodes: fields.text_map("FailedAndUnresolvableNodes")?,
            error: fields.text("Error")?,
        })
    }
}

/// Reads the list that prioritize answers. One bad entry spoils the list, as in Go.
///
/// # Errors
/// It is no list, or a score is not a whole number.
pub fn read_scores(body: &[u8]) -> Result<Vec<HostPriority>, WireError> {
    let items = list(first_value(body)?, "HostPriorityList")?.unwrap_or_default();
    let read = |item| {
        let mut fields = object(item, "HostPriority")?;
        let (host, score) = (fields.text("Host")?, fields.whole("Score")?);
        Ok(HostPriority { host, score })
    };
    items.into_iter().map(read).collect()
}

/// A list of nodes; its nodes stay as they are.
fn node_list(value: Value) -> Result<Option<NodeList>, WireError> {
    if value.is_null() {
        return Ok(None);
    }
    let mut fields = object(value, "Nodes")?;
    let items = list(fields.take("items"), "Nodes.items")?;
    Ok(Some(NodeList::of(items.unwrap_or_default())))
}

impl<Object> NodeList<Object> {
    /// The list of `items`.
    pub fn of(items: Vec<Object>) -> Self {
        Self {
            metadata: NoMeta {},
            items,
        }
    }
}

impl BindingResult {
    /// Reads a body, whatever the case of its keys.
    ///
    /// # Errors
    /// It is no JSON object, or a value has another type.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        let error = object(first_value(body)?, "ExtenderBindingResult")?.text("Error")?;
        Ok(Self { error })
    }
}

impl PreemptionResult {
    /// Reads a body, whatever the case of its keys.
    ///
    /// # Errors
    /// It is no JSON object, or a value has another type.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        const KEY: &str = "NodeNameToMetaVictims";
        let mut fields = object(first_value(body)?, "ExtenderPreemptionResult")?;
        let nodes = object(fields.take(KEY), KEY)?.rest().into_iter();
        let read = |(node, victims)| Ok((node, MetaVictims::of(victims)?));
        let node_name_to_meta_victims = nodes.map(read).collect::<Result<_, WireError>>()?;
        Ok(Self {
            node_name_to_meta_victims,
        })
    }
}

impl MetaVictims {
    fn of(value: Value) -> Result<Self, WireError> {
        let mut fields = object(value, "MetaVictims")?;
        let pods = list(fields.take("Pods"), "Pods")?.unwrap_or_default();
        let uid = |pod| object(pod, "MetaPod")?.text("UID");
        let pods: Result<Vec<String>, WireError> = pods.into_iter().map(uid).collect();
        Ok(Self {
            pods: pods?.into_iter().map(|uid| MetaPod { uid }).collect(),
            num_pdb_violations: fields.whole("NumPDBViolations")?,
        })
    }
}
