//! Pods that were promised a node and wait for its room (kube-scheduler
//! `backend/queue/nominator.go`).
//!
//! Takes nominations from `status.nominatedNodeName` and from `PostFilter`; gives, per
//! cycle, the nominated pods that a pod of lower or equal priority must leave room for.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::NodeId;
use plimsoll_objects::{Pod, Uid};

/// Nominated pods by node, as one cycle counts them.
pub(crate) type NominatedByNode = BTreeMap<NodeId, Vec<Arc<Pod>>>;

#[derive(Debug, Default)]
pub(crate) struct Nominator {
    by_node: BTreeMap<Arc<str>, Vec<Arc<Pod>>>,
    node_of: BTreeMap<Uid, Arc<str>>,
}

impl Nominator {
    /// Promises `node` to `pod`, in place of an earlier promise.
    pub(crate) fn nominate(&mut self, pod: &Arc<Pod>, node: &Arc<str>) {
        self.remove(pod.uid());
        self.node_of.insert(pod.uid().clone(), Arc::clone(node));
        self.by_node
            .entry(Arc::clone(node))
            .or_default()
            .push(Arc::clone(pod));
    }

    /// Takes the promise back; gives the pod and its node if there was one.
    pub(crate) fn remove(&mut self, uid: &Uid) -> Option<(Arc<Pod>, Arc<str>)> {
        let node = self.node_of.remove(uid)?;
        let pods = self.by_node.get_mut(&node)?;
        let index = pods.iter().position(|pod| pod.uid() == uid)?;
        let pod = pods.remove(index);
        if pods.is_empty() {
            self.by_node.remove(&node);
        }
        Some((pod, node))
    }

    /// Follows an update of a pod that waits. An update that names no node, before or
    /// after, leaves a promise alone that the API server does not know of yet.
    pub(crate) fn follow(&mut self, old: Option<&Pod>, new: &Arc<Pod>) {
        let before = old.and_then(|pod| pod.status.nominated_node.as_ref());
        let kept = self.node_of.get(new.uid()).cloned();
        match (&new.status.nominated_node, before, kept) {
            (Some(node), _, _) => self.nominate(new, node),
            (None, None, Some(node)) => self.nominate(new, &node),
            (None, Some(_), _) => drop(self.remove(new.uid())),
            (None, None, None) => {}
        }
    }

    /// All promises, by node.
    pub(crate) fn all(&self) -> BTreeMap<Arc<str>, Vec<Arc<Pod>>> {
        self.by_node.clone()
    }

    /// The node that `uid` was promised.
    pub(crate) fn node_of(&self, uid: &Uid) -> Option<&Arc<str>> {
        self.node_of.get(uid)
    }

    /// The pods of a priority below `priority` that were promised `node`.
    pub(crate) fn below(&self, node: &str, priority: i32) -> Vec<Arc<Pod>> {
        let promised = self.by_node.get(node).into_iter().flatten();
        let lower = promised.filter(|pod| pod.spec.priority < priority);
        lower.map(Arc::clone).collect()
    }

    /// The pods that `pod` must leave room for: another uid, priority at least as high.
    /// Nodes that `id_of` does not know are left out.
    pub(crate) fn counted_for(
        &self,
        pod: &Pod,
        id_of: impl Fn(&str) -> Option<NodeId>,
    ) -> NominatedByNode {
        let mut counted = NominatedByNode::new();
        for (node, pods) in &self.by_node {
            let rivals = pods.iter().filter(|other| {
                other.uid() != pod.uid() && other.spec.priority >= pod.spec.priority
            });
            let rivals: Vec<_> = rivals.map(Arc::clone).collect();
            if let Some(id) = id_of(node).filter(|_| !rivals.is_empty()) {
                counted.insert(id, rivals);
            }
        }
        counted
    }
}
