//! Which nodes have pods of a label set, kept up to date with the snapshot's nodes.
//!
//! The groups of all nodes the other way round: what counts matching pods over the cluster
//! asks its selector once per set and then reads the nodes that have such pods, and no
//! other. A change of a node costs a search for each of its groups that changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::LabelSelector;

use super::pairs::Pairs;
use crate::node::{LabelSet, NodeId, PodCounts, PodGroup};

/// The pods of one label set over the cluster.
#[derive(Debug, Clone)]
pub struct PlacedSet {
    set: Arc<LabelSet>,
    nodes: Vec<(NodeId, PodCounts)>,
}

/// All label sets of the pods on nodes, by namespace and number.
#[derive(Debug, Clone, Default)]
pub(super) struct PlacedSets(BTreeMap<Arc<str>, Namespaced>);

/// The sets of one namespace.
#[derive(Debug, Clone, Default)]
struct Namespaced {
    sets: BTreeMap<u32, PlacedSet>,
    pairs: Pairs,
}

// === impl PlacedSet ===

impl PlacedSet {
    /// The set.
    pub fn set(&self) -> &Arc<LabelSet> {
        &self.set
    }

    /// How many pods of it each node has, in order of the nodes' ids; a node without any
    /// is not named.
    pub fn nodes(&self) -> &[(NodeId, PodCounts)] {
        &self.nodes
    }

    fn put(&mut self, id: NodeId, counts: PodCounts) {
        match self.search(id) {
            Ok(index) => self.nodes[index].1 = counts,
            Err(index) => self.nodes.insert(index, (id, counts)),
        }
    }

    fn search(&self, id: NodeId) -> Result<usize, usize> {
        self.nodes.binary_search_by_key(&id, |(node, _)| *node)
    }
}

// === impl PlacedSets ===

impl PlacedSets {
    pub(super) fn all(&self) -> impl Iterator<Item = &PlacedSet> {
        self.0
            .values()
            .flat_map(|namespaced| namespaced.sets.values())
    }

    pub(super) fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }

    pub(super) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &PlacedSet> {
        let namespaced = self.0.get(namespace).into_iter();
        namespaced.flat_map(|namespaced| namespaced.sets.values())
    }

    pub(super) fn matching(&self, namespace: &str, selector: &LabelSelector) -> Vec<&PlacedSet> {
        let Some(namespaced) = self.0.get(namespace) else {
            return Vec::new();
        };
        let matches = |placed: &&PlacedSet| selector.matches(placed.set.labels());
        match namespaced.pairs.candidates(selector) {
            Some(ids) => {
                let sets = ids.iter().filter_map(|id| namespaced.sets.get(id));
                sets.filter(matches).collect()
            }
            None => namespaced.sets.values().filter(matches).collect(),
        }
    }

    /// Node `id` had the groups `old` and has `new`; both in order of the sets' numbers.
    pub(super) fn replace(&mut self, id: NodeId, old: &[PodGroup], new: &[PodGroup]) {
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let number = |group: &&PodGroup| group.set.id();
            let next = match (old.peek().map(number), new.peek().map(number)) {
                (Some(one), Some(other)) => one.min(other),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => return,
            };
            let was = old.next_if(|group| group.set.id() == next);
            let is = new.next_if(|group| group.set.id() == next);
            match (was, is) {
                (Some(was), Some(is)) if was.counts == is.counts => {}
                (_, Some(is)) => self.put(id, is),
                (Some(was), None) => self.remove(id, was),
                (None, None) => {}
            }
        }
    }

    fn put(&mut self, id: NodeId, group: &PodGroup) {
        let namespace = Arc::clone(group.set.namespace());
        let Namespaced { sets, pairs } = self.0.entry(namespace).or_default();
        let placed = sets.entry(group.set.id()).or_insert_with(|| {
            pairs.insert(&group.set);
            PlacedSet {
                set: Arc::clone(&group.set),
                nodes: Vec::new(),
            }
        });
        placed.put(id, group.counts);
    }

    fn remove(&mut self, id: NodeId, group: &PodGroup) {
        let Some(namespaced) = self.0.get_mut(group.set.namespace()) else {
            return;
        };
        let Namespaced { sets, pairs } = namespaced;
        let Some(placed) = sets.get_mut(&group.set.id()) else {
            return;
        };
        if let Ok(index) = placed.search(id) {
            placed.nodes.remove(index);
        }
        if placed.nodes.is_empty() {
            sets.remove(&group.set.id());
            pairs.remove(&group.set);
        }
        if sets.is_empty() {
            self.0.remove(group.set.namespace());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plimsoll_objects::LabelSelector;
    use plimsoll_objects::selector::RawRequirement;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::{PlacedSet, PlacedSets};
    use crate::node::{NodeId, NodeInfo, PodCounts};
    use crate::test_util::{node, pod};

    /// Node `id` with one pod per number.
    fn info(id: u8, pods: &[u8]) -> NodeInfo {
        let mut info = NodeInfo::new(NodeId(u32::from(id)), node(&format!("n{id}")).arc());
        for (index, number) in pods.iter().enumerate() {
            let app = format!("a{}", number % 4);
            let pod = pod(&format!("p{index}")).label("app", &app);
            info.add_pod(pod.namespace(&format!("s{}", number % 3)).arc());
        }
        info
    }

    /// Namespace, app and node to counts.
    fn flat(sets: &PlacedSets) -> BTreeMap<(String, String, NodeId), PodCounts> {
        let all = sets.all().flat_map(|placed| {
            assert!(!placed.nodes().is_empty());
            let namespace = placed.set().namespace().to_string();
            let app = placed.set().labels()["app"].to_string();
            let nodes = placed.nodes().iter();
            nodes.map(move |(id, counts)| ((namespace.clone(), app.clone(), *id), *counts))
        });
        all.collect()
    }

    proptest! {
        #[test]
        fn sets_are_those_of_the_nodes_as_they_are_in_the_end(
            steps in prop::collection::vec((0_u8..6, prop::collection::vec(0_u8..12, 0..8)), 0..20),
        ) {
            let mut nodes: BTreeMap<u8, NodeInfo> = BTreeMap::new();
            let mut kept = PlacedSets::default();
            for (id, pods) in steps {
                let new = info(id, &pods);
                let old = nodes.insert(id, new.clone());
                let was = old.as_ref().map_or(&[][..], |old| old.groups.as_slice());
                kept.replace(new.id, was, new.groups.as_slice());
            }
            let mut fresh = PlacedSets::default();
            for info in nodes.values() {
                fresh.replace(info.id, &[], info.groups.as_slice());
            }
            prop_assert_eq!(flat(&kept), flat(&fresh));
            let odd = LabelSelector::new([("app", "a1")], &[]);
            let any = RawRequirement { key: "app", operator: "In", values: Some(vec!["a1", "a0", "a1", "x"]) };
            let not = RawRequirement { key: "app", operator: "NotIn", values: Some(vec!["a3"]) };
            let not_alone = LabelSelector::new([], std::slice::from_ref(&not));
            for selector in [odd, LabelSelector::new([], &[any, not]), not_alone, LabelSelector::default(), LabelSelector::everything()] {
                let found = kept.matching("s1", &selector);
                let plain = kept.in_namespace("s1").filter(|placed| selector.matches(placed.set().labels()));
                let ids = |placed: &PlacedSet| placed.set().id();
                let found: Vec<u32> = found.into_iter().map(ids).collect();
                prop_assert_eq!(found, plain.map(ids).collect::<Vec<u32>>());
            }
            let of_one: usize = kept.in_namespace("s1").count();
            let named = kept.all().filter(|placed| &**placed.set().namespace() == "s1");
            prop_assert_eq!(of_one, named.count());
        }
    }
}
