//! What is known of the cluster: nodes, the pods on them, their load
//! (kube-scheduler `backend/cache`).
//!
//! ```text
//!            assume                 watch shows a node
//! (unknown) ────────> assumed ──────────────────────────> confirmed
//!     ^                  │ forget                             │ gone, ended
//!     └──────────────────┴────────────────────────────────────┘
//! ```
//! Takes nodes and pods in any order, repeated or lost on the way; gives a [`Snapshot`]
//! brought up to date only where something changed. An assumed pod never expires. A pod on
//! a node that is not known is kept aside until the node comes.

mod node_tree;
mod nodes;
mod pods;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_framework::{NodeId, NodeInfo, Now, PodEstimate, Snapshot};
use plimsoll_load::{Applied, LoadModel, LoadOptions, Sample};
use plimsoll_objects::{Pod, Uid};

use self::node_tree::NodeTree;
use self::pods::CachedPod;
use crate::stats::{CacheSizes, LoadStats};

pub(crate) use self::pods::Confirmed;

/// All nodes and the pods on them.
pub(crate) struct Cache {
    /// By [`NodeId`]; an empty slot is free.
    nodes: Vec<Option<Arc<NodeInfo>>>,
    free: Vec<NodeId>,
    by_name: IndexMap<Arc<str>, NodeId>,
    tree: NodeTree,
    pods: IndexMap<Uid, CachedPod>,
    /// Pods by the name of a node that is not known.
    orphans: BTreeMap<Arc<str>, Vec<Uid>>,
    assumed: usize,
    load: LoadModel,
    /// Nodes whose load fell and that were not told of yet, in the order of their ids.
    falls: Vec<NodeId>,
    generation: u64,
    /// Nodes that changed since the last snapshot, each once.
    changed: Vec<NodeId>,
    is_changed: Vec<bool>,
    order_changed: bool,
}

impl Cache {
    pub(crate) fn new(load: LoadOptions) -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
            by_name: IndexMap::new(),
            tree: NodeTree::default(),
            pods: IndexMap::new(),
            orphans: BTreeMap::new(),
            assumed: 0,
            load: LoadModel::new(load),
            falls: Vec::new(),
            generation: 0,
            changed: Vec::new(),
            is_changed: Vec::new(),
            order_changed: false,
        }
    }

    /// Brings `snapshot` up to `now`: touches only what changed since the last call.
    pub(crate) fn update_snapshot(&mut self, snapshot: &mut Snapshot, now: Now) {
        self.load
            .refresh(now.mono, &mut |id, row| snapshot.set_load(id, *row));
        snapshot.set_load_mode(self.load.mode());
        self.note_falls();
        for id in self.changed.drain(..) {
            self.is_changed[id.index()] = false;
            match &self.nodes[id.index()] {
                Some(info) => {
                    snapshot.set_node(Arc::clone(info));
                    // A node new to the snapshot has had no row to set before.
                    snapshot.set_load(id, *self.load.row(id));
                }
                None => snapshot.clear_node(id),
            }
        }
        if std::mem::take(&mut self.order_changed) {
            snapshot.set_order(self.tree.order());
        }
        snapshot.set_taken_at(now);
    }

    fn note_falls(&mut self) {
        let known = self.falls.len();
        self.load.take_falls(&mut self.falls);
        if known > 0 && self.falls.len() > known {
            self.falls.sort_unstable();
            self.falls.dedup();
        }
    }

    /// The nodes whose load fell, by the refreshes since the last call.
    pub(crate) fn take_falls(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.falls)
    }

    /// Turns the judgement of load on or off, from the next snapshot.
    pub(crate) fn set_load_on(&mut self, on: bool) {
        self.load.set_enabled(on);
    }

    /// Takes the table of link speeds by instance type, bytes per second.
    pub(crate) fn set_link_speeds(&mut self, table: Arc<BTreeMap<Arc<str>, u64>>) {
        self.load.set_link_speeds(table);
    }

    /// Whether load is judged, as of the last snapshot.
    pub(crate) fn load_stats(&self) -> LoadStats {
        LoadStats {
            mode: self.load.mode(),
            since: self.load.mode_since(),
            census: self.load.census(),
        }
    }

    /// Takes a sample of a node's load.
    pub(crate) fn sample(&mut self, sample: &Sample) -> Applied {
        self.load.apply(sample)
    }

    /// What `pod` will use before it is measured.
    pub(crate) fn estimate(&self, pod: &Pod) -> PodEstimate {
        self.load.estimate(pod)
    }

    /// The index of the node `name`.
    pub(crate) fn node_id(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// All nodes, by name.
    pub(crate) fn all_nodes(&self) -> Vec<Arc<NodeInfo>> {
        let mut nodes: Vec<_> = self.nodes.iter().flatten().map(Arc::clone).collect();
        nodes.sort_by(|a, b| a.name().cmp(b.name()));
        nodes
    }

    /// All pods on nodes that are not known, by node.
    pub(crate) fn all_orphans(&self) -> BTreeMap<Arc<str>, Vec<Arc<Pod>>> {
        let of = |uid: &Uid| self.pods.get(uid).map(|cached| Arc::clone(&cached.pod));
        let orphans = self.orphans.iter();
        orphans
            .map(|(node, uids)| (Arc::clone(node), uids.iter().filter_map(of).collect()))
            .collect()
    }

    pub(crate) fn sizes(&self) -> CacheSizes {
        CacheSizes {
            nodes: self.by_name.len(),
            pods: self.pods.len(),
            assumed: self.assumed,
            orphans: self.orphans.values().map(Vec::len).sum(),
        }
    }

    /// The node `id`, to change: a snapshot that shares it keeps what it has.
    fn node_mut(&mut self, id: NodeId) -> Option<&mut NodeInfo> {
        self.touch(id);
        let info = Arc::make_mut(self.nodes.get_mut(id.index())?.as_mut()?);
        self.generation += 1;
        info.generation = self.generation;
        Some(info)
    }

    fn touch(&mut self, id: NodeId) {
        if let Some(flag) = self.is_changed.get_mut(id.index())
            && !std::mem::replace(flag, true)
        {
            self.changed.push(id);
        }
    }
}
