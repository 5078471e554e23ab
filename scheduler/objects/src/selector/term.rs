//! One term of a selector: requirements that must all be met.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::mistake::Mistake;
use super::requirement::{FieldRequirement, LabelRequirement, NAME_FIELD, RawRequirement};
use crate::intern::intern;
use crate::meta::Labels;
use crate::node::Node;

/// A `v1.NodeSelectorTerm`, parsed. An empty one and one with a mistake match nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSelectorTerm {
    labels: Box<[LabelRequirement]>,
    fields: Box<[FieldRequirement]>,
    names: Option<Box<[Arc<str>]>>,
    mistakes: Box<[Mistake]>,
}

// === impl NodeSelectorTerm ===

impl NodeSelectorTerm {
    /// A term of `matchExpressions` and `matchFields`.
    pub fn new(expressions: &[RawRequirement<'_>], fields: &[RawRequirement<'_>]) -> Self {
        let mut term = Self {
            names: names(fields),
            ..Self::default()
        };
        let (mut labels, mut by_field, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, raw) in expressions.iter().enumerate() {
            match LabelRequirement::parse(raw, &format!("matchExpressions[{index}]")) {
                Ok(requirement) => labels.push(requirement),
                Err(found) => mistakes.extend(found),
            }
        }
        for (index, raw) in fields.iter().enumerate() {
            match FieldRequirement::parse(raw, &format!("matchFields[{index}]")) {
                Ok(requirement) => by_field.push(requirement),
                Err(found) => mistakes.push(found),
            }
        }
        term.labels = labels.into();
        term.fields = by_field.into();
        term.mistakes = mistakes.into();
        term
    }

    /// Whether every requirement is met by `node`.
    pub fn matches(&self, node: &Node) -> bool {
        let name = node.name();
        let is_empty = self.labels.is_empty() && self.fields.is_empty();
        !is_empty
            && self.mistakes.is_empty()
            && self.labels.iter().all(|one| one.matches(&node.meta.labels))
            // A node without a name has no fields, and then none is looked at.
            && (name.is_empty() || self.fields.iter().all(|one| one.matches(name)))
    }

    /// Whether every requirement on labels is met by `labels`. As in kube-scheduler for a
    /// node without a name, `matchFields` are not looked at.
    pub fn matches_labels(&self, labels: &Labels) -> bool {
        let is_empty = self.labels.is_empty() && self.fields.is_empty();
        !is_empty && self.mistakes.is_empty() && self.labels.iter().all(|one| one.matches(labels))
    }

    /// The only nodes that `matchFields` leaves: what all of its `metadata.name In` lists
    /// have in common, sorted. `None` if there is no such list. As in kube-scheduler, lists
    /// count here even if the term has a mistake.
    pub fn names(&self) -> Option<&[Arc<str>]> {
        self.names.as_deref()
    }

    /// Whether something in it could not be parsed.
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// Its mistakes, with paths that begin at `path`.
    pub fn mistakes_under(&self, path: &str) -> Vec<Mistake> {
        let mistakes = self.mistakes.iter();
        mistakes.map(|mistake| mistake.under(path)).collect()
    }
}

fn names(fields: &[RawRequirement<'_>]) -> Option<Box<[Arc<str>]>> {
    let lists = fields
        .iter()
        .filter(|raw| raw.key == NAME_FIELD && raw.operator == "In");
    let sets = lists.map(|raw| raw.values().iter().copied().collect::<BTreeSet<&str>>());
    let common = sets.reduce(|one, other| one.intersection(&other).copied().collect())?;
    Some(common.into_iter().map(intern).collect())
}
