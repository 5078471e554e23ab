//! How many entities are where, and what brought them there (metrics `pending_pods`,
//! `queue_incoming_pods_total`).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{Actions, ClusterEvent, EventResource};

use super::Queue;
use super::item::Place;
use crate::stats::{QueueIncoming, QueueSizes, UnschedulablePods};

/// What brought an entity into a part of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Incoming {
    Event(ClusterEvent),
    AttemptFailed,
    BackoffComplete,
    PopFromBackoff,
    PoolTimeout,
    RetryTime,
}

#[derive(Debug, Default)]
pub(crate) struct IncomingCounts(BTreeMap<(&'static str, Incoming), u64>);

// === impl Incoming ===

impl Incoming {
    /// A member left its group.
    pub(super) const LEFT: Self = Self::Event(ClusterEvent::new(
        EventResource::UnscheduledPod,
        Actions::DELETE,
    ));
    /// A new pod.
    pub(super) const ADDED: Self = Self::Event(ClusterEvent::new(
        EventResource::UnscheduledPod,
        Actions::ADD,
    ));

    /// Whether the pod itself was changed.
    pub(super) fn is_own_change(self) -> bool {
        matches!(self, Self::Event(event) if event.resource == EventResource::TargetPod)
    }

    fn label(self) -> String {
        match self {
            Self::Event(event) => label(event),
            Self::AttemptFailed => "ScheduleAttemptFailure".to_owned(),
            Self::BackoffComplete => "BackoffComplete".to_owned(),
            Self::PopFromBackoff => "PopFromBackoffQ".to_owned(),
            Self::PoolTimeout => "UnschedulableTimeout".to_owned(),
            Self::RetryTime => "RetryTime".to_owned(),
        }
    }
}

/// The name of an event in metrics. The only one for everything is a forced activation.
pub(super) fn label(event: ClusterEvent) -> String {
    if event.resource == EventResource::Any {
        return "ForceActivate".to_owned();
    }
    event.to_string()
}

// === impl IncomingCounts ===

impl IncomingCounts {
    pub(super) fn count(&mut self, place: Place, cause: Incoming) {
        let queue = match place {
            Place::Out => return,
            Place::Active => "active",
            Place::Backoff | Place::FullBackoff => "backoff",
            Place::Unschedulable | Place::Gated => "unschedulable",
        };
        *self.0.entry((queue, cause)).or_default() += 1;
    }

    fn rows(&self) -> Vec<QueueIncoming> {
        let rows = self.0.iter();
        rows.map(|((queue, cause), count)| QueueIncoming {
            queue,
            event: cause.label(),
            count: *count,
        })
        .collect()
    }
}

// === impl Queue ===

impl Queue {
    pub(crate) fn sizes(&self) -> QueueSizes {
        let mut sizes = QueueSizes {
            active: self.active.len(),
            backoff: self.resting.len() + self.resting_in_full.len(),
            unschedulable: self.pool.unschedulable(),
            gated: self.pool.gated(),
        };
        // A group is one entity and many pods.
        for item in self.groups.slots().filter_map(|slot| self.item(slot)) {
            let size = match item.place {
                Place::Out => continue,
                Place::Active => &mut sizes.active,
                Place::Backoff | Place::FullBackoff => &mut sizes.backoff,
                Place::Unschedulable => &mut sizes.unschedulable,
                Place::Gated => &mut sizes.gated,
            };
            *size += item.pods().len().saturating_sub(1);
        }
        sizes
    }

    /// Pods that wait after a rejection, wherever, by the plugins that turned them down or
    /// hold them back.
    pub(crate) fn unschedulable_by_plugin(&self) -> Vec<UnschedulablePods> {
        let mut counts = BTreeMap::new();
        for item in self.items.iter().flatten() {
            for plugin in item.turned_down_by().iter() {
                *counts.entry((item.profile, plugin)).or_default() += item.pods().len();
            }
        }
        let rows = counts.into_iter().map(|((profile, plugin), pods)| {
            let framework = self.profiles.get(profile);
            UnschedulablePods {
                profile: Arc::clone(&framework.scheduler_name),
                plugin: framework.name_of(plugin),
                pods,
            }
        });
        rows.collect()
    }

    pub(crate) fn in_flight_events(&self) -> Vec<(String, usize)> {
        self.in_flight.events()
    }

    pub(crate) fn incoming(&self) -> Vec<QueueIncoming> {
        self.incoming.rows()
    }
}
