//! Which nodes have pods with an affinity to pods, kept up to date with the snapshot's nodes.
//!
//! Takes a node's pods before and after a change, gives each distinct affinity with the
//! nodes of its pods: the pods of one workload have equal terms, which are then judged once
//! for all of them, and where no pod has terms there is nothing to look at. A change costs a
//! search per pod with terms that came or went.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::{Pod, PodAffinity};

use crate::node::NodeId;

/// The nodes of the pods that have equal affinity to pods: in order of their ids, each with
/// the number of its pods, at least one.
type Places = Vec<(NodeId, u32)>;

/// Every affinity to pods that a pod on a node has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PlacedAffinities(BTreeMap<PodAffinity, Places>);

// === impl PlacedAffinities ===

impl PlacedAffinities {
    pub(super) fn all(&self) -> impl Iterator<Item = (&PodAffinity, &[(NodeId, u32)])> {
        self.0
            .iter()
            .map(|(affinity, places)| (affinity, &**places))
    }

    /// Node `id` had the pods `old` and has `new`.
    pub(super) fn replace(&mut self, id: NodeId, old: &[Arc<Pod>], new: &[Arc<Pod>]) {
        let (old, new) = differing(old, new);
        for affinity in new.iter().filter_map(|pod| affinity(pod)) {
            self.add(id, affinity);
        }
        for affinity in old.iter().filter_map(|pod| affinity(pod)) {
            self.remove(id, affinity);
        }
    }

    fn add(&mut self, id: NodeId, affinity: &PodAffinity) {
        let Some(places) = self.0.get_mut(affinity) else {
            self.0.insert(affinity.clone(), vec![(id, 1)]);
            return;
        };
        match search(places, id) {
            Ok(index) => places[index].1 += 1,
            Err(index) => places.insert(index, (id, 1)),
        }
    }

    fn remove(&mut self, id: NodeId, affinity: &PodAffinity) {
        let Some(places) = self.0.get_mut(affinity) else {
            return;
        };
        if let Ok(index) = search(places, id) {
            places[index].1 -= 1;
            if places[index].1 == 0 {
                places.remove(index);
            }
        }
        if places.is_empty() {
            self.0.remove(affinity);
        }
    }
}

fn search(places: &Places, id: NodeId) -> Result<usize, usize> {
    places.binary_search_by_key(&id, |(node, _)| *node)
}

fn affinity(pod: &Pod) -> Option<&PodAffinity> {
    pod.spec.constraints.as_deref()?.pod_affinity.as_deref()
}

/// Both lists without the pods that they begin and end with alike: most changes are of one
/// pod.
fn differing<'a>(
    mut old: &'a [Arc<Pod>],
    mut new: &'a [Arc<Pod>],
) -> (&'a [Arc<Pod>], &'a [Arc<Pod>]) {
    while let ([a, old_rest @ ..], [b, new_rest @ ..]) = (old, new)
        && Arc::ptr_eq(a, b)
    {
        (old, new) = (old_rest, new_rest);
    }
    while let ([old_rest @ .., a], [new_rest @ .., b]) = (old, new)
        && Arc::ptr_eq(a, b)
    {
        (old, new) = (old_rest, new_rest);
    }
    (old, new)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::Pod;
    use proptest::prelude::{prop, prop_assert_eq, proptest};
    use serde_json::json;

    use super::PlacedAffinities;
    use crate::node::NodeId;
    use crate::test_util::pod;

    /// Pod number `n`: two of three with one of four terms.
    fn numbered(n: u8) -> Arc<Pod> {
        let built = pod(&format!("p{n}"));
        if n.is_multiple_of(3) {
            return built.arc();
        }
        let terms = json!([{"topologyKey": "zone", "namespaces": [format!("n{}", n % 4)]}]);
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": terms});
        let affinity = json!({"spec": {"affinity": {"podAntiAffinity": required}}});
        built.merge(affinity).arc()
    }

    proptest! {
        #[test]
        fn any_row_of_changes_ends_as_if_made_anew(
            changes in prop::collection::vec((0..3_u32, prop::collection::vec(0..24_u8, 0..6)), 0..30),
        ) {
            let all: Vec<Arc<Pod>> = (0..24).map(numbered).collect();
            let mut kept = PlacedAffinities::default();
            let mut current: [Vec<Arc<Pod>>; 3] = Default::default();
            for (node, numbers) in &changes {
                let pods = numbers.iter().map(|n| Arc::clone(&all[usize::from(*n)]));
                let new: Vec<Arc<Pod>> = pods.collect();
                kept.replace(NodeId(*node), &current[*node as usize], &new);
                current[*node as usize] = new;
            }
            let mut anew = PlacedAffinities::default();
            for (node, pods) in current.iter().enumerate() {
                anew.replace(NodeId(node as u32), &[], pods);
            }
            prop_assert_eq!(kept, anew);
        }
    }

    #[test]
    fn pods_with_equal_terms_are_counted_together_by_node() {
        let pods = [numbered(1), numbered(5), numbered(2), numbered(3)];
        let mut placed = PlacedAffinities::default();
        placed.replace(NodeId(4), &[], &pods);
        placed.replace(NodeId(1), &[], &pods[..1]);
        let places: Vec<_> = placed.all().map(|(_, places)| places.to_vec()).collect();
        let (one, other) = (vec![(NodeId(1), 1), (NodeId(4), 2)], vec![(NodeId(4), 1)]);
        assert_eq!(places, [one, other]);
        placed.replace(NodeId(1), &pods[..1], &[]);
        placed.replace(NodeId(4), &pods, &[]);
        assert_eq!(placed, PlacedAffinities::default());
    }
}
