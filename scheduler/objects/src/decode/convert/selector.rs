//! The wire's selectors -> values.

use super::wire;
use crate::selector::{LabelSelector, RawRequirement};

/// A label selector; one that is not there matches nothing.
pub(in super::super) fn label_selector(wire: Option<&wire::LabelSelector<'_>>) -> LabelSelector {
    let Some(wire) = wire else {
        return LabelSelector::default();
    };
    let labels = wire.match_labels.iter().flat_map(|texts| &texts.0);
    let labels = labels.map(|(key, value)| (&*key.0, &*value.0));
    LabelSelector::new(labels, &requirements(&wire.match_expressions.0))
}

/// The requirements of a term.
pub(super) fn requirements<'a>(wire: &'a [wire::Requirement<'_>]) -> Vec<RawRequirement<'a>> {
    wire.iter().map(requirement).collect()
}

fn requirement<'a>(wire: &'a wire::Requirement<'_>) -> RawRequirement<'a> {
    let values = wire.values.as_ref();
    RawRequirement {
        key: &wire.key.0,
        operator: &wire.operator.0,
        values: values.map(|values| values.0.iter().map(|value| &*value.0).collect()),
    }
}
