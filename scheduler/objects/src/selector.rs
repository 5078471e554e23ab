//! Which nodes a selector means: the one parser and matcher of `v1.NodeSelector`.
//!
//! kube-scheduler `component-helpers/scheduling/corev1/nodeaffinity`. Takes requirements
//! as the API has them, gives terms that match nodes. A mistake is kept as a value, in
//! kube-scheduler's words: what becomes of it is the user's affair (a required term with
//! one matches nothing, a preferred one fails the attempt).

mod labels;
mod mistake;
mod requirement;
mod term;
#[cfg(test)]
mod tests;

pub use labels::LabelSelector;
pub use mistake::{Mistake, message};
pub use requirement::RawRequirement;
pub use term::NodeSelectorTerm;

use crate::meta::Labels;
use crate::node::Node;

/// A `v1.NodeSelector`: terms, of which one must match. None matches nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSelector {
    /// The terms as given, empty and mistaken ones too.
    pub terms: Box<[NodeSelectorTerm]>,
}

/// A `v1.PreferredSchedulingTerm`.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferredTerm {
    /// What a match is worth, 1..=100.
    pub weight: i32,
    /// Which nodes.
    pub preference: NodeSelectorTerm,
}

// === impl NodeSelector ===

impl NodeSelector {
    /// Whether a term matches `node`.
    pub fn matches(&self, node: &Node) -> bool {
        self.terms.iter().any(|term| term.matches(node))
    }

    /// Whether a term matches `labels`: those of a node whose name does not count.
    pub fn matches_labels(&self, labels: &Labels) -> bool {
        self.terms.iter().any(|term| term.matches_labels(labels))
    }

    /// Every mistake, with paths that begin at the selector.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let terms = self.terms.iter().enumerate();
        terms
            .flat_map(|(index, term)| term.mistakes_under(&format!("nodeSelectorTerms[{index}]")))
            .collect()
    }
}

/// Every mistake in `terms` that counts, with paths that begin at the list: a term whose
/// weight is 0 is not read.
pub fn preferred_mistakes(terms: &[PreferredTerm]) -> Vec<Mistake> {
    let counted = terms.iter().enumerate();
    counted
        .filter(|(_, term)| term.weight != 0)
        .flat_map(|(index, term)| term.preference.mistakes_under(&format!("[{index}]")))
        .collect()
}

/// The sum of the weights of the terms that match `node`.
pub fn preferred_weight(terms: &[PreferredTerm], node: &Node) -> i64 {
    let matching = terms
        .iter()
        .filter(|term| term.weight != 0 && term.preference.matches(node));
    matching.map(|term| i64::from(term.weight)).sum()
}
