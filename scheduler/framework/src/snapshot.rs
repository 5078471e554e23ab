//! The cluster at the start of a cycle: nodes, load, instant.
//!
//! Made by the engine, changed only between cycles and only where something changed;
//! equal to one made anew (a property that the engine's tests hold).

mod affinities;
mod changes;
mod column;
mod pairs;
mod placed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_objects::{LabelSelector, NodeImage, ObjectKey, Pod, PodAffinity};

use self::affinities::PlacedAffinities;
use self::changes::Changes;
use self::column::LabelColumns;
use self::placed::PlacedSets;

use crate::catalog::Catalog;
use crate::claim_users::ClaimUsers;
use crate::images::ImageNodes;
use crate::load::{LoadMode, NodeLoad};
use crate::node::{NodeId, NodeInfo, PodGroup};
use crate::now::Now;

pub use self::changes::ChangeMark;
pub use self::column::LabelColumn;
pub use self::placed::PlacedSet;

/// What every hook of a cycle sees.
#[derive(Debug, Clone)]
pub struct Snapshot {
    infos: Vec<Option<Arc<NodeInfo>>>,
    order: Vec<NodeId>,
    load: Vec<NodeLoad>,
    load_mode: LoadMode,
    images: ImageNodes,
    placed: PlacedSets,
    affinities: PlacedAffinities,
    labels: LabelColumns,
    claims: ClaimUsers,
    catalog: Catalog,
    changes: Changes,
    /// Grows with each new order.
    order_version: u64,
    taken_at: Now,
}

// === impl Snapshot ===

impl Snapshot {
    /// An empty cluster.
    pub fn empty(taken_at: Now) -> Self {
        Self {
            infos: Vec::new(),
            order: Vec::new(),
            load: Vec::new(),
            load_mode: LoadMode::default(),
            images: ImageNodes::default(),
            placed: PlacedSets::default(),
            affinities: PlacedAffinities::default(),
            labels: LabelColumns::default(),
            claims: ClaimUsers::default(),
            catalog: Catalog::default(),
            changes: Changes::default(),
            order_version: 0,
            taken_at,
        }
    }

    /// A snapshot of `infos` in the order given; the id of each is its index. `load` has one
    /// row per node, or none at all (nothing was ever measured).
    pub fn of(infos: Vec<NodeInfo>, load: Vec<NodeLoad>, taken_at: Now) -> Self {
        let mut snapshot = Self::empty(taken_at);
        for (index, mut info) in infos.into_iter().enumerate() {
            info.id = NodeId(index as u32);
            snapshot.order.push(info.id);
            snapshot.set_node(Arc::new(info));
        }
        for (index, row) in load.into_iter().enumerate() {
            snapshot.set_load(NodeId(index as u32), row);
        }
        snapshot
    }

    /// When the snapshot was taken.
    pub fn taken_at(&self) -> Now {
        self.taken_at
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// One more than the largest index that a node of this snapshot may have: the length of
    /// a per-node array.
    pub fn columns(&self) -> usize {
        self.infos.len()
    }

    /// All nodes, in the order kube-scheduler looks at them (zones in turn).
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// Another number for each order that this snapshot has had.
    pub fn order_version(&self) -> u64 {
        self.order_version
    }

    /// Now, for [`Snapshot::changes_since`].
    pub fn change_mark(&self) -> ChangeMark {
        self.changes.mark()
    }

    /// The nodes that changed, or whose pods did, since `mark`, some of them more than once;
    /// `None` if that is not known: the mark is too old, or of another snapshot.
    pub fn changes_since(&self, mark: &ChangeMark) -> Option<impl Iterator<Item = NodeId>> {
        self.changes.since(mark)
    }

    /// Another number for each state of which nodes have which images.
    pub fn images_version(&self) -> u64 {
        self.images.version()
    }

    /// All nodes with their pods, in that order.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// The node `id`.
    pub fn get(&self, id: NodeId) -> Option<&Arc<NodeInfo>> {
        self.infos.get(id.index())?.as_ref()
    }

    /// The load of the node `id`: an empty row where nothing is known of it.
    pub fn load(&self, id: NodeId) -> NodeLoad {
        self.load.get(id.index()).copied().unwrap_or_default()
    }

    /// The load of the node `id`, not copied; `None` for an id beyond the columns.
    pub fn load_row(&self, id: NodeId) -> Option<&NodeLoad> {
        self.load.get(id.index())
    }

    /// Whether load is to be judged.
    pub fn load_mode(&self) -> LoadMode {
        self.load_mode
    }

    /// The nodes that have the image called `name`, in order of their ids.
    pub fn nodes_with_image(&self, name: &str) -> &[NodeId] {
        self.images.of(name)
    }

    /// The label sets of all pods on nodes, each with its nodes.
    pub fn placed(&self) -> impl Iterator<Item = &PlacedSet> {
        self.placed.all()
    }

    /// The label sets of the pods of a namespace, each with its nodes.
    pub fn placed_in(&self, namespace: &str) -> impl Iterator<Item = &PlacedSet> {
        self.placed.in_namespace(namespace)
    }

    /// Those of them that `selector` matches. One that asks for values of labels costs what
    /// the sets with such labels do, however many others there are.
    pub fn placed_matching(&self, namespace: &str, selector: &LabelSelector) -> Vec<&PlacedSet> {
        self.placed.matching(namespace, selector)
    }

    /// The namespaces that have pods on nodes.
    pub fn placed_namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.placed.namespaces()
    }

    /// Each affinity to pods that pods on nodes have, with how many pods of it each node
    /// has, in order of the nodes' ids; a node without any is not named.
    pub fn affinities(&self) -> impl Iterator<Item = (&PodAffinity, &[(NodeId, u32)])> {
        self.affinities.all()
    }

    /// The values of the label `key` over all nodes. Costs a look at every node the first
    /// time, and a search by key from then on.
    pub fn label_column(&self, key: &str) -> Arc<LabelColumn> {
        self.labels.get(key, &self.infos)
    }

    /// Whether a pod on some node names the persistent volume claim `key`.
    pub fn is_claim_used(&self, key: &ObjectKey) -> bool {
        self.claims.has(key)
    }

    /// The objects besides pods and nodes.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The same, to change (engine only).
    pub fn catalog_mut(&mut self) -> &mut Catalog {
        &mut self.catalog
    }

    /// Sets whether load is to be judged (engine only).
    pub fn set_load_mode(&mut self, mode: LoadMode) {
        self.load_mode = mode;
    }

    /// Puts a node in its place (engine only).
    pub fn set_node(&mut self, info: Arc<NodeInfo>) {
        let index = info.id.index();
        if self.infos.len() <= index {
            self.infos.resize(index + 1, None);
            self.load.resize(index + 1, NodeLoad::default());
        }
        let old = self.infos[index].replace(info);
        self.index(index, old.as_deref());
    }

    /// Brings what is kept by image, label set, affinity, claim and label up to date with the
    /// node at `index`, which was `old`.
    fn index(&mut self, index: usize, old: Option<&NodeInfo>) {
        let new = self.infos[index].as_deref();
        let id = NodeId(index as u32);
        self.changes.note(id);
        self.placed.replace(id, groups(old), groups(new));
        self.affinities.replace(id, pods(old), pods(new));
        self.claims.replace(volume_pods(old), volume_pods(new));
        // Most changes are of a node's pods: the object is the same.
        if let (Some(old), Some(new)) = (old, new)
            && Arc::ptr_eq(&old.node, &new.node)
        {
            return;
        }
        self.labels.replace(index, old, new);
        self.images.replace(id, images(old), images(new));
    }

    /// Takes a node out (engine only).
    pub fn clear_node(&mut self, id: NodeId) {
        if let Some(slot) = self.infos.get_mut(id.index()) {
            let old = slot.take();
            self.index(id.index(), old.as_deref());
        }
        if let Some(row) = self.load.get_mut(id.index()) {
            *row = NodeLoad::default();
        }
    }

    /// Puts a node's load in its place (engine only).
    pub fn set_load(&mut self, id: NodeId, row: NodeLoad) {
        if let Some(slot) = self.load.get_mut(id.index()) {
            *slot = row;
        }
    }

    /// Sets the order of the nodes (engine only).
    pub fn set_order(&mut self, order: Vec<NodeId>) {
        self.order = order;
        self.order_version += 1;
    }

    /// Sets the instant (engine only).
    pub fn set_taken_at(&mut self, taken_at: Now) {
        self.taken_at = taken_at;
    }
}

fn volume_pods(info: Option<&NodeInfo>) -> &[Arc<Pod>] {
    info.map_or(&[], |info| &info.volume_pods)
}

fn images(info: Option<&NodeInfo>) -> &[NodeImage] {
    info.map_or(&[], |info| &info.node.status.images)
}

fn pods(info: Option<&NodeInfo>) -> &[Arc<Pod>] {
    info.map_or(&[], |info| &info.pods)
}

fn groups(info: Option<&NodeInfo>) -> &[PodGroup] {
    info.map_or(&[], |info| info.groups.as_slice())
}
