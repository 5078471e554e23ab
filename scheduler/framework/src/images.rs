//! Which nodes have an image, kept up to date with the snapshot's nodes.
//!
//! Takes a node's images before and after a change, gives the nodes by name of the image.
//! A change of a node whose images stay costs one comparison of two lists; one that gains
//! or loses an image costs a search by name and a shift of at most 4 bytes per node.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::NodeImage;

use crate::node::NodeId;

/// Nodes by name of the image.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImageNodes {
    by_name: BTreeMap<Arc<str>, Vec<NodeId>>,
    version: u64,
}

// === impl ImageNodes ===

impl ImageNodes {
    /// Grows with every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The nodes that have `image`, in order of their ids.
    pub(crate) fn of(&self, image: &str) -> &[NodeId] {
        self.by_name.get(image).map_or(&[], Vec::as_slice)
    }

    /// Node `id` had the images `old` and has `new`.
    pub(crate) fn replace(&mut self, id: NodeId, old: &[NodeImage], new: &[NodeImage]) {
        if old == new {
            return;
        }
        self.version += 1;
        for image in old {
            self.remove(id, &image.name);
        }
        for image in new {
            let nodes = self.by_name.entry(Arc::clone(&image.name)).or_default();
            if let Err(index) = nodes.binary_search(&id) {
                nodes.insert(index, id);
            }
        }
    }

    fn remove(&mut self, id: NodeId, image: &str) {
        let Some(nodes) = self.by_name.get_mut(image) else {
            return;
        };
        if let Ok(index) = nodes.binary_search(&id) {
            nodes.remove(index);
        }
        if nodes.is_empty() {
            self.by_name.remove(image);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::NodeImage;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::ImageNodes;
    use crate::node::NodeId;

    fn images(names: &[u8]) -> Vec<NodeImage> {
        let names = names.iter();
        names
            .map(|name| NodeImage {
                name: Arc::from(name.to_string()),
                bytes: i64::from(*name),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn any_row_of_changes_ends_as_if_made_anew(
            changes in prop::collection::vec((0..4_u32, prop::collection::vec(0..6_u8, 0..6)), 0..30),
        ) {
            let mut kept = ImageNodes::default();
            let mut current: [Vec<NodeImage>; 4] = Default::default();
            for (node, names) in &changes {
                let new = images(names);
                kept.replace(NodeId(*node), &current[*node as usize], &new);
                current[*node as usize] = new;
            }
            let mut anew = ImageNodes::default();
            for (node, images) in current.iter().enumerate() {
                anew.replace(NodeId(node as u32), &[], images);
            }
            prop_assert_eq!(kept.by_name, anew.by_name);
        }
    }

    #[test]
    fn nodes_come_in_order_and_once_however_often_a_name_is_listed() {
        let mut nodes = ImageNodes::default();
        for id in [2, 0, 1] {
            nodes.replace(NodeId(id), &[], &images(&[7, 7]));
        }
        assert_eq!(nodes.of("7"), [NodeId(0), NodeId(1), NodeId(2)]);
        nodes.replace(NodeId(1), &images(&[7, 7]), &[]);
        assert_eq!(nodes.of("7"), [NodeId(0), NodeId(2)]);
        assert!(nodes.of("8").is_empty());
    }
}
