//! What must be: three counts by topology pair, made before Filter and read by it.
//!
//! Pods that all the newcomer's affinity terms mean, by the keys of those terms; pods that
//! one of its anti-affinity terms means, by that term's key; pods that have an
//! anti-affinity term that means the newcomer, by that term's key.

use plimsoll_framework::{NodeId, Rejection};
use plimsoll_objects::{Pod, PodAffinityTerm};

use super::counts::Counts;
use super::domains::Domains;
use super::newcomer::{Newcomer, affinity, places};

pub(super) const REASON_AFFINITY: &str = "node(s) didn't match pod affinity rules";
pub(super) const REASON_ANTI: &str = "node(s) didn't match pod anti-affinity rules";
pub(super) const REASON_EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// What Filter reads.
#[derive(Debug, Clone)]
pub(super) struct Required {
    /// A key of every affinity term, and how many pods all of them mean.
    affinity: Counts,
    anti: Counts,
    existing: Counts,
    /// Whether the newcomer's affinity terms all mean the newcomer.
    means_itself: bool,
}

// === impl Required ===

impl Required {
    /// The counts for `newcomer`; `None` if there is nothing to judge.
    pub(super) fn of(newcomer: &Newcomer<'_>) -> Option<Self> {
        let existing = existing(newcomer);
        let (terms, anti_terms) = (newcomer.required(), newcomer.required_anti());
        if existing.is_empty() && terms.is_empty() && anti_terms.is_empty() {
            return None;
        }
        let meta = &newcomer.pod.meta;
        Some(Self {
            affinity: all_meant(newcomer, terms),
            anti: any_meant(newcomer, anti_terms),
            existing,
            means_itself: newcomer.all_mean(terms, &meta.key.namespace, &meta.labels),
        })
    }

    /// Whether the newcomer may be on the node.
    pub(super) fn judge(&self, node: NodeId) -> Result<(), Rejection> {
        if !self.has_company(node) {
            return Err(Rejection::unresolvable(REASON_AFFINITY));
        }
        let any = |counts: &Counts| counts.at(node).flatten().any(|pods| pods > 0);
        if any(&self.anti) {
            return Err(Rejection::unschedulable(REASON_ANTI));
        }
        if any(&self.existing) {
            return Err(Rejection::unschedulable(REASON_EXISTING));
        }
        Ok(())
    }

    /// Whether the node has the label of every affinity term, and near it is a pod that all
    /// of them mean; or there is no such pod anywhere and the newcomer is one itself: the
    /// first of its group would else wait forever.
    fn has_company(&self, node: NodeId) -> bool {
        let mut near = true;
        for pods in self.affinity.at(node) {
            match pods {
                Some(pods) => near &= pods > 0,
                None => return false,
            }
        }
        near || (self.affinity.is_empty() && self.means_itself)
    }

    /// `by` pods such as `other` are thought to be on the node.
    pub(super) fn change<'a>(
        &mut self,
        newcomer: &Newcomer<'a>,
        (other, node): (&'a Pod, NodeId),
        by: i64,
    ) {
        let snapshot = newcomer.snapshot;
        let (namespace, labels) = (&*other.meta.key.namespace, &other.meta.labels);
        let terms = newcomer.required();
        if newcomer.all_mean(terms, namespace, labels) {
            for (index, term) in terms.iter().enumerate() {
                if is_first_of_key(terms, index) {
                    self.affinity.change(&term.topology_key, node, by, snapshot);
                }
            }
        }
        for term in newcomer.required_anti() {
            if newcomer.means(term, namespace, labels) {
                self.anti.change(&term.topology_key, node, by, snapshot);
            }
        }
        let theirs = affinity(other).map_or(&[][..], |all| all.required_anti.terms());
        for term in theirs.iter().filter(|term| newcomer.is_meant_by(term)) {
            self.existing.change(&term.topology_key, node, by, snapshot);
        }
    }
}

/// Whether no earlier term has the key of this one: a pod counts once by key.
fn is_first_of_key(terms: &[PodAffinityTerm], index: usize) -> bool {
    let key = &terms[index].topology_key;
    !terms[..index].iter().any(|term| term.topology_key == *key)
}

/// The pods that have an anti-affinity term that means the newcomer.
fn existing(newcomer: &Newcomer<'_>) -> Counts {
    let mut domains = Domains::default();
    for (affinity, pods) in newcomer.snapshot.affinities() {
        let terms = affinity.required_anti.terms().iter();
        for term in terms.filter(|term| newcomer.is_meant_by(term)) {
            let row = domains.row(&term.topology_key, newcomer.snapshot);
            domains.add(row, pods.iter().copied(), 1);
        }
    }
    Counts::new(domains)
}

/// The pods that all of `terms` mean. Every key has a row, be there a pod or not.
fn all_meant(newcomer: &Newcomer<'_>, terms: &[PodAffinityTerm]) -> Counts {
    let mut domains = Domains::default();
    for term in terms {
        domains.row(&term.topology_key, newcomer.snapshot);
    }
    // A term that names its namespaces narrows the search most.
    let narrow = terms
        .iter()
        .find(|term| term.namespace_selector.is_nothing());
    if let Some(term) = narrow.or(terms.first()) {
        newcomer.each_meant(term, |placed| {
            let set = placed.set();
            if newcomer.all_mean(terms, set.namespace(), set.labels()) {
                for row in 0..domains.rows() {
                    domains.add(row, places(placed), 1);
                }
            }
        });
    }
    Counts::new(domains)
}

/// The pods that one of `terms` means, once for each that does.
fn any_meant(newcomer: &Newcomer<'_>, terms: &[PodAffinityTerm]) -> Counts {
    let mut domains = Domains::default();
    for term in terms {
        let row = domains.row(&term.topology_key, newcomer.snapshot);
        newcomer.each_meant(term, |placed| {
            domains.add(row, places(placed), 1);
        });
    }
    Counts::new(domains)
}
