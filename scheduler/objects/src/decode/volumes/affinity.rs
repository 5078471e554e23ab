//! The wire's selectors of volumes and capacities -> which nodes they mean, and the labels
//! that such a node has for sure.

use super::super::affinity::NodeSelector as WireSelector;
use super::super::in_tree::RawTerm;
use super::super::wire;
use crate::intern::intern;
use crate::selector::{NodeSelector, NodeSelectorTerm, RawRequirement};
use crate::volume::{LabelPin, VolumeAffinity};

/// A label that every node has which `selector` matches.
pub(in super::super) fn pin(selector: &wire::LabelSelector<'_>) -> Option<LabelPin> {
    let mut labels = selector.match_labels.iter().flat_map(|texts| &texts.0);
    if let Some((key, value)) = labels.next() {
        return Some(LabelPin {
            key: intern(&key.0),
            values: Box::new([intern(&value.0)]),
        });
    }
    let expressions: Vec<_> = selector.match_expressions.0.iter().map(raw).collect();
    pin_of(&expressions)
}

/// The label of the first requirement that names values.
fn pin_of(expressions: &[RawRequirement<'_>]) -> Option<LabelPin> {
    let pinned = expressions.iter().find(|raw| raw.operator == "In")?;
    let values = pinned.values.as_deref().unwrap_or_default();
    Some(LabelPin {
        key: intern(pinned.key),
        values: values.iter().map(|value| intern(value)).collect(),
    })
}

/// The affinity of these terms.
pub(super) fn affinity(terms: &[RawTerm<'_>]) -> VolumeAffinity {
    let parsed = terms.iter();
    let parsed = parsed.map(|term| NodeSelectorTerm::new(&term.expressions, &term.fields));
    let selector = NodeSelector {
        terms: parsed.collect(),
    };
    // An empty term matches nothing and needs no pin.
    let counted = terms
        .iter()
        .filter(|term| !term.expressions.is_empty() || !term.fields.is_empty());
    let pins = counted.map(|term| pin_of(&term.expressions)).collect();
    VolumeAffinity::new(selector, pins)
}

/// The terms as the wire has them.
pub(super) fn raw_terms<'a>(wire: &'a WireSelector<'_>) -> Vec<RawTerm<'a>> {
    let terms = wire.node_selector_terms.0.iter();
    terms
        .map(|term| RawTerm {
            expressions: term.match_expressions.0.iter().map(raw).collect(),
            fields: term.match_fields.0.iter().map(raw).collect(),
        })
        .collect()
}

fn raw<'a>(wire: &'a wire::Requirement<'_>) -> RawRequirement<'a> {
    let values = wire.values.as_ref();
    RawRequirement {
        key: &wire.key.0,
        operator: &wire.operator.0,
        values: values.map(|values| values.0.iter().map(|value| &*value.0).collect()),
    }
}
