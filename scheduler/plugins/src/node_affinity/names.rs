//! The nodes that a pod names in its required terms: a short way to them.

use std::collections::BTreeSet;

use plimsoll_objects::NodeSelector;

/// The names of the only nodes that the terms leave; `None` if some term names none, or if
/// there is no term: then every node is to be judged. Empty if every term contradicts
/// itself.
pub(super) fn allowed(required: &NodeSelector) -> Option<BTreeSet<&str>> {
    if required.terms.is_empty() {
        return None;
    }
    let mut all = BTreeSet::new();
    for term in &required.terms {
        all.extend(term.names()?.iter().map(|name| &**name));
    }
    Some(all)
}
