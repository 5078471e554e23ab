//! Order, gates, events.

use std::cell::Cell;
use std::cmp::Ordering;
use std::time::Duration;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, EnqueueExtensions, Entity, EventResource, Hint,
    PreEnqueue, QueueSort, Rejection,
};
use plimsoll_objects::Pod;

use super::label;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// How often [`Gates`] was asked for a pod since the last call.
pub(crate) fn asked() -> usize {
    ASKED.replace(0)
}

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

/// As `NodeResourcesFit`: a pod that goes matters only if it held room on a node.
pub(super) struct FitWakes;

impl EnqueueExtensions for FitWakes {
    fn events(&self) -> Vec<ClusterEvent> {
        let grown = Actions::ADD | Actions::UPDATE_NODE_ALLOCATABLE;
        vec![
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
            ClusterEvent::new(EventResource::Node, grown),
        ]
    }

    fn hint(&self, _: &Pod, _: ClusterEvent, change: &Change<'_>, _catalog: &Catalog) -> Hint {
        match change {
            Change::Pod {
                old: Some(old),
                new: None,
            } if old.spec.node_name.is_none() && old.status.nominated_node.is_none() => Hint::Skip,
            _ => Hint::Queue,
        }
    }
}

/// Pod label `gate-until`: a time to look again at a pod with gates.
pub(super) struct Gates;

impl PreEnqueue for Gates {
    fn pre_enqueue(&self, pod: &Pod, _catalog: &Catalog) -> Result<(), Rejection> {
        ASKED.set(ASKED.get() + 1);
        if pod.spec.scheduling_gates.is_empty() {
            Ok(())
        } else {
            let waits = Rejection::unresolvable("waiting for scheduling gates");
            let until = label(pod, "gate-until");
            Err(match until.map(|at| at.parse().expect("seconds")) {
                Some(at) => waits.with_retry_at(Duration::from_secs(at)),
                None => waits,
            })
        }
    }
}
