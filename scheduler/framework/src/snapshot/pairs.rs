//! Which label sets have a label with a value, within a namespace.
//!
//! Takes sets as they come and go, gives for a selector the few that it can match, so that
//! it is not asked of thousands of sets that it is not about (each pod of a stateful set
//! has labels of its own).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::LabelSelector;

use crate::node::LabelSet;

/// Numbers of sets, in order, by key and value of each of their labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs(BTreeMap<Arc<str>, BTreeMap<Arc<str>, Vec<u32>>>);

// === impl Pairs ===

impl Pairs {
    /// A set that was not there.
    pub(super) fn insert(&mut self, set: &LabelSet) {
        for (key, value) in set.labels() {
            let values = self.0.entry(Arc::clone(key)).or_default();
            let ids = values.entry(Arc::clone(value)).or_default();
            if let Err(index) = ids.binary_search(&set.id()) {
                ids.insert(index, set.id());
            }
        }
    }

    /// A set that was there.
    pub(super) fn remove(&mut self, set: &LabelSet) {
        for (key, value) in set.labels() {
            let Some(values) = self.0.get_mut(key) else {
                continue;
            };
            let Some(ids) = values.get_mut(value) else {
                continue;
            };
            if let Ok(index) = ids.binary_search(&set.id()) {
                ids.remove(index);
            }
            if ids.is_empty() {
                values.remove(value);
            }
            if values.is_empty() {
                self.0.remove(key);
            }
        }
    }

    /// The sets that `selector` may match, each once; `None` if it names no value of any
    /// label, so that it may match all.
    pub(super) fn candidates(&self, selector: &LabelSelector) -> Option<Vec<u32>> {
        let named = selector.one_of();
        let fewest = named
            .map(|(key, values)| self.with(key, values))
            .min_by_key(|lists| {
                let lengths = lists.iter().map(|ids| ids.len());
                lengths.sum::<usize>()
            })?;
        let mut ids = fewest.concat();
        // A value that is named twice has given its sets twice.
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }

    fn with(&self, key: &str, values: &[Arc<str>]) -> Vec<&[u32]> {
        let Some(by_value) = self.0.get(key) else {
            return Vec::new();
        };
        let values = values.iter();
        values
            .filter_map(|value| by_value.get(value).map(Vec::as_slice))
            .collect()
    }
}
