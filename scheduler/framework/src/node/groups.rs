//! The pods of a node by what selectors see of them: namespace and labels.
//!
//! Takes pods as they come and go, gives counts. A plugin that counts matching pods asks
//! its selector once per label set of the cluster and adds up a few groups per node; it
//! never looks at the labels of each pod.

use std::sync::Arc;

use plimsoll_objects::Pod;

use super::label_set::LabelSet;

/// Pods of one node that have equal namespace and labels.
#[derive(Debug, Clone)]
pub struct PodGroup {
    /// What they have in common.
    pub set: Arc<LabelSet>,
    /// How many there are.
    pub counts: PodCounts,
}

/// Numbers of pods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PodCounts {
    /// All of them.
    pub pods: u32,
    /// Those among them that are being deleted.
    pub terminating: u32,
}

/// The groups of a node, in order of the numbers of their sets.
#[derive(Debug, Clone, Default)]
pub struct PodGroups(Vec<PodGroup>);

// === impl PodCounts ===

impl PodCounts {
    /// Pods that are not being deleted.
    pub fn staying(self) -> u32 {
        self.pods.saturating_sub(self.terminating)
    }
}

// === impl PodGroups ===

impl PodGroups {
    /// The groups. None of them is empty.
    pub fn as_slice(&self) -> &[PodGroup] {
        &self.0
    }

    pub(super) fn add(&mut self, pod: &Pod) {
        let set = LabelSet::of(pod);
        let index = self.search(set.id()).unwrap_or_else(|index| {
            let counts = PodCounts::default();
            self.0.insert(index, PodGroup { set, counts });
            index
        });
        let counts = &mut self.0[index].counts;
        counts.pods += 1;
        counts.terminating += u32::from(pod.is_deleting());
    }

    /// Takes away a pod that was added as it is.
    pub(super) fn remove(&mut self, pod: &Pod) {
        let Ok(index) = self.search(LabelSet::of(pod).id()) else {
            return;
        };
        let counts = &mut self.0[index].counts;
        counts.pods = counts.pods.saturating_sub(1);
        let terminating = u32::from(pod.is_deleting());
        counts.terminating = counts.terminating.saturating_sub(terminating);
        if counts.pods == 0 {
            self.0.remove(index);
        }
    }

    /// Equal sets in use have one number: it is enough to compare that.
    fn search(&self, id: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |group| group.set.id())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::{PodCounts, PodGroups};
    use crate::test_util::{PodBuilder, pod};

    /// Pod number `n`: one of three apps, one of two namespaces, every fifth being deleted.
    fn numbered(n: u8) -> PodBuilder {
        let pod = pod(&format!("p{n}")).label("app", &format!("a{}", n % 3));
        let pod = pod.namespace(if n.is_multiple_of(2) { "even" } else { "odd" });
        if n.is_multiple_of(5) {
            pod.deleted("2026-01-01T00:00:00Z")
        } else {
            pod
        }
    }

    fn counts(groups: &PodGroups, namespace: &str, app: &str) -> PodCounts {
        let mut all = groups.as_slice().iter().filter(|group| {
            &**group.set.namespace() == namespace
                && group
                    .set
                    .labels()
                    .get("app")
                    .is_some_and(|value| &**value == app)
        });
        let counts = all.next().map(|group| group.counts).unwrap_or_default();
        assert!(all.next().is_none(), "two groups of {namespace} {app}");
        counts
    }

    proptest! {
        #[test]
        fn groups_count_the_pods_that_are_left(numbers in prop::collection::vec(0_u8..60, 0..40), gone: usize) {
            let gone = gone % (numbers.len() + 1);
            let mut groups = PodGroups::default();
            for number in &numbers {
                groups.add(&numbered(*number).build());
            }
            for number in &numbers[..gone] {
                groups.remove(&numbered(*number).build());
            }
            let left = &numbers[gone..];
            for (namespace, rest) in [("even", 0), ("odd", 1)] {
                for app in 0..3 {
                    let of = |n: &&u8| **n % 2 == rest && **n % 3 == app;
                    let pods = left.iter().filter(of).count() as u32;
                    let terminating = left.iter().filter(of).filter(|n| **n % 5 == 0).count() as u32;
                    let found = counts(&groups, namespace, &format!("a{app}"));
                    prop_assert_eq!(found, PodCounts { pods, terminating });
                    prop_assert_eq!(found.staying(), pods - terminating);
                }
            }
            prop_assert_eq!(groups.as_slice().iter().filter(|group| group.counts.pods == 0).count(), 0);
        }
    }
}
