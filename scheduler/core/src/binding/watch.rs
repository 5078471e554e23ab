//! What the watch says of pods that are being bound, and of their nodes.

use std::sync::Arc;

use plimsoll_objects::Uid;

use super::Fate;
use crate::engine::Engine;

impl Engine {
    /// The pod is gone, has ended or is being deleted. While a question is open the answer
    /// is waited for, so that the same pod is never asked about twice at once.
    pub(crate) fn binding_pod_gone(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        if binding.is_asked() {
            binding.fate = Fate::Gone;
        } else {
            self.pod_went_away(uid);
        }
    }

    /// The pod, which was thought to be gone, is there after all and has no node.
    pub(crate) fn binding_pod_back(&mut self, uid: &Uid) {
        if let Some(binding) = self.bindings.get_mut(uid)
            && binding.fate == Fate::Gone
        {
            binding.fate = Fate::Open;
        }
    }

    /// The pod has a node.
    pub(crate) fn binding_confirmed(&mut self, uid: &Uid, node: &Arc<str>) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        if binding.is_asked() {
            binding.fate = Fate::Bound(Arc::clone(node));
        } else {
            self.watch_showed_node(uid, node);
        }
    }

    /// The node is gone: pods that may not be bound to it yet are taken back.
    pub(crate) fn binding_node_gone(&mut self, node: &str) {
        for uid in self.bindings.unasked_on(node) {
            self.node_is_gone(&uid, node);
        }
    }

    pub(super) fn node_is_gone(&mut self, uid: &Uid, node: &str) {
        self.counters.binds.node_gone += 1;
        self.give_up(
            uid,
            format!("node \"{node}\" was deleted before the pod was bound"),
        );
    }

    pub(super) fn watch_showed_node(&mut self, uid: &Uid, node: &Arc<str>) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        if binding.reserved.node() == *node {
            self.bound(uid);
        } else {
            self.bound_elsewhere(uid);
        }
    }
}
