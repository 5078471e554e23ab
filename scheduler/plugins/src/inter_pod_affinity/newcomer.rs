//! The pod to place before the pods that are there: whom its terms mean, and which terms of
//! theirs mean it.
//!
//! A namespace selector of the newcomer means the namespaces that exist and match; one of a
//! placed pod is held against the labels of the newcomer's namespace, none if that is not
//! known (kube-scheduler the same).

use std::cell::Cell;

use plimsoll_framework::snapshot::PlacedSet;
use plimsoll_framework::{Catalog, Cycle, NodeId, Snapshot};
use plimsoll_objects::{Labels, Pod, PodAffinity, PodAffinityTerm};

/// The labels of a namespace that nothing is known of.
pub(super) static NO_LABELS: Labels = Labels::new();

/// A pod that needs a node.
pub(super) struct Newcomer<'a> {
    /// The pod.
    pub(super) pod: &'a Pod,
    /// The cluster.
    pub(super) snapshot: &'a Snapshot,
    affinity: Option<&'a PodAffinity>,
    namespace_labels: &'a Labels,
    /// The namespace asked for last: sets come by namespace.
    last: Cell<Option<(&'a str, Option<&'a Labels>)>>,
}

/// The affinity of `pod` to other pods.
pub(super) fn affinity(pod: &Pod) -> Option<&PodAffinity> {
    pod.spec.constraints.as_deref()?.pod_affinity.as_deref()
}

/// The labels of a namespace, if it exists.
pub(super) fn labels_of<'a>(catalog: &'a Catalog, namespace: &str) -> Option<&'a Labels> {
    let found = catalog.namespaces.named(namespace)?;
    Some(&found.meta.labels)
}

/// Whether `term`, of a pod that needs a node, means pods of `namespace`, whose labels are
/// looked up only where it asks for any.
pub(super) fn means_namespace<'a>(
    term: &PodAffinityTerm,
    namespace: &str,
    labels: impl FnOnce() -> Option<&'a Labels>,
) -> bool {
    let selector = &term.namespace_selector;
    let asks = !selector.is_nothing() && !selector.is_empty();
    let labels = if asks { labels() } else { None };
    term.means_namespace(namespace, labels)
}

/// The nodes of pods alike, with their numbers.
pub(super) fn places(set: &PlacedSet) -> impl Iterator<Item = (NodeId, u32)> {
    set.nodes()
        .iter()
        .map(|(node, counts)| (*node, counts.pods))
}

// === impl Newcomer ===

impl<'a> Newcomer<'a> {
    /// The pod of a cycle.
    pub(super) fn of(cycle: &Cycle<'a>) -> Self {
        let (pod, snapshot) = (cycle.pod, cycle.snapshot);
        let own = labels_of(snapshot.catalog(), &pod.meta.key.namespace);
        Self {
            pod,
            snapshot,
            affinity: affinity(pod),
            namespace_labels: own.unwrap_or(&NO_LABELS),
            last: Cell::new(None),
        }
    }

    /// The mistakes in its terms.
    pub(super) fn mistake(&self) -> Option<String> {
        self.affinity?.mistake()
    }

    /// Whether it has preferred terms.
    pub(super) fn has_preferred(&self) -> bool {
        self.affinity.is_some_and(PodAffinity::has_preferred)
    }

    /// Its terms.
    pub(super) fn affinity(&self) -> Option<&'a PodAffinity> {
        self.affinity
    }

    /// Its required affinity terms.
    pub(super) fn required(&self) -> &'a [PodAffinityTerm] {
        self.affinity.map_or(&[], |all| all.required.terms())
    }

    /// Its required anti-affinity terms.
    pub(super) fn required_anti(&self) -> &'a [PodAffinityTerm] {
        self.affinity.map_or(&[], |all| all.required_anti.terms())
    }

    /// Whether `term`, of a placed pod, means the newcomer.
    pub(super) fn is_meant_by(&self, term: &PodAffinityTerm) -> bool {
        let meta = &self.pod.meta;
        term.means_namespace(&meta.key.namespace, Some(self.namespace_labels))
            && term.selector.matches(&meta.labels)
    }

    /// Whether `term`, of the newcomer, means pods of `namespace` with `labels`.
    pub(super) fn means(
        &self,
        term: &PodAffinityTerm,
        namespace: &'a str,
        labels: &Labels,
    ) -> bool {
        self.means_namespace(term, namespace) && term.selector.matches(labels)
    }

    /// The same of each of `terms`, of which there is at least one.
    pub(super) fn all_mean(
        &self,
        terms: &[PodAffinityTerm],
        namespace: &'a str,
        labels: &Labels,
    ) -> bool {
        let mut all = terms.iter();
        !terms.is_empty() && all.all(|term| self.means(term, namespace, labels))
    }

    /// Calls `visit` with all placed pods that `term`, of the newcomer, means.
    pub(super) fn each_meant(&self, term: &PodAffinityTerm, mut visit: impl FnMut(&'a PlacedSet)) {
        let mut visit_in = |namespace: &str| {
            let meant = self.snapshot.placed_matching(namespace, &term.selector);
            meant.into_iter().for_each(&mut visit);
        };
        if term.namespace_selector.is_nothing() {
            term.namespaces.iter().for_each(|name| visit_in(name));
            return;
        }
        for namespace in self.snapshot.placed_namespaces() {
            if self.means_namespace(term, namespace) {
                visit_in(namespace);
            }
        }
    }

    fn means_namespace(&self, term: &PodAffinityTerm, namespace: &'a str) -> bool {
        means_namespace(term, namespace, || self.labels_of(namespace))
    }

    fn labels_of(&self, namespace: &'a str) -> Option<&'a Labels> {
        match self.last.get() {
            Some((last, labels)) if last == namespace => labels,
            _ => {
                let labels = labels_of(self.snapshot.catalog(), namespace);
                self.last.set(Some((namespace, labels)));
                labels
            }
        }
    }
}
