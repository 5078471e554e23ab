//! The nodes that a pod names in its required terms: a short way to them.

use std::collections::BTreeSet;

use plimsoll_framework::{NodeId, Snapshot};
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

/// The nodes called so. A name that no node has is there as [`NodeId::ABSENT`], so that
/// the set is not empty: that would mean a contradiction.
pub(super) fn nodes(names: &BTreeSet<&str>, snapshot: &Snapshot) -> BTreeSet<NodeId> {
    let named = snapshot
        .nodes()
        .filter(|node| names.contains(&**node.name()));
    let mut nodes: BTreeSet<NodeId> = named.map(|node| node.id).collect();
    if nodes.len() < names.len() {
        nodes.insert(NodeId::ABSENT);
    }
    nodes
}
