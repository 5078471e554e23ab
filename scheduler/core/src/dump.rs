//! What the engine holds, for people (kube-scheduler `backend/cache/debugger`).
//!
//! Values of one instant: nodes with their pods are shared, not copied, so that even a large
//! cluster is dumped between two steps.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_framework::NodeInfo;
use plimsoll_objects::{Pod, Uid};

use crate::engine::Engine;

/// The cache and the queue.
#[derive(Debug, Clone, Default)]
pub struct Dump {
    /// All nodes, by name.
    pub nodes: Vec<Arc<NodeInfo>>,
    /// Pods on nodes that are not known, by the name of the node.
    pub orphans: BTreeMap<Arc<str>, Vec<Arc<Pod>>>,
    /// Pods that were promised a node and wait for its room, by that node.
    pub nominated: BTreeMap<Arc<str>, Vec<Arc<Pod>>>,
    /// All pods in the queue: active, resting, unschedulable, gated.
    pub waiting: Vec<WaitingPod>,
    /// Pods that are out for an attempt: on their way to a node, or to be put back.
    pub out: BTreeSet<Uid>,
    /// The profiles: whose pods without a node wait here.
    pub scheduler_names: Vec<Arc<str>>,
}

/// One pod in the queue.
#[derive(Debug, Clone)]
pub struct WaitingPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// `active`, `backoff`, `unschedulable` or `gated`.
    pub queue: &'static str,
    /// Attempts so far.
    pub attempts: u32,
    /// The plugins that turned it down, or hold it back.
    pub because_of: Vec<&'static str>,
}

impl Engine {
    /// What it holds now.
    pub fn dump(&self) -> Dump {
        Dump {
            nodes: self.cache.all_nodes(),
            orphans: self.cache.all_orphans(),
            nominated: self.nominator.all(),
            waiting: self.queue.waiting(),
            out: self.queue.out(),
            scheduler_names: self.profiles.names().map(Arc::clone).collect(),
        }
    }
}
