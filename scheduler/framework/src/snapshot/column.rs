//! The values of one label over all nodes, as small numbers in a row.
//!
//! Made when a plugin first asks for a key (a topology key, mostly), then kept up to date
//! with the snapshot's nodes, so that a cycle reads numbers and never a node's labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::kept::Kept;
use crate::node::{NodeId, NodeInfo};

/// Columns kept: a cluster has a handful of topology keys. At 4 bytes per node and column
/// this many are under 1 MB at 5,000 nodes.
const COLUMNS_MAX: usize = 32;
/// Values that no node has any more may be as many as the nodes, and this many more.
const STALE_VALUES: usize = 64;
/// What stands for a node without the label.
const ABSENT: u32 = u32::MAX;

/// The values of one label key.
#[derive(Debug, Clone, Default)]
pub struct LabelColumn {
    of_node: Vec<u32>,
    values: IndexSet<Arc<str>>,
}

/// The columns that were asked for, by key.
#[derive(Debug, Default)]
pub(super) struct LabelColumns(Kept<BTreeMap<Arc<str>, Arc<LabelColumn>>>);

// === impl LabelColumn ===

impl LabelColumn {
    fn of(key: &str, infos: &[Option<Arc<NodeInfo>>]) -> Self {
        let mut column = Self::default();
        for (index, info) in infos.iter().enumerate() {
            column.set(index, value(key, info.as_deref()));
        }
        column
    }

    /// The number of the node's value; `None` for a node without the label. Numbers mean
    /// something within one column only.
    pub fn get(&self, node: NodeId) -> Option<usize> {
        let value = self.of_node.get(node.index())?;
        (*value != ABSENT).then_some(*value as usize)
    }

    /// The number of a value; `None` if no node has it.
    pub fn number(&self, value: &str) -> Option<usize> {
        self.values.get_index_of(value)
    }

    /// The text of a value.
    pub fn text(&self, number: usize) -> Option<&Arc<str>> {
        self.values.get_index(number)
    }

    /// One more than the largest number: the length of an array by value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no node has the label.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn set(&mut self, index: usize, value: Option<&Arc<str>>) {
        if self.of_node.len() <= index {
            self.of_node.resize(index + 1, ABSENT);
        }
        self.of_node[index] = match value {
            Some(value) => match self.values.get_index_of(value) {
                Some(number) => number as u32,
                None => self.values.insert_full(Arc::clone(value)).0 as u32,
            },
            None => ABSENT,
        };
    }
}

// === impl LabelColumns ===

impl LabelColumns {
    pub(super) fn get(&self, key: &str, infos: &[Option<Arc<NodeInfo>>]) -> Arc<LabelColumn> {
        let mut columns = self.0.lock();
        if let Some(column) = columns.get(key) {
            return Arc::clone(column);
        }
        if columns.len() >= COLUMNS_MAX {
            columns.clear();
        }
        let column = Arc::new(LabelColumn::of(key, infos));
        columns.insert(Arc::from(key), Arc::clone(&column));
        column
    }

    /// The node at `index` was `old` and is `new`.
    pub(super) fn replace(&mut self, index: usize, old: Option<&NodeInfo>, new: Option<&NodeInfo>) {
        let columns = self.0.get_mut();
        columns.retain(|key, column| {
            let now = value(key, new);
            if value(key, old) != now {
                let column = Arc::make_mut(column);
                column.set(index, now);
            }
            column.values.len() <= 2 * column.of_node.len() + STALE_VALUES
        });
    }
}

fn value<'a>(key: &str, info: Option<&'a NodeInfo>) -> Option<&'a Arc<str>> {
    info?.node.meta.labels.get(key)
}

impl Clone for LabelColumns {
    fn clone(&self) -> Self {
        let columns = self.0.lock();
        Self(Kept::new(columns.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::{COLUMNS_MAX, STALE_VALUES};
    use crate::node::{NodeId, NodeInfo};
    use crate::now::Now;
    use crate::snapshot::Snapshot;
    use crate::test_util::{node, snapshot};

    fn texts(snapshot: &Snapshot, key: &str) -> Vec<Option<Arc<str>>> {
        let column = snapshot.label_column(key);
        let ids = (0..snapshot.columns()).map(|index| NodeId(index as u32));
        ids.map(|id| column.text(column.get(id)?).cloned())
            .collect()
    }

    proptest! {
        #[test]
        fn a_column_follows_the_nodes(
            steps in prop::collection::vec((0_u32..5, prop::option::of(0_u8..4)), 0..30),
        ) {
            let mut snapshot = Snapshot::empty(Now::at(std::time::Duration::ZERO));
            for (id, zone) in steps {
                drop(snapshot.label_column("zone"));
                match zone {
                    Some(0) => snapshot.clear_node(NodeId(id)),
                    Some(zone) => {
                        let made = node("n").label("zone", &format!("z{zone}"));
                        snapshot.set_node(NodeInfo::new(NodeId(id), made.arc()).into());
                    }
                    None => snapshot.set_node(NodeInfo::new(NodeId(id), node("n").arc()).into()),
                }
                let ids = (0..snapshot.columns()).map(|index| NodeId(index as u32));
                let wanted = ids.map(|id| {
                    snapshot.get(id)?.node.meta.labels.get("zone").cloned()
                });
                let wanted: Vec<Option<Arc<str>>> = wanted.collect();
                prop_assert_eq!(texts(&snapshot, "zone"), wanted);
            }
        }
    }

    #[test]
    fn a_node_beyond_the_columns_has_no_value() {
        let snapshot = snapshot([node("n1").label("zone", "a")], []);
        let column = snapshot.label_column("zone");
        assert_eq!(
            (column.get(NodeId(0)), column.get(NodeId(1))),
            (Some(0), None)
        );
        assert_eq!(column.get(NodeId::ABSENT), None);
        assert_eq!((column.number("a"), column.number("b")), (Some(0), None));
        assert!(snapshot.label_column("rack").is_empty());
    }

    #[test]
    fn values_and_keys_that_are_gone_are_forgotten() {
        let mut snapshot = snapshot([node("n1").label("zone", "a")], []);
        for number in 0..3 * STALE_VALUES {
            let made = node("n1").label("zone", &format!("z{number}"));
            snapshot.set_node(NodeInfo::new(NodeId(0), made.arc()).into());
            let column = snapshot.label_column("zone");
            assert!(column.len() <= STALE_VALUES + 2, "{}", column.len());
        }
        for number in 0..2 * COLUMNS_MAX {
            drop(snapshot.label_column(&format!("key{number}")));
        }
        let last = format!("z{}", 3 * STALE_VALUES - 1);
        assert_eq!(texts(&snapshot, "zone"), [Some(Arc::from(last))]);
    }
}
