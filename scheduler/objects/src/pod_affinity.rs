//! Affinity of a pod to other pods, and the opposite: terms that match pods.
//!
//! kube-scheduler `framework.AffinityTerm`. Selectors are parsed at decoding, and a term
//! that names no namespace has that of its pod. A list with a mistake in it has no terms,
//! and the mistake in kube-scheduler's words.

use std::sync::Arc;

use crate::meta::Labels;
use crate::selector::LabelSelector;

/// `spec.affinity.podAffinity` and `podAntiAffinity`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodAffinity {
    /// `podAffinity.requiredDuringSchedulingIgnoredDuringExecution`.
    pub required: TermList<PodAffinityTerm>,
    /// `podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution`.
    pub required_anti: TermList<PodAffinityTerm>,
    /// `podAffinity.preferredDuringSchedulingIgnoredDuringExecution`.
    pub preferred: TermList<WeightedPodAffinityTerm>,
    /// `podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution`.
    pub preferred_anti: TermList<WeightedPodAffinityTerm>,
}

/// A list of terms: all of them, or the first mistake.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermList<T> {
    /// Every term could be parsed.
    Parsed(Box<[T]>),
    /// One could not: none of the list counts.
    Mistaken(Box<str>),
}

/// A `v1.PodAffinityTerm`: pods, and the label of nodes by which being near is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodAffinityTerm {
    /// `topologyKey`.
    pub topology_key: Arc<str>,
    /// `labelSelector`: nothing where there is none.
    pub selector: LabelSelector,
    /// `namespaces`, sorted; the pod's own where the term has neither this nor the next.
    pub namespaces: Box<[Arc<str>]>,
    /// `namespaceSelector`: nothing where there is none.
    pub namespace_selector: LabelSelector,
}

/// A `v1.WeightedPodAffinityTerm`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeightedPodAffinityTerm {
    /// What a match is worth, 1..=100.
    pub weight: i32,
    /// Which pods.
    pub term: PodAffinityTerm,
}

// === impl PodAffinity ===

impl PodAffinity {
    /// Whether no list has a term or a mistake.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.required_anti.is_empty() && !self.has_preferred()
    }

    /// Whether a preferred term is written, be it a mistaken one.
    pub fn has_preferred(&self) -> bool {
        !self.preferred.is_empty() || !self.preferred_anti.is_empty()
    }

    /// The mistakes of all lists as one text (kube-scheduler `NewPodInfo`).
    pub fn mistake(&self) -> Option<String> {
        let lists = [
            ("requiredAffinityTerms", self.required.mistake()),
            ("requiredAntiAffinityTerms", self.required_anti.mistake()),
            ("preferredAffinityTerms", self.preferred.mistake()),
            ("preferredAntiAffinityTerms", self.preferred_anti.mistake()),
        ];
        let mistaken = lists
            .iter()
            .filter_map(|(list, mistake)| Some(format!("{list}: {}", (*mistake)?)));
        let texts: Vec<String> = mistaken.collect();
        match texts.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            _ => Some(format!("[{}]", texts.join(", "))),
        }
    }
}

// === impl TermList ===

impl<T> TermList<T> {
    /// The terms that count.
    pub fn terms(&self) -> &[T] {
        match self {
            Self::Parsed(terms) => terms,
            Self::Mistaken(_) => &[],
        }
    }

    /// The first mistake.
    pub fn mistake(&self) -> Option<&str> {
        match self {
            Self::Parsed(_) => None,
            Self::Mistaken(mistake) => Some(mistake),
        }
    }

    /// Whether nothing is written in the list.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Parsed(terms) if terms.is_empty())
    }
}

impl<T> Default for TermList<T> {
    fn default() -> Self {
        Self::Parsed(Box::default())
    }
}

// === impl PodAffinityTerm ===

impl PodAffinityTerm {
    /// Whether pods of `namespace` are meant, which has these labels. `None` for a namespace
    /// that nothing is known of: only a selector without requirements means it.
    pub fn means_namespace(&self, namespace: &str, labels: Option<&Labels>) -> bool {
        let names = &self.namespaces;
        names
            .binary_search_by(|name| (**name).cmp(namespace))
            .is_ok()
            || self.namespace_selector.is_empty()
            || labels.is_some_and(|labels| self.namespace_selector.matches(labels))
    }

    /// The mistake in a selector, that of pods first.
    pub fn mistake(&self) -> Option<&str> {
        let selectors = [&self.selector, &self.namespace_selector];
        selectors.into_iter().find_map(LabelSelector::mistake)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{PodAffinity, PodAffinityTerm, TermList};
    use crate::meta::Labels;
    use crate::selector::{LabelSelector, RawRequirement};

    fn without_team() -> LabelSelector {
        let raw = RawRequirement {
            key: "team",
            operator: "DoesNotExist",
            values: None,
        };
        LabelSelector::new([], &[raw])
    }

    #[test]
    fn a_namespace_is_meant_by_name_or_by_labels_that_are_known() {
        let term = PodAffinityTerm {
            namespaces: [Arc::from("a"), Arc::from("c")].into(),
            namespace_selector: without_team(),
            ..PodAffinityTerm::default()
        };
        let team: Labels = [(Arc::from("team"), Arc::from("x"))].into();
        let none = Labels::new();
        let cases = [
            ("a", None, true),
            ("c", Some(&team), true),
            ("b", None, false),
            ("b", Some(&team), false),
            ("b", Some(&none), true),
        ];
        for (namespace, labels, meant) in cases {
            let is = term.means_namespace(namespace, labels);
            assert_eq!(is, meant, "{namespace} {labels:?}");
        }
    }

    #[test]
    fn an_empty_selector_means_every_namespace_an_absent_one_none() {
        let mut term = PodAffinityTerm::default();
        let none = Labels::new();
        assert!(!term.means_namespace("a", None) && !term.means_namespace("a", Some(&none)));
        term.namespace_selector = LabelSelector::everything();
        assert!(term.means_namespace("a", None) && term.means_namespace("a", Some(&none)));
    }

    #[test]
    fn mistakes_are_told_by_list_and_several_in_brackets() {
        let mut affinity = PodAffinity {
            required_anti: TermList::Mistaken("no".into()),
            ..PodAffinity::default()
        };
        assert!(!affinity.is_empty() && !affinity.has_preferred());
        let one = "requiredAntiAffinityTerms: no";
        assert_eq!(affinity.mistake().as_deref(), Some(one));
        affinity.preferred = TermList::Mistaken("nor this".into());
        assert!(affinity.has_preferred() && affinity.preferred.terms().is_empty());
        let both = format!("[{one}, preferredAffinityTerms: nor this]");
        assert_eq!(affinity.mistake(), Some(both));
    }
}
