//! Nodes: set, gone, listed anew.

use std::sync::Arc;

use plimsoll_framework::Actions;
use plimsoll_objects::Node;

use crate::engine::Engine;
use crate::queue::Happening;

impl Engine {
    /// A whole list: what it does not name is gone, the rest is set. The cache changes in
    /// one step and is never empty in between.
    pub(super) fn nodes_listed(&mut self, nodes: &[Arc<Node>]) {
        self.counters.relists += u64::from(self.nodes_listed);
        self.nodes_listed = true;
        for name in self.cache.nodes_absent_from(nodes) {
            self.node_gone(&name);
        }
        for node in nodes {
            self.node_set(node);
        }
    }

    pub(super) fn node_set(&mut self, node: &Arc<Node>) {
        let Some(old) = self.cache.set_node(node, self.now) else {
            return self.announce(&Happening::node(Actions::ADD, None, Some(node)));
        };
        for actions in node_actions(&old, node) {
            self.announce(&Happening::node(actions, Some(&old), Some(node)));
        }
    }

    pub(super) fn node_gone(&mut self, name: &str) {
        let Some(old) = self.cache.remove_node(name) else {
            return;
        };
        self.binding_node_gone(name);
        self.announce(&Happening::node(Actions::DELETE, Some(&old), None));
    }
}

/// The properties of a node that scheduling reads and that differ: a heartbeat has none
/// (kube-scheduler `framework.NodeSchedulingPropertiesChange`).
fn node_actions(old: &Node, new: &Node) -> impl Iterator<Item = Actions> {
    let taints = old.taints != new.taints || old.unschedulable != new.unschedulable;
    let found = [
        (
            old.status.allocatable != new.status.allocatable,
            Actions::UPDATE_NODE_ALLOCATABLE,
        ),
        (
            old.meta.labels != new.meta.labels,
            Actions::UPDATE_NODE_LABEL,
        ),
        (taints, Actions::UPDATE_NODE_TAINT),
        (
            old.meta.annotations != new.meta.annotations,
            Actions::UPDATE_NODE_ANNOTATION,
        ),
    ];
    found
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, action)| action)
}
