//! Namespace and labels that pods have in common: one value for all pods alike.
//!
//! Takes the namespace and labels of a pod, gives a shared set with a small number. Equal
//! sets that anybody holds are one set of one number, in the whole process, so that what
//! holds for a set (does this selector match it?) is found out once, and kept by number.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use indexmap::{Equivalent, IndexSet};
use plimsoll_objects::{Labels, Pod};

use crate::kept::Kept;

/// Sets beyond twice those in use at the last tidying, before the next one: small pools
/// are not tidied at all.
const SLACK: usize = 1_024;

static POOL: LazyLock<Kept<Pool>> = LazyLock::new(Kept::default);

/// A namespace and a set of labels.
#[derive(Debug)]
pub struct LabelSet {
    id: u32,
    namespace: Arc<str>,
    labels: Labels,
}

// === impl LabelSet ===

impl LabelSet {
    /// The set that `pod` is of. Costs one hash of its labels.
    pub fn of(pod: &Pod) -> Arc<Self> {
        let mut pool = POOL.lock();
        pool.get(&pod.meta.key.namespace, &pod.meta.labels)
    }

    /// The set's number: below the number of sets in use plus some. It goes to another set
    /// once nobody holds this one.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The namespace of the pods.
    pub fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// The labels of the pods.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }
}

/// All sets in use, and some that were.
#[derive(Debug, Default)]
struct Pool {
    sets: IndexSet<Shared>,
    free: Vec<u32>,
    /// Number of sets from which on the unused ones are taken out.
    tidy_at: usize,
}

/// A set, by its value.
#[derive(Debug)]
struct Shared(Arc<LabelSet>);

/// What a set is looked for by.
struct Wanted<'a> {
    namespace: &'a str,
    labels: &'a Labels,
}

// === impl Pool ===

impl Pool {
    fn get(&mut self, namespace: &Arc<str>, labels: &Labels) -> Arc<LabelSet> {
        let wanted = Wanted { namespace, labels };
        if let Some(Shared(set)) = self.sets.get(&wanted) {
            return Arc::clone(set);
        }
        if self.sets.len() >= self.tidy_at {
            self.tidy();
        }
        let next = self.sets.len() as u32;
        let set = Arc::new(LabelSet {
            id: self.free.pop().unwrap_or(next),
            namespace: Arc::clone(namespace),
            labels: labels.clone(),
        });
        self.sets.insert(Shared(Arc::clone(&set)));
        set
    }

    /// Takes out the sets that only the pool holds. Nobody else can get hold of one
    /// meanwhile: the pool is locked.
    fn tidy(&mut self) {
        let free = &mut self.free;
        self.sets.retain(|Shared(set)| {
            let used = Arc::strong_count(set) > 1;
            if !used {
                free.push(set.id);
            }
            used
        });
        self.tidy_at = 2 * self.sets.len() + SLACK;
    }
}

// === impl Shared, Wanted ===

impl Shared {
    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            namespace: &self.0.namespace,
            labels: &self.0.labels,
        }
    }
}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.wanted().hash(hasher);
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.wanted().equivalent(other)
    }
}

impl Eq for Shared {}

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.namespace.hash(hasher);
        self.labels.hash(hasher);
    }
}

impl Equivalent<Shared> for Wanted<'_> {
    fn equivalent(&self, other: &Shared) -> bool {
        *self.namespace == *other.0.namespace && *self.labels == other.0.labels
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use plimsoll_objects::Labels;

    use super::{LabelSet, Pool, SLACK};
    use crate::test_util::pod;

    fn labels(app: &str) -> Labels {
        Labels::from([(Arc::from("app"), Arc::from(app))])
    }

    #[test]
    fn pods_alike_are_of_one_set() {
        let web = LabelSet::of(&pod("a").label("app", "web").build());
        let same = LabelSet::of(&pod("b").label("app", "web").build());
        let other = LabelSet::of(&pod("c").label("app", "db").build());
        let elsewhere = LabelSet::of(&pod("d").namespace("x").label("app", "web").build());
        assert!(Arc::ptr_eq(&web, &same));
        assert_ne!(web.id(), other.id());
        assert_ne!(web.id(), elsewhere.id());
        assert_eq!(
            (&**elsewhere.namespace(), elsewhere.labels()),
            ("x", web.labels())
        );
    }

    #[test]
    fn numbers_of_sets_in_use_differ_and_stay_small() {
        let (mut pool, namespace) = (Pool::default(), Arc::from("default"));
        let mut kept = Vec::new();
        for number in 0..5 * SLACK {
            let set = pool.get(&namespace, &labels(&number.to_string()));
            if number % 100 == 0 {
                kept.push(set);
            }
        }
        let ids: BTreeSet<u32> = kept.iter().map(|set| set.id()).collect();
        assert_eq!(ids.len(), kept.len());
        let largest = ids.last().copied().unwrap_or_default() as usize;
        assert!(largest <= 2 * kept.len() + SLACK, "{largest}");
        let again = pool.get(&namespace, &labels("100"));
        assert!(Arc::ptr_eq(&again, &kept[1]));
    }
}
