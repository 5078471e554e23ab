//! Order, gates, events.

use std::cmp::Ordering;

use plimsoll_framework::{
    Actions, ClusterEvent, EnqueueExtensions, Entity, EventResource, PreEnqueue, QueueSort,
    Rejection,
};
use plimsoll_objects::Pod;

pub(super) struct Sort;

impl QueueSort for Sort {
    fn compare(&self, a: &Entity, b: &Entity) -> Ordering {
        b.priority()
            .cmp(&a.priority())
            .then(a.queued_at().cmp(&b.queued_at()))
    }
}

pub(super) struct Wakes(pub(super) &'static [(EventResource, Actions)]);

impl EnqueueExtensions for Wakes {
    fn events(&self) -> Vec<ClusterEvent> {
        self.0
            .iter()
            .map(|(resource, actions)| ClusterEvent::new(*resource, *actions))
            .collect()
    }
}

pub(super) struct Gates;

impl PreEnqueue for Gates {
    fn pre_enqueue(&self, pod: &Pod) -> Result<(), Rejection> {
        if pod.spec.scheduling_gates.is_empty() {
            Ok(())
        } else {
            Err(Rejection::unresolvable("waiting for scheduling gates"))
        }
    }
}
