//! Which nodes changed, in the order of the changes: whoever keeps something by node looks
//! again only at those.
//!
//! Takes the nodes that a snapshot is given, gives those since a change by its number. Only
//! the newest are kept; a clone of a snapshot goes its own way and is told apart.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::node::NodeId;

/// Changes that are kept: one behind by more had better look at every node. A node is 4
/// bytes here.
const KEPT: usize = 8_192;

/// Where in the life of one snapshot something was brought up to date.
#[derive(Debug, Clone)]
pub struct ChangeMark {
    life: Arc<()>,
    number: u64,
}

#[derive(Debug, Default)]
pub(super) struct Changes {
    life: Arc<()>,
    /// Number of changes so far.
    number: u64,
    /// The newest of them.
    nodes: VecDeque<NodeId>,
}

// === impl Changes ===

impl Changes {
    pub(super) fn note(&mut self, id: NodeId) {
        if self.nodes.len() == KEPT {
            self.nodes.pop_front();
        }
        self.nodes.push_back(id);
        self.number += 1;
    }

    pub(super) fn mark(&self) -> ChangeMark {
        ChangeMark {
            life: Arc::clone(&self.life),
            number: self.number,
        }
    }

    /// The nodes that changed since `mark`, some of them more than once; `None` if that is
    /// not known.
    pub(super) fn since(&self, mark: &ChangeMark) -> Option<impl Iterator<Item = NodeId>> {
        if !Arc::ptr_eq(&self.life, &mark.life) {
            return None;
        }
        let count = usize::try_from(self.number.checked_sub(mark.number)?).ok()?;
        let first = self.nodes.len().checked_sub(count)?;
        Some(self.nodes.range(first..).copied())
    }
}

impl Clone for Changes {
    /// Begins a life of its own: what changes in one is not told of the other.
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Changes, KEPT};
    use crate::node::NodeId;

    fn since(changes: &Changes, mark: &super::ChangeMark) -> Option<Vec<u32>> {
        changes
            .since(mark)
            .map(|nodes| nodes.map(|node| node.0).collect())
    }

    #[test]
    fn the_nodes_since_a_mark_come_in_order() {
        let mut changes = Changes::default();
        changes.note(NodeId(7));
        let mark = changes.mark();
        assert_eq!(since(&changes, &mark), Some(vec![]));
        changes.note(NodeId(3));
        changes.note(NodeId(7));
        assert_eq!(since(&changes, &mark), Some(vec![3, 7]));
    }

    #[test]
    fn a_mark_that_is_too_old_or_of_another_snapshot_tells_nothing() {
        let mut changes = Changes::default();
        let mark = changes.mark();
        for _ in 0..KEPT {
            changes.note(NodeId(1));
        }
        assert_eq!(since(&changes, &mark).map(|nodes| nodes.len()), Some(KEPT));
        changes.note(NodeId(1));
        assert_eq!(since(&changes, &mark), None);
        let mark = changes.mark();
        assert_eq!(since(&changes.clone(), &mark), None);
    }
}
