//! What the answer to a filter call leaves of the nodes (`HTTPExtender.Filter`,
//! `findNodesThatPassExtenders`).

use std::collections::BTreeSet;

use plimsoll_config::Extender;
use serde_json::Value;

use super::{AnswerError, Refused};
use crate::wire::{FilterResult, NodeList};

/// What is left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filtered {
    /// The nodes that are left, in the extender's order, each once.
    pub kept: Vec<String>,
    /// What it has against others, by name. A node may be here and kept: it is kept.
    pub refused: Vec<Refused>,
}

impl Filtered {
    /// Judges the answer of `extender` about the nodes `offered`.
    ///
    /// Names count only if the extender has `nodeCacheCapable`; without them, and without
    /// nodes, no node is left. `Differs:` whole nodes are taken by their name, and one that
    /// was not offered is an error; kube-scheduler goes on with the extender's own copy.
    ///
    /// # Errors
    /// It cannot be read, says an error itself, or names a node that was not offered.
    pub fn read(extender: &Extender, offered: &[String], body: &[u8]) -> Result<Self, AnswerError> {
        let result = FilterResult::read(body)?;
        if !result.error.is_empty() {
            return Err(AnswerError::Said(result.error));
        }
        let names = result
            .node_names
            .clone()
            .filter(|_| extender.node_cache_capable);
        let names = names
            .or_else(|| result.nodes.as_ref().map(names_of))
            .unwrap_or_default();
        let known: BTreeSet<&str> = offered.iter().map(String::as_str).collect();
        let (mut seen, mut kept) = (BTreeSet::new(), Vec::new());
        for node in names {
            if !known.contains(node.as_str()) {
                let extender = extender.url_prefix.clone();
                return Err(AnswerError::NotOffered { extender, node });
            }
            if seen.insert(node.clone()) {
                kept.push(node);
            }
        }
        Ok(Self {
            kept,
            refused: refused(result),
        })
    }
}

/// Unresolvable reasons go before the others.
fn refused(result: FilterResult) -> Vec<Refused> {
    let FilterResult {
        mut failed_nodes,
        failed_and_unresolvable_nodes: hopeless,
        ..
    } = result;
    failed_nodes.retain(|node, _| !hopeless.contains_key(node));
    let with = |unresolvable| {
        move |(node, message)| Refused {
            node,
            message,
            unresolvable,
        }
    };
    let hopeless = hopeless.into_iter().map(with(true));
    hopeless
        .chain(failed_nodes.into_iter().map(with(false)))
        .collect()
}

/// A node without a name is one named "", which is never offered.
fn names_of(list: &NodeList) -> Vec<String> {
    let name = |node: &Value| {
        let name = node.pointer("/metadata/name").and_then(Value::as_str);
        name.unwrap_or_default().to_owned()
    };
    list.items.iter().map(name).collect()
}
