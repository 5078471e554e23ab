//! Nodes come, change and go.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{NodeId, NodeInfo, Now};
use plimsoll_objects::{Node, Uid};

use super::Cache;
use crate::meta::says_same;

impl Cache {
    /// Takes a node; gives what its name stood for before. Pods that waited for it join it.
    pub(crate) fn set_node(&mut self, node: &Arc<Node>, now: Now) -> Option<Arc<Node>> {
        if let Some(id) = self.id_of(node.name()) {
            return self.replace_node(id, node);
        }
        self.insert_node(node, now);
        None
    }

    /// Forgets a node; its pods wait for it aside. Gives the node if it was known.
    pub(crate) fn remove_node(&mut self, name: &str) -> Option<Arc<Node>> {
        let id = self.by_name.swap_remove(name)?;
        let info = self.nodes.get_mut(id.index())?.take()?;
        let uids: Vec<Uid> = info.pods.iter().map(|pod| pod.uid().clone()).collect();
        if !uids.is_empty() {
            self.orphans.insert(Arc::clone(info.name()), uids);
        }
        self.tree.remove(id, &info.node);
        self.order_changed = true;
        self.touch(id);
        self.free.push(id);
        self.load.node_gone(id);
        Some(Arc::clone(&info.node))
    }

    /// Names of all known nodes that `listed` does not name.
    pub(crate) fn nodes_absent_from(&self, listed: &[Arc<Node>]) -> Vec<Arc<str>> {
        let names: BTreeSet<&str> = listed.iter().map(|node| &**node.name()).collect();
        self.by_name
            .keys()
            .filter(|name| !names.contains(&***name))
            .map(Arc::clone)
            .collect()
    }

    /// The index of the node `name`.
    pub(crate) fn id_of(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    fn insert_node(&mut self, node: &Arc<Node>, now: Now) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(None);
            self.is_changed.push(false);
            NodeId((self.nodes.len() - 1) as u32)
        });
        self.nodes[id.index()] = Some(Arc::new(NodeInfo::new(id, Arc::clone(node))));
        self.by_name.insert(Arc::clone(node.name()), id);
        self.tree.insert(id, node);
        self.order_changed = true;
        self.load.node_set(id, node);
        self.node_mut(id);
        for uid in self.orphans.remove(node.name()).unwrap_or_default() {
            if let Some(cached) = self.pods.get(&uid) {
                let pod = Arc::clone(&cached.pod);
                self.add_to_node(id, pod, now);
            }
        }
    }

    fn replace_node(&mut self, id: NodeId, node: &Arc<Node>) -> Option<Arc<Node>> {
        let old = Arc::clone(&self.nodes.get(id.index())?.as_ref()?.node);
        if is_same(&old, node) {
            return Some(old);
        }
        self.order_changed |= self.tree.replace(id, &old, node);
        self.load.node_set(id, node);
        self.node_mut(id)?.node = Arc::clone(node);
        Some(old)
    }
}

/// Whether nothing that the scheduler reads differs: a heartbeat changes the version only.
fn is_same(old: &Node, new: &Node) -> bool {
    old.unschedulable == new.unschedulable
        && old.taints == new.taints
        && old.status == new.status
        && old.link_speed == new.link_speed
        && says_same(&old.meta, &new.meta)
}
