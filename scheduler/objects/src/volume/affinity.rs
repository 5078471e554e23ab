//! Which nodes can reach a volume.
//!
//! Takes the parsed selector, gives the match by a node's labels, and the labels that a node
//! must have for any match: with them thousands of local volumes are searched by node.

use std::sync::Arc;

use crate::meta::Labels;
use crate::selector::{NodeSelector, message};

/// `spec.nodeAffinity.required` of a volume. As in kube-scheduler only labels count: a term
/// that has nothing but `matchFields` matches every node.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeAffinity {
    selector: NodeSelector,
    pins: Option<Box<[LabelPin]>>,
}

/// A label and the values of it that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelPin {
    /// The label's key.
    pub key: Arc<str>,
    /// Its values.
    pub values: Box<[Arc<str>]>,
}

// === impl VolumeAffinity ===

impl VolumeAffinity {
    /// An affinity of `selector`. Of `pins`, where there are any, every node that it matches
    /// has one.
    pub(crate) fn new(selector: NodeSelector, pins: Option<Box<[LabelPin]>>) -> Self {
        Self { selector, pins }
    }

    /// Whether a node with `labels` can reach the volume.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.selector.matches_labels(labels)
    }

    /// Labels of which every node that matches has one; `None` if that cannot be told.
    pub fn pins(&self) -> Option<&[LabelPin]> {
        self.pins.as_deref()
    }

    /// Why a node does not match: the mistakes in the terms, or that none matches.
    pub fn mismatch(&self) -> String {
        let mistakes = self.selector.mistakes();
        if mistakes.is_empty() {
            "no matching NodeSelectorTerms".to_owned()
        } else {
            message(&mistakes)
        }
    }
}
