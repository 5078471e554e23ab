//! `QueueSort`: which pod is next?

use std::cmp::Ordering;

use crate::entity::Entity;

/// Orders the active queue. There is exactly one in a process, the same in every profile.
pub trait QueueSort: Send + Sync {
    /// `Less` if `a` goes before `b`. Must be a total preorder that does not change while an
    /// entity waits; equals go in the order they came.
    fn compare(&self, a: &Entity, b: &Entity) -> Ordering;
}
