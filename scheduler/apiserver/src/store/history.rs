//! The latest changes of one resource, oldest first and bounded.
//!
//! Watches read it from their own place on, and lists undo it to show an older state; both are refused
//! once what they need has been dropped.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use super::Object;

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    /// The version after the change; of a deleted object, its last state at the deletion's revision.
    pub(crate) object: Arc<Object>,
    /// The version before, absent where the change made the object.
    pub(crate) previous: Option<Arc<Object>>,
    pub(crate) deleted: bool,
    left: OnceLock<Option<Arc<Object>>>,
}

impl Change {
    pub(crate) const fn new(
        object: Arc<Object>,
        previous: Option<Arc<Object>>,
        deleted: bool,
    ) -> Self {
        Self {
            object,
            previous,
            deleted,
            left: OnceLock::new(),
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.object.resource_version()
    }

    /// Gives the previous state at this change's revision: what a watch is told when the object stops
    /// matching. It is made once for all watches.
    pub(crate) fn left(&self) -> Option<&Arc<Object>> {
        self.left
            .get_or_init(|| Some(self.previous.as_ref()?.at_revision(self.revision())))
            .as_ref()
    }
}

/// What was asked for is no longer kept; the oldest revision that still is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooOld {
    pub(crate) oldest: u64,
}

/// A bounded list of changes in the order of their revisions.
#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Arc<Change>>,
    capacity: usize,
    /// The revision of the newest change that was dropped, 0 before the first.
    dropped: u64,
}

impl History {
    pub(crate) const fn new(capacity: usize) -> Self {
        Self {
            changes: VecDeque::new(),
            capacity,
            dropped: 0,
        }
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.changes.push_back(Arc::new(change));
        if self.changes.len() > self.capacity
            && let Some(oldest) = self.changes.pop_front()
        {
            self.dropped = oldest.revision();
        }
    }

    /// Gives the changes after a revision, oldest first.
    pub(crate) fn since(
        &self,
        revision: u64,
    ) -> Result<impl Iterator<Item = &Arc<Change>>, TooOld> {
        if revision < self.dropped {
            return Err(TooOld {
                oldest: self.dropped,
            });
        }
        let first = self.changes.partition_point(|it| it.revision() <= revision);
        Ok(self.changes.range(first..))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::Resource;

    fn history(capacity: usize, revisions: &[u64]) -> History {
        let mut history = History::new(capacity);
        for revision in revisions {
            let pods = Resource::named("pods").unwrap();
            let object = Object::new(pods, json!({"metadata": {"name": "a"}}), *revision);
            history.push(Change::new(Arc::new(object), None, false));
        }
        history
    }

    fn revisions(history: &History, since: u64) -> Result<Vec<u64>, TooOld> {
        Ok(history.since(since)?.map(|it| it.revision()).collect())
    }

    #[test]
    fn changes_come_from_any_kept_revision_on() {
        let history = history(3, &[2, 4, 6]);
        assert_eq!(revisions(&history, 0), Ok(vec![2, 4, 6]));
        assert_eq!(revisions(&history, 3), Ok(vec![4, 6]));
        assert_eq!(revisions(&history, 4), Ok(vec![6]));
        assert_eq!(revisions(&history, 99), Ok(vec![]));
    }

    #[test]
    fn a_revision_before_the_newest_dropped_change_is_too_old() {
        let history = history(2, &[2, 4, 6, 8]);
        assert_eq!(revisions(&history, 4), Ok(vec![6, 8]));
        assert_eq!(revisions(&history, 3), Err(TooOld { oldest: 4 }));
    }

    #[test]
    fn an_object_that_leaves_is_told_in_its_old_state_at_the_new_revision() {
        let pods = Resource::named("pods").unwrap();
        let version = |phase: &str, at| {
            let value = json!({"metadata": {"name": "a"}, "status": {"phase": phase}});
            Arc::new(Object::new(pods, value, at))
        };
        let change = Change::new(version("Running", 9), Some(version("Pending", 4)), false);
        let left = change.left().unwrap().value();
        assert_eq!(left["status"]["phase"], "Pending");
        assert_eq!(left["metadata"]["resourceVersion"], "9");
    }
}
