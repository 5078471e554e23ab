//! The scheduling queue: which pod is next, and when is a pod that found no node worth
//! another look (kube-scheduler `backend/queue/scheduling_queue.go`).
//!
//! ```text
//!            add, update                      pop
//! (new) ─────────────────> active ───────────────────────> out (in flight)
//!   │ PreEnqueue             ^  ^     backoff (normal heap)      │ requeue
//!   v says no     rest over  │  └───────── ^ ────────────────────┤ error, or woken
//! gated ──event──> ...    backoff <────────┤ still rests         │ meanwhile
//!                            ^             │                     v
//!                            └─── event, time, 5 minutes ── unschedulable
//! ```
//! Takes pods, events and instants; gives entities to try. An entity is in one place at a
//! time; while it is out, the caller holds it and gives it back or drops it.

mod admit;
mod backoff;
mod batch;
mod counts;
mod dump;
mod groups;
mod happening;
mod heap;
mod held;
mod in_flight;
mod item;
mod join;
mod moment;
mod pool;
mod update;
mod wake;

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use plimsoll_objects::{Pod, Uid};

use self::backoff::Backoff;
use self::groups::Groups;
use self::heap::{Heap, Slot};
use self::in_flight::InFlight;
use self::item::Place;
use self::pool::Pool;
use crate::plugin_set::PluginSet;
use crate::profile::{ProfileIx, Profiles};

pub(crate) use self::counts::{Incoming, IncomingCounts};
pub(crate) use self::groups::{GroupId, Standing};
pub(crate) use self::happening::{Fallen, Happening, Scope};
pub(crate) use self::item::{Queued, Setback};
pub(crate) use self::moment::{Moment, moment};
pub(crate) use self::update::pod_actions;

/// Longest time a pod waits in the pool without a look: a safety net for a wake-up that a
/// plugin's hint missed (kube-scheduler `DefaultPodMaxInUnschedulablePodsDuration`).
const MAX_TIME_IN_POOL: Duration = Duration::from_mins(5);
/// Time between two looks for such pods (kube-scheduler
/// `flushUnschedulableEntitiesLeftover`).
const POOL_FLUSH_PERIOD: Duration = Duration::from_secs(30);

/// All entities that wait.
pub(crate) struct Queue {
    profiles: Arc<Profiles>,
    backoff: Backoff,
    items: Vec<Option<Queued>>,
    free: Vec<Slot>,
    index: IndexMap<Uid, Slot>,
    active: Heap,
    resting: Heap,
    resting_in_full: Heap,
    pool: Pool,
    in_flight: InFlight,
    groups: Groups,
    arrivals: u64,
    /// The instant of the last flush: the engine flushes with every step.
    flushed: Duration,
    /// The newest instant that was told.
    now: Duration,
    next_pool_flush: Duration,
    incoming: IncomingCounts,
    /// By profile, the plugins that asked to hear of falls of load.
    load_watchers: Vec<PluginSet>,
}

impl Queue {
    pub(crate) fn new(profiles: Arc<Profiles>, initial: Duration, max: Duration) -> Self {
        let load_watchers = profiles.registered_for(Happening::LOAD_FELL);
        Self {
            load_watchers,
            profiles,
            backoff: Backoff { initial, max },
            items: Vec::new(),
            free: Vec::new(),
            index: IndexMap::new(),
            active: Heap::default(),
            resting: Heap::default(),
            resting_in_full: Heap::default(),
            pool: Pool::default(),
            in_flight: InFlight::default(),
            groups: Groups::default(),
            arrivals: 0,
            flushed: Duration::ZERO,
            now: Duration::ZERO,
            next_pool_flush: Duration::ZERO,
            incoming: IncomingCounts::default(),
        }
    }

    /// Takes a pod that waits for its first attempt.
    pub(crate) fn add(&mut self, pod: Arc<Pod>, profile: ProfileIx, at: Moment<'_>) {
        if self.index.contains_key(pod.uid()) {
            return;
        }
        self.now = at.now;
        let arrival = self.next_arrival();
        let item = Queued::new(pod, profile, at.now, arrival);
        match self.settle(item, at) {
            (slot, None) => self.activate(slot, Incoming::ADDED, at),
            (slot, Some(was)) => self.look_again(slot, was, Incoming::ADDED, at),
        }
    }

    /// The next entity to try: the head of the active queue; if that is empty, the head of
    /// those that rest after a rejection, so that an idle scheduler does not wait. Those
    /// that rest after an error or were woken by a fall of load do wait ([`Self::rest`]).
    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let (slot, woken_early) = match self.active.first() {
            Some(slot) => (slot, false),
            None => (self.resting.first()?, true),
        };
        self.leave(slot);
        let mut item = self.unstore(slot)?;
        item.passed = false;
        if woken_early {
            self.incoming.count(Place::Active, Incoming::PopFromBackoff);
        }
        for queued in item.pods_mut() {
            queued.attempts = queued.attempts.saturating_add(1);
        }
        for queued in item.pods() {
            self.in_flight.begin(queued.pod.uid());
        }
        Some(item)
    }

    /// An entity that was popped is tried only now: it has missed nothing so far.
    pub(crate) fn begin_anew(&mut self, item: &Queued) {
        for queued in item.pods() {
            self.in_flight.begin(queued.pod.uid());
        }
    }

    /// The attempt with this pod is over for the queue: it is being bound, or gone.
    pub(crate) fn done(&mut self, uid: &Uid) {
        self.in_flight.forget(uid);
    }

    /// Forgets a pod, wherever it waits; `false` if it does not wait here.
    pub(crate) fn remove(&mut self, uid: &Uid, at: Moment<'_>) -> bool {
        let Some(slot) = self.index.get(uid).copied() else {
            return false;
        };
        if self.remove_member(slot, uid, at) {
            return true;
        }
        self.leave(slot);
        self.unstore(slot).is_some()
    }

    /// Whether this pod waits here (and is not out for an attempt).
    pub(crate) fn contains(&self, uid: &Uid) -> bool {
        self.index.contains_key(uid)
    }

    /// Whether a plugin holds this pod back.
    pub(crate) fn holds_back(&self, uid: &Uid) -> bool {
        let slot = self.index.get(uid).copied();
        let item = slot.and_then(|slot| self.item(slot));
        item.is_some_and(|item| item.place == Place::Gated)
    }

    /// Whether an entity waits because of a plugin that asked to hear of falls of load.
    pub(crate) fn waits_for_load(&self) -> bool {
        self.pool.any_class(|class| {
            let watchers = self.load_watchers.get(class.profile.index()).copied();
            !class.waits_for.and(watchers.unwrap_or_default()).is_empty()
        })
    }

    /// Whether [`Self::pop`] would give something.
    pub(crate) fn has_next(&self) -> bool {
        self.active.len() + self.resting.len() > 0
    }

    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    fn item(&self, slot: Slot) -> Option<&Queued> {
        self.items.get(slot as usize)?.as_ref()
    }

    fn item_mut(&mut self, slot: Slot) -> Option<&mut Queued> {
        self.items.get_mut(slot as usize)?.as_mut()
    }

    fn store(&mut self, item: Queued) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.items.push(None);
            (self.items.len() - 1) as Slot
        });
        for queued in item.pods() {
            self.index.insert(queued.pod.uid().clone(), slot);
        }
        if let Some(id) = &item.group {
            self.groups.stored(id, slot);
        }
        self.items[slot as usize] = Some(item);
        slot
    }

    fn unstore(&mut self, slot: Slot) -> Option<Queued> {
        let item = self.items.get_mut(slot as usize)?.take()?;
        for queued in item.pods() {
            self.index.swap_remove(queued.pod.uid());
        }
        if let Some(id) = &item.group {
            self.groups.unstored(id);
        }
        self.free.push(slot);
        Some(item)
    }
}

#[cfg(test)]
mod tests;
