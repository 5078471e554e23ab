//! A list in order of preference, searched by a node's labels.
//!
//! Takes of each item the labels of which every node that suits has one; gives the first item
//! that suits a node, looking only at those with one of its labels. Thousands of local
//! volumes, each for one node, cost a node a look at its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::meta::Labels;
use plimsoll_objects::volume::LabelPin;

/// Positions in a list, by label.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    by_key: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Vec<usize>>>,
    /// Items of which nothing is known.
    any: Vec<usize>,
}

// === impl Pinned ===

impl Pinned {
    /// The positions of `items`; `None` for one of which nothing is known.
    pub(super) fn new<'a>(items: impl Iterator<Item = Option<&'a [LabelPin]>>) -> Self {
        let mut pinned = Self::default();
        for (position, pins) in items.enumerate() {
            match pins {
                Some(pins) => pinned.pin(position, pins),
                None => pinned.any.push(position),
            }
        }
        pinned
    }

    fn pin(&mut self, position: usize, pins: &[LabelPin]) {
        for pin in pins {
            let by_value = self.by_key.entry(Arc::clone(&pin.key)).or_default();
            for value in &pin.values {
                let positions = by_value.entry(Arc::clone(value)).or_default();
                if positions.last() != Some(&position) {
                    positions.push(position);
                }
            }
        }
    }

    /// The first position that `suits` a node with `labels`.
    pub(super) fn first(&self, labels: &Labels, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let own = self
            .by_key
            .iter()
            .filter_map(|(key, by_value)| by_value.get(labels.get(key)?));
        let mut best: Option<usize> = None;
        for positions in own.chain([&self.any]) {
            let better = |position: usize| best.is_none_or(|best| position < best);
            let mut sooner = positions.iter().copied().take_while(|one| better(*one));
            best = sooner.find(|position| suits(*position)).or(best);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::meta::Labels;
    use plimsoll_objects::volume::LabelPin;

    use super::Pinned;

    fn pin(key: &str, values: &[&str]) -> LabelPin {
        LabelPin {
            key: Arc::from(key),
            values: values.iter().map(|value| Arc::from(*value)).collect(),
        }
    }

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (Arc::from(*key), Arc::from(*value)))
            .collect()
    }

    #[test]
    fn only_items_with_a_label_of_the_node_are_looked_at() {
        let pins = [
            Some(vec![pin("host", &["n1"])]),
            Some(vec![pin("host", &["n2"]), pin("zone", &["a", "b"])]),
            None,
            Some(vec![pin("zone", &["b", "b"])]),
            Some(vec![]),
        ];
        let pinned = Pinned::new(pins.iter().map(Option::as_deref));
        let cases = [
            (&[("host", "n1"), ("zone", "b")][..], &[0, 1, 2, 3][..]),
            (&[("host", "n2")], &[1, 2]),
            (&[("zone", "b")], &[1, 2, 3]),
            (&[], &[2]),
        ];
        for (pairs, expected) in cases {
            let labels = labels(pairs);
            let mut found = Vec::new();
            while let Some(next) = pinned.first(&labels, |position| !found.contains(&position)) {
                found.push(next);
            }
            assert_eq!(found, expected, "{pairs:?}");
        }
    }
}
