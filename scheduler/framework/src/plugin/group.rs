//! `Grouping`: which pods are placed together.
//!
//! Takes a waiting pod and the objects of the cluster, gives the group that the pod belongs
//! to and how many members it must have. Everything else is the engine's: it keeps the
//! members of a group together in the queue, lets them wait until they are enough, places
//! them in one cycle, all or none, and lets none begin to bind before all may.

use plimsoll_objects::{ObjectKey, Pod};

use crate::catalog::Catalog;
use crate::rejection::Reason;

/// Tells which pods belong together. No extension point of its own: in force in every
/// profile that enables its plugin at any point.
///
/// A pod in a group has its `PreFilter` to `Permit` run in the cycle of its group, with the
/// members before it on their nodes already; `PostFilter` is asked only for a member that
/// is placed alone. A plugin that groups pods by objects or labels names their events in
/// its [`EnqueueExtensions`](crate::EnqueueExtensions): they make an incomplete group be
/// counted again.
pub trait Grouping: Send + Sync {
    /// The group of `pod`; `None` if it is placed by itself. Must be the same for a pod that
    /// waits and for that pod on a node.
    fn group_of(&self, pod: &Pod, catalog: &Catalog) -> Option<Membership>;

    /// What is said of the group `key` while `has` of the `needed` members are there, bound
    /// ones included.
    fn waits(&self, key: &ObjectKey, has: usize, needed: usize) -> Reason {
        format!("group {key} has {has} of {needed}").into()
    }
}

/// A pod's place in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Namespace and name of the group. Two plugins, or two profiles, may use the same
    /// name: these are two groups.
    pub key: ObjectKey,
    /// How many members there must be. The oldest member that waits speaks for all.
    pub size: GroupSize,
}

/// How many members a group must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupSize {
    /// So many on nodes at the end, those that are bound already included. Of members above
    /// that number, those that fit are placed and the others wait on.
    AtLeast(usize),
    /// A batch of so many that wait: it is complete with them, all or none are placed, and a
    /// further member begins the next batch. Members that are bound do not count.
    Exactly(usize),
    /// Not known yet, such as a group whose object is missing: its pods wait for this.
    Unknown(Reason),
}
