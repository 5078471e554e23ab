//! What the API server has of a nomination before the watch shows it.
//!
//! Between the answer to a patch and its event the watch is behind: a nomination that is to
//! be cleared then would be taken for none, and stay for good.

use std::sync::Arc;

use plimsoll_objects::{Pod, Uid};

use super::{Nomination, StatusLane};

impl StatusLane {
    /// The nomination of `pod` that the API server has, as far as is known.
    pub(crate) fn stored_nomination<'s>(&'s self, pod: &'s Pod) -> Option<&'s Arc<str>> {
        let written = self.nominations.get(pod.uid());
        let seen = pod.status.nominated_node.as_ref();
        written.map_or(seen, Option::as_ref)
    }

    /// The watch shows this nomination: if it is the one that was written, it has caught up.
    pub(crate) fn saw(&mut self, uid: &Uid, nominated: Option<&Arc<str>>) {
        let written = self.nominations.get(uid);
        if written.is_some_and(|written| written.as_ref() == nominated) {
            self.nominations.remove(uid);
        }
    }

    /// The pod is gone, or has a node: the API server clears what it was promised, and will
    /// clear what is being written.
    pub(crate) fn saw_none(&mut self, uid: &Uid) {
        self.nominations.remove(uid);
        let entry = self.pods.get_mut(uid);
        if let Some((_, _, patch)) = entry.and_then(|entry| entry.asked.as_mut()) {
            patch.nomination = Nomination::Keep;
        }
    }

    /// A whole list shows all pods as they are.
    pub(crate) fn saw_all(&mut self) {
        self.nominations.clear();
    }

    /// Nominations that the watch has not shown yet.
    pub(crate) fn nominations(&self) -> usize {
        self.nominations.len()
    }
}
