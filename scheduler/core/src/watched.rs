//! What the watch last said of every pod that has not ended: the truth that decisions made
//! earlier are held against.
//!
//! Holds pods with a node and pods of a known scheduler, by namespace and name.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_objects::{ObjectKey, Pod, Uid};

#[derive(Debug, Default)]
pub(crate) struct Watched {
    pods: IndexMap<ObjectKey, Arc<Pod>>,
}

impl Watched {
    /// Remembers `pod`; gives what was known of it.
    pub(crate) fn set(&mut self, pod: &Arc<Pod>) -> Option<Arc<Pod>> {
        self.pods.insert(pod.key().clone(), Arc::clone(pod))
    }

    /// Forgets the life `uid` of `key`; a later life of the same name stays.
    pub(crate) fn remove(&mut self, key: &ObjectKey, uid: &Uid) -> Option<Arc<Pod>> {
        self.life(key, uid)?;
        self.pods.swap_remove(key)
    }

    /// Forgets, and gives, another life of the name of `pod`.
    pub(crate) fn earlier_life(&mut self, pod: &Pod) -> Option<Arc<Pod>> {
        let known = self.pods.get(pod.key())?;
        if known.uid() == pod.uid() {
            None
        } else {
            self.pods.swap_remove(pod.key())
        }
    }

    /// The pod `key`, if it still is the life `uid`.
    pub(crate) fn life(&self, key: &ObjectKey, uid: &Uid) -> Option<&Arc<Pod>> {
        self.pods.get(key).filter(|pod| pod.uid() == uid)
    }

    /// All pods that `listed` does not name: they went away unseen.
    pub(crate) fn absent_from(&self, listed: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
        let uids: BTreeSet<&Uid> = listed.iter().map(|pod| pod.uid()).collect();
        self.pods
            .values()
            .filter(|pod| !uids.contains(pod.uid()))
            .map(Arc::clone)
            .collect()
    }
}
