//! What wakes a pod that this plugin rejected.
//!
//! kube-scheduler's hints, and where they would let a pod sleep on that could be placed, a
//! wider one. `Differs:` in kube-scheduler (a) a namespace selector means only namespaces
//! that match it without any labels, (b) the end of the last pod that all affinity terms
//! mean does not wake one that may now be the first of its group, (c) a new node or another
//! value of a node's label does not wake a pod that only the anti-affinity of placed pods
//! keeps away.

use plimsoll_framework::{Catalog, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Node, Pod, PodAffinity, PodAffinityTerm};

use super::newcomer::{NO_LABELS, affinity, labels_of, means_namespace};
use crate::hints;

/// Whether `change` may let `pod` be placed.
pub(super) fn hint(pod: &Pod, event: ClusterEvent, change: &Change<'_>, catalog: &Catalog) -> Hint {
    match change {
        Change::Pod { old, new } if event.resource != EventResource::TargetPod => {
            let (old, new) = (old.filter(|pod| holds(pod)), new.filter(|pod| holds(pod)));
            hints::when(Waiting::of(pod, catalog).is_helped_by_pod(old, new))
        }
        Change::Node {
            old,
            new: Some(new),
        } => hints::when(Waiting::of(pod, catalog).is_helped_by_node(*old, new)),
        Change::Pod { .. }
        | Change::Node { new: None, .. }
        | Change::Object { .. }
        | Change::Load { .. }
        | Change::None => Hint::Queue,
    }
}

/// Whether the pod counts: it has a node, or one is promised to it.
fn holds(pod: &Pod) -> bool {
    pod.spec.node_name.is_some() || pod.status.nominated_node.is_some()
}

/// A pod that waits.
struct Waiting<'a> {
    pod: &'a Pod,
    affinity: Option<&'a PodAffinity>,
    catalog: &'a Catalog,
}

// === impl Waiting ===

impl<'a> Waiting<'a> {
    fn of(pod: &'a Pod, catalog: &'a Catalog) -> Self {
        Self {
            pod,
            affinity: affinity(pod),
            catalog,
        }
    }

    fn required(&self) -> &'a [PodAffinityTerm] {
        self.affinity.map_or(&[], |all| all.required.terms())
    }

    fn required_anti(&self) -> &'a [PodAffinityTerm] {
        self.affinity.map_or(&[], |all| all.required_anti.terms())
    }

    /// Whether a required term could not be parsed: then nothing can be said.
    fn is_mistaken(&self) -> bool {
        self.affinity.is_some_and(|all| {
            all.required
                .mistake()
                .or(all.required_anti.mistake())
                .is_some()
        })
    }

    /// A placed pod came, went, or has other labels.
    fn is_helped_by_pod(&self, old: Option<&Pod>, new: Option<&Pod>) -> bool {
        if old.is_none() && new.is_none() {
            return false;
        }
        let is_company = |pod: Option<&Pod>| pod.is_some_and(|pod| self.all_mean(pod));
        let is_avoided = |pod: Option<&Pod>| pod.is_some_and(|pod| self.any_avoids(pod));
        let company = match (is_company(old), is_company(new)) {
            (false, true) => true,
            // The last one of its group gone, this pod may be the first.
            (true, false) => self.all_mean(self.pod),
            (false, false) | (true, true) => false,
        };
        let gone = old.filter(|_| new.is_none());
        company
            || (is_avoided(old) && !is_avoided(new))
            || gone.is_some_and(|gone| self.is_avoided_by(gone))
            || self.is_mistaken()
    }

    /// A node came, or has other labels.
    fn is_helped_by_node(&self, old: Option<&Node>, new: &Node) -> bool {
        if self.is_mistaken() {
            return true;
        }
        let Some(old) = old else {
            let has = |term: &PodAffinityTerm| new.meta.labels.contains_key(&term.topology_key);
            let required = self.required();
            return required.is_empty()
                || !self.required_anti().is_empty()
                || required.iter().any(has);
        };
        let (old, new) = (&old.meta.labels, &new.meta.labels);
        // Gone, or with another value: the node leaves what some anti-affinity is about.
        let leaves = old.iter().any(|(key, value)| new.get(key) != Some(value));
        let joins = |term: &PodAffinityTerm| {
            let key = &*term.topology_key;
            !old.contains_key(key) && new.contains_key(key)
        };
        leaves || self.required().iter().any(joins)
    }

    /// Whether `term`, of the waiting pod, means `other`.
    fn means(&self, term: &PodAffinityTerm, other: &Pod) -> bool {
        let namespace = &other.meta.key.namespace;
        term.selector.matches(&other.meta.labels)
            && means_namespace(term, namespace, || labels_of(self.catalog, namespace))
    }

    fn all_mean(&self, other: &Pod) -> bool {
        let terms = self.required();
        !terms.is_empty() && terms.iter().all(|term| self.means(term, other))
    }

    fn any_avoids(&self, other: &Pod) -> bool {
        let mut terms = self.required_anti().iter();
        terms.any(|term| self.means(term, other))
    }

    /// Whether a required anti-affinity term of `other` means the waiting pod, or may.
    fn is_avoided_by(&self, other: &Pod) -> bool {
        let Some(all) = affinity(other) else {
            return false;
        };
        let meta = &self.pod.meta;
        let namespace = &meta.key.namespace;
        let labels = labels_of(self.catalog, namespace).unwrap_or(&NO_LABELS);
        let mut terms = all.required_anti.terms().iter();
        all.required_anti.mistake().is_some()
            || terms.any(|term| {
                term.means_namespace(namespace, Some(labels)) && term.selector.matches(&meta.labels)
            })
    }
}
