//! Mistakes in the annotations of nodes, told once each.
//!
//! Takes the nodes that the watch shows, gives a log line for each link speed that is no
//! speed. The node is scheduled to all the same, with its bandwidth unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::Node;
use plimsoll_objects::bandwidth::LinkSpeed;
use tracing::warn;

/// The mistakes that stand: node and text.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    told: BTreeMap<Arc<str>, Arc<str>>,
}

// === impl Mistakes ===

impl Mistakes {
    /// These are all nodes.
    pub(crate) fn listed(&mut self, nodes: &[Arc<Node>]) {
        let mut told = std::mem::take(&mut self.told);
        for node in nodes {
            if let Some((name, text)) = told.remove_entry(node.name()) {
                self.told.insert(name, text);
            }
            self.look_at(node);
        }
    }

    /// The node is gone.
    pub(crate) fn forget(&mut self, name: &str) {
        self.told.remove(name);
    }

    /// Looks at one node.
    pub(crate) fn look_at(&mut self, node: &Node) {
        let Some(text) = self.news(node) else { return };
        warn!(
            node = %node.name(),
            annotation = "plimsoll.dev/link-speed",
            value = %text,
            "not a speed in bit/s such as 10G: the node's bandwidth counts as unknown"
        );
    }

    /// The mistake of `node`, if it has not been told.
    fn news(&mut self, node: &Node) -> Option<Arc<str>> {
        let Some(LinkSpeed::Invalid(text)) = &node.link_speed else {
            self.told.remove(node.name());
            return None;
        };
        let before = self.told.insert(Arc::clone(node.name()), Arc::clone(text));
        (before.as_ref() != Some(text)).then(|| Arc::clone(text))
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::decode_node;
    use serde_json::json;

    use super::*;

    fn with_speed(text: Option<&str>) -> Node {
        let annotations = text.map(|text| json!({"plimsoll.dev/link-speed": text}));
        let node = json!({"metadata": {"name": "a", "annotations": annotations}});
        decode_node(node.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_mistake_is_told_once_until_it_changes_or_is_mended() {
        let mut mistakes = Mistakes::default();
        let texts = [
            Some("fast"),
            Some("fast"),
            Some("faster"),
            None,
            Some("faster"),
            Some("10G"),
        ];
        let told = texts.map(|text| mistakes.news(&with_speed(text)).is_some());
        assert_eq!(told, [true, false, true, false, true, false]);
    }

    #[test]
    fn a_list_forgets_nodes_that_are_gone_and_keeps_what_was_told_of_others() {
        let mut mistakes = Mistakes::default();
        let bad = Arc::new(with_speed(Some("fast")));
        mistakes.listed(&[Arc::clone(&bad)]);
        mistakes.listed(&[Arc::clone(&bad)]);
        assert_eq!(mistakes.news(&bad), None, "told already");
        mistakes.listed(&[]);
        assert!(mistakes.told.is_empty());
    }
}
