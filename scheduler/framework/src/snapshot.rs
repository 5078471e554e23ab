//! The cluster at the start of a cycle: nodes, load, instant.
//!
//! Made by the engine, changed only between cycles and only where something changed;
//! equal to one made anew (a property that the engine's tests hold).

use std::sync::Arc;

use plimsoll_objects::NodeImage;

use crate::images::ImageNodes;
use crate::load::{LoadMode, NodeLoad};
use crate::node::{NodeId, NodeInfo};
use crate::now::Now;

/// What every hook of a cycle sees.
#[derive(Debug, Clone)]
pub struct Snapshot {
    infos: Vec<Option<Arc<NodeInfo>>>,
    order: Vec<NodeId>,
    load: Vec<NodeLoad>,
    load_mode: LoadMode,
    images: ImageNodes,
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
        self.index_images(index, old.as_deref());
    }

    /// Brings the nodes by image up to date with the node at `index`, which was `old`.
    fn index_images(&mut self, index: usize, old: Option<&NodeInfo>) {
        let new = self.infos[index].as_deref();
        // Most changes are of a node's pods: the object is the same.
        if let (Some(old), Some(new)) = (old, new)
            && Arc::ptr_eq(&old.node, &new.node)
        {
            return;
        }
        let id = NodeId(index as u32);
        self.images.replace(id, images(old), images(new));
    }

    /// Takes a node out (engine only).
    pub fn clear_node(&mut self, id: NodeId) {
        if let Some(slot) = self.infos.get_mut(id.index()) {
            let old = slot.take();
            self.index_images(id.index(), old.as_deref());
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
    }

    /// Sets the instant (engine only).
    pub fn set_taken_at(&mut self, taken_at: Now) {
        self.taken_at = taken_at;
    }
}

fn images(info: Option<&NodeInfo>) -> &[NodeImage] {
    info.map_or(&[], |info| &info.node.status.images)
}

#[cfg(test)]
mod tests {
    use super::Snapshot;
    use crate::load::NodeLoad;
    use crate::node::{NodeId, NodeInfo};
    use crate::now::Now;
    use crate::test_util::{cluster, load, node, pod, snapshot};

    fn names(snapshot: &Snapshot) -> Vec<String> {
        snapshot
            .nodes()
            .map(|info| info.name().to_string())
            .collect()
    }

    #[test]
    fn nodes_have_their_index_for_an_id() {
        let snapshot = snapshot([node("n1"), node("n2")], [pod("a").cpu("1").on("n2")]);
        assert_eq!(names(&snapshot), ["n1", "n2"]);
        assert_eq!(snapshot.order(), [NodeId(0), NodeId(1)]);
        let second = snapshot.get(NodeId(1)).expect("it is there");
        assert_eq!((second.id, second.requested.cpu), (NodeId(1), 1000));
        assert!(snapshot.get(NodeId(2)).is_none());
    }

    #[test]
    fn a_node_that_was_never_measured_has_an_empty_row_not_zero() {
        let snapshot = cluster([node("n1"), node("n2")])
            .load([load("n1").cpu("1")])
            .snapshot();
        assert_eq!(snapshot.load(NodeId(0)).cpu.used, Some(1000.0));
        assert_eq!(snapshot.load(NodeId(1)), NodeLoad::default());
        assert_eq!(snapshot.load(NodeId(7)).cpu.used, None);
        assert_eq!(
            snapshot.load_row(NodeId(0)),
            Some(&snapshot.load(NodeId(0)))
        );
        assert_eq!(snapshot.load_row(NodeId(7)), None);
    }

    #[test]
    fn a_node_that_is_taken_out_leaves_its_slot_and_no_load() {
        let mut snapshot = cluster([node("n1"), node("n2")])
            .load([load("n1").cpu("1")])
            .snapshot();
        snapshot.clear_node(NodeId(0));
        snapshot.set_order(vec![NodeId(1)]);
        assert_eq!(names(&snapshot), ["n2"]);
        assert_eq!((snapshot.len(), snapshot.columns()), (1, 2));
        assert_eq!(snapshot.load(NodeId(0)), NodeLoad::default());
    }

    #[test]
    fn images_are_known_of_the_nodes_that_are_there() {
        let mut snapshot = snapshot(
            [
                node("n1").image("a:1", 5),
                node("n2").image("a:1", 5).image("b:1", 6),
            ],
            [],
        );
        assert_eq!(snapshot.nodes_with_image("a:1"), [NodeId(0), NodeId(1)]);
        let without = NodeInfo::new(NodeId(1), node("n2").image("b:1", 6).arc());
        snapshot.set_node(without.into());
        assert_eq!(snapshot.nodes_with_image("a:1"), [NodeId(0)]);
        assert_eq!(snapshot.nodes_with_image("b:1"), [NodeId(1)]);
        snapshot.clear_node(NodeId(1));
        assert!(snapshot.nodes_with_image("b:1").is_empty());
    }

    #[test]
    fn columns_grow_with_the_largest_id() {
        let now = Now::at(std::time::Duration::ZERO);
        let mut snapshot = Snapshot::empty(now);
        assert!(snapshot.is_empty());
        snapshot.set_node(NodeInfo::new(NodeId(3), node("n4").arc()).into());
        snapshot.set_order(vec![NodeId(3), NodeId(9)]);
        assert_eq!(snapshot.columns(), 4);
        assert_eq!(names(&snapshot), ["n4"]);
    }
}
