//! Pods take a node, are confirmed on it, leave it.

use std::sync::Arc;

use plimsoll_framework::{NodeId, Now};
use plimsoll_objects::{Pod, Uid};

use super::Cache;

/// A pod that has a node, by our decision or by the watch.
#[derive(Debug)]
pub(super) struct CachedPod {
    /// With `spec.nodeName` set.
    pub(super) pod: Arc<Pod>,
    pub(super) assumed: bool,
}

/// What a confirmed pod was before.
#[derive(Debug)]
pub(crate) enum Confirmed {
    /// Not known.
    New,
    /// Assumed on this node.
    Assumed,
    /// Assumed, or confirmed, on another node.
    Moved { old: Arc<Pod> },
    /// Confirmed on this node.
    Known { old: Arc<Pod> },
}

impl Cache {
    /// Takes the decision that `pod` goes to `node`; gives the pod as it will be there.
    pub(crate) fn assume(&mut self, pod: &Pod, node: &Arc<str>, now: Now) -> Arc<Pod> {
        let mut placed = pod.clone();
        placed.spec.node_name = Some(Arc::clone(node));
        let placed = Arc::new(placed);
        self.remove_pod(pod.uid(), now);
        self.insert_pod(&placed, true, now);
        placed
    }

    /// Takes a decision back. A pod that the watch has confirmed meanwhile stays.
    pub(crate) fn forget(&mut self, uid: &Uid, now: Now) -> Option<Arc<Pod>> {
        if self.is_assumed(uid) {
            self.remove_pod(uid, now)
        } else {
            None
        }
    }

    /// Takes what the watch says of a pod with a node, new or changed.
    pub(crate) fn confirm(&mut self, pod: &Arc<Pod>, now: Now) -> Confirmed {
        let Some(cached) = self.pods.get(pod.uid()) else {
            self.insert_pod(pod, false, now);
            return Confirmed::New;
        };
        let (old, assumed) = (Arc::clone(&cached.pod), cached.assumed);
        self.exchange(&old, pod, now);
        if old.spec.node_name != pod.spec.node_name {
            Confirmed::Moved { old }
        } else if assumed {
            Confirmed::Assumed
        } else {
            Confirmed::Known { old }
        }
    }

    /// Forgets a pod: it is gone or has ended.
    pub(crate) fn remove_pod(&mut self, uid: &Uid, now: Now) -> Option<Arc<Pod>> {
        let cached = self.pods.swap_remove(uid)?;
        self.assumed -= usize::from(cached.assumed);
        self.take_from_node(&cached.pod, now);
        Some(cached.pod)
    }

    /// Whether the pod has a node here, assumed or confirmed.
    pub(crate) fn contains_pod(&self, uid: &Uid) -> bool {
        self.pods.contains_key(uid)
    }

    /// Whether the pod has a node that the watch has not shown.
    pub(crate) fn is_assumed(&self, uid: &Uid) -> bool {
        self.pods.get(uid).is_some_and(|cached| cached.assumed)
    }

    pub(super) fn add_to_node(&mut self, id: NodeId, pod: Arc<Pod>, now: Now) {
        self.load.pod_set(id, &pod, now);
        if let Some(info) = self.node_mut(id) {
            info.add_pod(pod);
        }
    }

    fn insert_pod(&mut self, pod: &Arc<Pod>, assumed: bool, now: Now) {
        self.assumed += usize::from(assumed);
        self.pods.insert(
            pod.uid().clone(),
            CachedPod {
                pod: Arc::clone(pod),
                assumed,
            },
        );
        self.join_node(pod, now);
    }

    fn exchange(&mut self, old: &Arc<Pod>, new: &Arc<Pod>, now: Now) {
        let same_node = old.spec.node_name == new.spec.node_name;
        if let Some(cached) = self.pods.get_mut(new.uid()) {
            self.assumed -= usize::from(cached.assumed);
            *cached = CachedPod {
                pod: Arc::clone(new),
                assumed: false,
            };
        }
        let name = new.spec.node_name.as_deref().unwrap_or_default();
        let Some(id) = self.id_of(name).filter(|_| same_node) else {
            self.take_from_node(old, now);
            self.join_node(new, now);
            return;
        };
        if let Some(info) = self.node_mut(id) {
            info.remove_pod(old.uid());
        }
        // The load model keeps what it has learned of a pod that stays.
        self.add_to_node(id, Arc::clone(new), now);
    }

    fn join_node(&mut self, pod: &Arc<Pod>, now: Now) {
        let Some(name) = &pod.spec.node_name else {
            return;
        };
        match self.id_of(name) {
            Some(id) => self.add_to_node(id, Arc::clone(pod), now),
            None => self
                .orphans
                .entry(Arc::clone(name))
                .or_default()
                .push(pod.uid().clone()),
        }
    }

    fn take_from_node(&mut self, pod: &Pod, now: Now) {
        let Some(name) = &pod.spec.node_name else {
            return;
        };
        if let Some(id) = self.id_of(name) {
            self.load.pod_removed(id, pod.uid(), now);
            if let Some(info) = self.node_mut(id) {
                info.remove_pod(pod.uid());
            }
            return;
        }
        if let Some(uids) = self.orphans.get_mut(name) {
            uids.retain(|uid| uid != pod.uid());
            if uids.is_empty() {
                self.orphans.remove(name);
            }
        }
    }
}
