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
    let uncordoned = old.unschedulable && !new.unschedulable;
    let taints = old.taints != new.taints || uncordoned;
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
        (
            old.status.declared_features != new.status.declared_features,
            Actions::UPDATE_NODE_DECLARED_FEATURE,
        ),
    ];
    found
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, action)| action)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_framework::Actions;
    use plimsoll_framework::test_util::node;
    use plimsoll_objects::{Node, TaintEffect};

    use super::node_actions;

    fn told(new: &Node) -> Vec<Actions> {
        node_actions(&node("n1").build(), new).collect()
    }

    #[test]
    fn each_property_that_scheduling_reads_is_told_by_itself() {
        let mut declaring = node("n1").build();
        declaring.status.declared_features = Box::from([Arc::from("VolumeBindMountOptions")]);
        let tainted = node("n1").taint("a", "", TaintEffect::NoExecute);
        let annotated = node("n1").annotation("plimsoll.dev/a", "b");
        let cases = [
            (
                node("n1").cpu("5").build(),
                Actions::UPDATE_NODE_ALLOCATABLE,
            ),
            (
                node("n1").label("a", "b").build(),
                Actions::UPDATE_NODE_LABEL,
            ),
            (tainted.build(), Actions::UPDATE_NODE_TAINT),
            (annotated.build(), Actions::UPDATE_NODE_ANNOTATION),
            (declaring, Actions::UPDATE_NODE_DECLARED_FEATURE),
        ];
        for (new, action) in cases {
            assert_eq!(told(&new), [action], "{new:?}");
        }
        assert!(told(&node("n1").image("app:1", 1).build()).is_empty());
    }

    #[test]
    fn a_node_that_is_cordoned_helps_nobody() {
        let (open, cordoned) = (node("n1").build(), node("n1").unschedulable().build());
        let told = |old, new| node_actions(old, new).collect::<Vec<_>>();
        assert!(told(&open, &cordoned).is_empty());
        assert_eq!(told(&cordoned, &open), [Actions::UPDATE_NODE_TAINT]);
    }
}
