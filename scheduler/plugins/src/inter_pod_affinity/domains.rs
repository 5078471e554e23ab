//! Figures by topology pair: one row of sums per label key, one sum per value of the key.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::snapshot::LabelColumn;
use plimsoll_framework::{NodeId, Snapshot};

/// Sums by label key and value.
#[derive(Debug, Clone, Default)]
pub(super) struct Domains {
    rows: Vec<Row>,
    by_key: BTreeMap<Arc<str>, usize>,
}

#[derive(Debug, Clone)]
struct Row {
    column: Arc<LabelColumn>,
    sums: Vec<i64>,
}

// === impl Domains ===

impl Domains {
    /// The row of `key`, all zero if it is new.
    pub(super) fn row(&mut self, key: &Arc<str>, snapshot: &Snapshot) -> usize {
        if let Some(row) = self.find(key) {
            return row;
        }
        let column = snapshot.label_column(key);
        let sums = vec![0; column.len()];
        self.rows.push(Row { column, sums });
        let row = self.rows.len() - 1;
        self.by_key.insert(Arc::clone(key), row);
        row
    }

    /// The row of `key`, if there is one.
    pub(super) fn find(&self, key: &str) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Which sum of a row counts for the node; `None` if it lacks the label.
    pub(super) fn value(&self, row: usize, node: NodeId) -> Option<usize> {
        self.rows[row].column.get(node)
    }

    /// A sum, by its row and its place there.
    pub(super) fn at(&self, row: usize, value: usize) -> i64 {
        self.rows[row].sums.get(value).copied().unwrap_or(0)
    }

    /// Adds `weight` for each pod, where its node has the label; whether one had.
    pub(super) fn add(
        &mut self,
        row: usize,
        pods: impl Iterator<Item = (NodeId, u32)>,
        weight: i64,
    ) -> bool {
        let Row { column, sums } = &mut self.rows[row];
        let mut counted = false;
        for (node, pods) in pods {
            if let Some(sum) = column.get(node).and_then(|value| sums.get_mut(value)) {
                *sum = sum.wrapping_add(weight.wrapping_mul(i64::from(pods)));
                counted = true;
            }
        }
        counted
    }

    /// How many sums are not 0.
    pub(super) fn nonzero(&self) -> usize {
        let sums = self.rows.iter().flat_map(|row| &row.sums);
        sums.filter(|sum| **sum != 0).count()
    }
}
