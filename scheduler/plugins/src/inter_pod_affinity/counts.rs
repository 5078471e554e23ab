//! Numbers of pods by topology pair, and what a dry run changes of them.
//!
//! The numbers are shared by all clones; a clone has changes of its own, a few.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{NodeId, Snapshot};

use super::domains::Domains;

/// Numbers of pods by label key and value.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    base: Arc<Domains>,
    /// By row and value.
    changes: BTreeMap<(usize, usize), i64>,
    nonzero: usize,
}

// === impl Counts ===

impl Counts {
    /// Numbers before any change.
    pub(super) fn new(base: Domains) -> Self {
        Self {
            nonzero: base.nonzero(),
            base: Arc::new(base),
            changes: BTreeMap::new(),
        }
    }

    /// Whether no pair has a pod.
    pub(super) fn is_empty(&self) -> bool {
        self.nonzero == 0
    }

    /// For each key: the number at the node's value, `None` if the node lacks the label.
    pub(super) fn at(&self, node: NodeId) -> impl Iterator<Item = Option<i64>> {
        let rows = 0..self.base.rows();
        rows.map(move |row| Some(self.get(row, self.base.value(row, node)?)))
    }

    fn get(&self, row: usize, value: usize) -> i64 {
        let base = self.base.at(row, value);
        if self.changes.is_empty() {
            return base;
        }
        base + self.changes.get(&(row, value)).copied().unwrap_or(0)
    }

    /// `by` more pods on the node count for `key`.
    pub(super) fn change(&mut self, key: &Arc<str>, node: NodeId, by: i64, snapshot: &Snapshot) {
        let row = match self.base.find(key) {
            Some(row) => row,
            None => Arc::make_mut(&mut self.base).row(key, snapshot),
        };
        let Some(value) = self.base.value(row, node) else {
            return;
        };
        let before = self.get(row, value);
        *self.changes.entry((row, value)).or_default() += by;
        match (before, before + by) {
            (0, 0) => {}
            (0, _) => self.nonzero += 1,
            (_, 0) => self.nonzero -= 1,
            _ => {}
        }
    }
}
