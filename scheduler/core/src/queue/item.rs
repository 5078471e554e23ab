//! An entity in the queue and what its earlier attempts left behind.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{Entity, QueuedPod};
use plimsoll_objects::{Pod, Uid};

use super::groups::GroupId;
use crate::plugin_set::{PluginIx, PluginSet};
use crate::probe::Begun;
use crate::profile::ProfileIx;

/// One entity: in the queue, or out of it while it is tried.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) entity: Entity,
    pub(crate) profile: ProfileIx,
    /// The group that it is, or is a member of.
    pub(crate) group: Option<GroupId>,
    /// Grows with each time the entity is put into a queue anew: the order among equals.
    pub(super) arrival: u64,
    pub(super) place: Place,
    /// Attempts in a row that ended by an error.
    pub(super) errors: u32,
    /// Attempts that ended by a rejection.
    pub(super) rejections: u32,
    /// Plugins that rejected it, or have held it back since: their events wake it.
    pub(super) rejectors: PluginSet,
    /// Plugins that wait for something outside: their events wake it without backoff.
    pub(super) pending: PluginSet,
    /// The plugin that holds it back, or did last.
    pub(super) gate: Option<PluginIx>,
    /// The pod that it holds.
    pub(super) holder: Option<Uid>,
    /// Every `PreEnqueue` let all its pods through, and it was not tried since.
    pub(super) passed: bool,
    pub(super) retry_at: Option<Duration>,
    /// When it was last brought back for having waited too long, since its last attempt.
    pub(super) flushed_at: Option<Duration>,
    /// When no plugin held it back for the first time: from here on it waits for us.
    pub(crate) ready_since: Option<Duration>,
    /// The beginning of its running attempt, for metrics.
    pub(crate) began: Begun,
}

/// Where an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: just made, or out for an attempt.
    Out,
    Active,
    Backoff,
    /// As `Backoff`, and not to be popped before its rest is over.
    FullBackoff,
    Unschedulable,
    Gated,
}

/// How an attempt failed, as far as the queue cares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Setback {
    /// Plugins that rejected the entity; with `pending` empty too, it was an error.
    pub(crate) rejectors: PluginSet,
    /// Plugins that wait for something outside.
    pub(crate) pending: PluginSet,
    /// When to look again in any case.
    pub(crate) retry_at: Option<Duration>,
}

// === impl Queued ===

impl Queued {
    pub(super) fn new(pod: Arc<Pod>, profile: ProfileIx, now: Duration, arrival: u64) -> Self {
        let queued = QueuedPod {
            pod,
            queued_at: now,
            first_queued_at: now,
            attempts: 0,
        };
        Self {
            entity: Entity::Pod(queued),
            profile,
            group: None,
            arrival,
            place: Place::Out,
            errors: 0,
            rejections: 0,
            rejectors: PluginSet::EMPTY,
            pending: PluginSet::EMPTY,
            gate: None,
            holder: None,
            passed: false,
            retry_at: None,
            flushed_at: None,
            ready_since: None,
            began: Begun::default(),
        }
    }

    /// Its pods: one, or the members of a group.
    pub(crate) fn pods(&self) -> &[QueuedPod] {
        match &self.entity {
            Entity::Pod(pod) => std::slice::from_ref(pod),
            Entity::Group(group) => &group.members,
        }
    }

    pub(crate) fn pods_mut(&mut self) -> &mut [QueuedPod] {
        match &mut self.entity {
            Entity::Pod(pod) => std::slice::from_mut(pod),
            Entity::Group(group) => &mut group.members,
        }
    }

    /// Whether it waits for an event or a time.
    pub(super) fn is_in_pool(&self) -> bool {
        matches!(self.place, Place::Unschedulable | Place::Gated)
    }

    pub(super) fn holds(&self, uid: &Uid) -> bool {
        self.pods().iter().any(|queued| queued.pod.uid() == uid)
    }

    /// When it was last put into a queue; of a group, when its last member was.
    pub(super) fn since(&self) -> Duration {
        self.pods()
            .iter()
            .map(|queued| queued.queued_at)
            .max()
            .unwrap_or_default()
    }

    /// Since when it has waited without a look: a flush is one.
    pub(super) fn unlooked_since(&self) -> Duration {
        self.since().max(self.flushed_at.unwrap_or_default())
    }

    /// The plugins that are asked what a change is worth.
    pub(super) fn turned_down_by(&self) -> PluginSet {
        self.rejectors.or(self.pending)
    }

    /// The plugins whose events it waits for: of those that turned it down, the one that
    /// holds it back.
    pub(super) fn waits_for(&self) -> PluginSet {
        match (self.place, self.gate) {
            (Place::Gated, Some(gate)) => PluginSet::one(gate),
            _ => self.turned_down_by(),
        }
    }
}

// === impl Setback ===

impl Setback {
    /// What both say.
    pub(crate) fn and(self, other: Self) -> Self {
        let times = [self.retry_at, other.retry_at];
        Self {
            rejectors: self.rejectors.or(other.rejectors),
            pending: self.pending.or(other.pending),
            retry_at: times.into_iter().flatten().min(),
        }
    }

    /// No plugin rejected the entity: an internal error, or a cluster without nodes.
    pub(crate) fn is_error(&self) -> bool {
        self.rejectors.or(self.pending).is_empty()
    }
}
