//! One resource's current objects, its latest changes, and the signal that there are new ones.

use std::sync::Arc;

use tokio::sync::watch;

use super::{
    Object,
    history::{Change, History},
    index::{Index, Key},
};

/// The objects of one resource.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) index: Index,
    pub(crate) history: History,
    tip: watch::Sender<u64>,
}

impl Collection {
    pub(crate) fn new(history: usize) -> Self {
        Self {
            index: Index::default(),
            history: History::new(history),
            tip: watch::Sender::new(0),
        }
    }

    /// Gives a receiver that is told the revision of the newest change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.tip.subscribe()
    }

    /// Puts a new version in place.
    pub(crate) fn put(&mut self, object: &Arc<Object>) {
        let previous = self.index.insert(Arc::clone(object));
        self.record(Change::new(Arc::clone(object), previous, false));
    }

    /// Removes an object at a revision, and gives its last state.
    pub(crate) fn remove(&mut self, key: Key<'_>, revision: u64) -> Option<Arc<Object>> {
        let previous = self.index.remove(key)?;
        let last = previous.at_revision(revision);
        self.record(Change::new(Arc::clone(&last), Some(previous), true));
        Some(last)
    }

    fn record(&mut self, change: Change) {
        let revision = change.revision();
        self.history.push(change);
        self.tip.send_replace(revision);
    }
}
