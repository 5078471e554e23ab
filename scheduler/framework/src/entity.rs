//! What the queue holds: a pod, or a group of pods that are placed together.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::{ObjectKey, Pod};

/// A unit of scheduling.
#[derive(Debug, Clone)]
pub enum Entity {
    /// One pod.
    Pod(QueuedPod),
    /// Pods that are placed all together or not at all.
    Group(QueuedGroup),
}

/// A pod that waits for a node.
#[derive(Debug, Clone)]
pub struct QueuedPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// When it was last put into a queue, on the engine's monotonic clock.
    pub queued_at: Duration,
    /// When it was first put into a queue.
    pub first_queued_at: Duration,
    /// How often it was tried.
    pub attempts: u32,
}

/// A group that waits for nodes.
#[derive(Debug, Clone)]
pub struct QueuedGroup {
    /// Namespace and name of the group.
    pub key: ObjectKey,
    /// Its members in the order they came.
    pub members: Vec<QueuedPod>,
}

// === impl Entity ===

impl Entity {
    /// Priority: of a group, that of its most important member.
    pub fn priority(&self) -> i32 {
        match self {
            Self::Pod(queued) => queued.pod.spec.priority,
            Self::Group(group) => group
                .members
                .iter()
                .map(|queued| queued.pod.spec.priority)
                .max()
                .unwrap_or(0),
        }
    }

    /// When it was put into the queue: of a group, when its first member was first queued,
    /// so that members which come back do not lose the group its place.
    pub fn queued_at(&self) -> Duration {
        match self {
            Self::Pod(queued) => queued.queued_at,
            Self::Group(group) => group
                .members
                .iter()
                .map(|queued| queued.first_queued_at)
                .min()
                .unwrap_or_default(),
        }
    }
}
