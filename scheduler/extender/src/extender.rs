//! One extender: whom it wants to see, what it is asked, and what its answers mean.

pub(crate) mod filter;
pub(crate) mod preempt;
pub(crate) mod prioritize;
#[cfg(test)]
mod tests;

use plimsoll_config::{Extender, ManagedResource};
use serde_json::Value;
use thiserror::Error;

use crate::fields::WireError;
use crate::wire::{Args, BindingArgs};

/// What an extender can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Which nodes are left.
    Filter,
    /// How good they are.
    Prioritize,
    /// Bind the pod.
    Bind,
    /// Which candidates of preemption are left.
    Preempt,
}

/// Why an answer is no use.
#[derive(Debug, Error)]
pub enum AnswerError {
    /// The body cannot be read.
    #[error("the answer cannot be read")]
    Wire(#[from] WireError),
    /// The extender says so itself; the text is its own.
    #[error("{0}")]
    Said(String),
    /// It names a node that it was not asked about.
    #[error(
        "extender {extender:?} claims a filtered node {node:?} which is not found in the input \
         node list"
    )]
    NotOffered {
        /// Its URL prefix.
        extender: String,
        /// The node.
        node: String,
    },
    /// It wants to evict a pod that is not on that node.
    #[error(
        "extender: {extender} claims to preempt pod (UID: &{{{uid}}}) on node: {node}, but the pod is \
         not found on that node"
    )]
    NoSuchVictim {
        /// Its URL prefix.
        extender: String,
        /// The pod.
        uid: String,
        /// The node.
        node: String,
    },
    /// A candidate of preemption without victims.
    #[error("expected at least one victim pod on node {0:?}")]
    NoVictims(String),
}

/// What an extender has against one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The node.
    pub node: String,
    /// The extender's own words.
    pub message: String,
    /// Whether no eviction would help (`UnschedulableAndUnresolvable`).
    pub unresolvable: bool,
}

/// The nodes of a question, in the order of the search.
#[derive(Debug, Clone, PartialEq)]
pub enum Nodes {
    /// For extenders with `nodeCacheCapable`.
    Names(Vec<String>),
    /// Whole nodes, for the others.
    Whole(Vec<Value>),
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Filter, Self::Prioritize, Self::Bind, Self::Preempt];

    /// Its name, as logs and series have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Prioritize => "prioritize",
            Self::Bind => "bind",
            Self::Preempt => "preempt",
        }
    }

    /// The path that `extender` has for it; `None` if it is not asked.
    pub fn path(self, extender: &Extender) -> Option<&str> {
        let path = match self {
            Self::Filter => &extender.filter_verb,
            Self::Prioritize => &extender.prioritize_verb,
            Self::Bind => &extender.bind_verb,
            Self::Preempt => &extender.preempt_verb,
        };
        path.as_deref()
    }
}

impl Args {
    /// The question about `nodes`. Of the pod all is sent but who wrote which field; of nodes
    /// that, too.
    pub fn new(pod: &Value, nodes: Nodes) -> Self {
        let pod = bare_pod(pod.clone());
        match nodes {
            Nodes::Names(names) => Self {
                pod,
                nodes: None,
                node_names: Some(names),
            },
            Nodes::Whole(items) => {
                let items: Vec<Value> = items.into_iter().map(untyped).collect();
                Self {
                    pod,
                    nodes: Some(serde_json::json!({"metadata": {}, "items": items})),
                    node_names: None,
                }
            }
        }
    }
}

impl BindingArgs {
    /// The order to bind `pod` to `node`.
    pub fn new(pod: &Value, node: &str) -> Self {
        let text = |field| {
            pod["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            pod_name: text("name"),
            pod_namespace: text("namespace"),
            pod_uid: text("uid"),
            node: node.to_owned(),
        }
    }
}

/// A pod as kube-scheduler holds it: without who wrote which field.
fn bare_pod(mut pod: Value) -> Value {
    if let Some(Value::Object(meta)) = pod.get_mut("metadata") {
        meta.remove("managedFields");
    }
    untyped(pod)
}

/// An object as Go has it inside another: without the names of its type.
fn untyped(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    object
}

/// Whether `extender` wants to see `pod`: it manages all pods, or a container or init
/// container requests or limits one of its resources (`IsInterested`).
pub fn is_interested(extender: &Extender, pod: &Value) -> bool {
    let managed = &extender.managed_resources;
    let of = |field: &str| pod.pointer(&format!("/spec/{field}"));
    managed.is_empty()
        || ["containers", "initContainers"]
            .into_iter()
            .filter_map(of)
            .filter_map(Value::as_array)
            .flatten()
            .any(|container| names_one(container, managed))
}

fn names_one(container: &Value, managed: &[ManagedResource]) -> bool {
    let amounts = ["requests", "limits"].into_iter().filter_map(|field| {
        let amounts = container.get("resources")?.get(field)?;
        amounts.as_object()
    });
    let mut names = amounts.flat_map(|amounts| amounts.keys());
    names.any(|name| managed.iter().any(|resource| resource.name == *name))
}

/// The URL of a call: Go's `strings.TrimRight(prefix, "/") + "/" + verb`.
pub fn url(prefix: &str, path: &str) -> String {
    format!("{}/{path}", prefix.trim_end_matches('/'))
}
