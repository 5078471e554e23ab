//! Moves of one entity between the parts of the queue.

use std::cmp::Ordering;
use std::time::Duration;

use plimsoll_framework::QueueSort;

use super::heap::{Heap, Slot};
use super::held::Held;
use super::item::Place;
use super::{Happening, Incoming, Moment, Queue, Queued};

/// Shortest time before a gated entity is looked at again for a time that its gate named:
/// one that has passed must not make a tight loop.
const MIN_GATED: Duration = Duration::from_secs(1);

impl Queue {
    /// Puts a stored entity that is nowhere into the active queue, if no `PreEnqueue` holds
    /// it back.
    pub(super) fn activate(&mut self, slot: Slot, cause: Incoming, at: Moment<'_>) {
        self.admit(slot, Place::Active, cause, at);
    }

    /// Puts it where entities rest, if no `PreEnqueue` holds it back: it may be popped from
    /// there, but for two. After an error the API server needs the pause. And load that
    /// flaps around a line falls each second: an idle scheduler would try all again with
    /// each fall.
    pub(super) fn rest(&mut self, slot: Slot, cause: Incoming, at: Moment<'_>) {
        let item = self.item(slot);
        let after_error = item.is_some_and(|item| item.turned_down_by().is_empty());
        let place = if after_error || cause == Incoming::Event(Happening::LOAD_FELL) {
            Place::FullBackoff
        } else {
            Place::Backoff
        };
        self.admit(slot, place, cause, at);
    }

    /// Puts it among those that wait for an event.
    pub(super) fn wait(&mut self, slot: Slot, cause: Incoming) {
        self.enter(slot, Place::Unschedulable, cause);
    }

    /// Its rest is over: to the active queue, without asking `PreEnqueue` again.
    pub(super) fn rested(&mut self, slot: Slot) {
        self.leave(slot);
        self.enter(slot, Place::Active, Incoming::BackoffComplete);
    }

    /// Takes a stored entity out of the part of the queue it is in.
    pub(super) fn leave(&mut self, slot: Slot) {
        let Some(item) = self.items.get(slot as usize).and_then(Option::as_ref) else {
            return;
        };
        let place = item.place;
        if matches!(place, Place::Unschedulable | Place::Gated) {
            self.pool.remove(slot, item);
        }
        self.with_heap(place, |heap, less| {
            heap.remove(slot, less);
        });
        if let Some(item) = self.item_mut(slot) {
            item.place = Place::Out;
        }
    }

    pub(super) fn admit(&mut self, slot: Slot, place: Place, cause: Incoming, at: Moment<'_>) {
        let Some(item) = self.items.get(slot as usize).and_then(Option::as_ref) else {
            return;
        };
        let soonest = self.flushed.saturating_add(MIN_GATED);
        let verdict = self.may_pass(item, at.catalog);
        let now = self.now;
        let Some(item) = self.item_mut(slot) else {
            return;
        };
        item.passed = verdict.is_ok();
        match verdict {
            Ok(()) => {
                (item.gate, item.holder) = (None, None);
                item.ready_since.get_or_insert(now);
                self.enter(slot, place, cause);
            }
            Err(Held { gate, by }) => {
                (item.gate, item.holder) = (Some(gate.plugin), by);
                item.rejectors.insert(gate.plugin);
                item.retry_at = gate.retry_at.map(|at| at.max(soonest));
                self.enter(slot, Place::Gated, cause);
                self.tell_later(slot);
            }
        }
    }

    fn enter(&mut self, slot: Slot, place: Place, cause: Incoming) {
        // As in kube-scheduler, a pod whose own change does not free it has not moved.
        if place != Place::Gated || !cause.is_own_change() {
            self.incoming.count(place, cause);
        }
        self.put(slot, place);
    }

    /// Puts a stored entity that is nowhere into `place`.
    pub(super) fn put(&mut self, slot: Slot, place: Place) {
        let Some(item) = self.item_mut(slot) else {
            return;
        };
        item.place = place;
        if matches!(place, Place::Unschedulable | Place::Gated) {
            let Some(item) = self.items.get(slot as usize).and_then(Option::as_ref) else {
                return;
            };
            self.pool.insert(slot, item);
        }
        self.with_heap(place, |heap, less| heap.push(slot, less));
    }

    /// Runs `change` on the heap of `place`, if it is one, with that heap's order.
    fn with_heap(
        &mut self,
        place: Place,
        change: impl FnOnce(&mut Heap, &dyn Fn(Slot, Slot) -> bool),
    ) {
        let (items, backoff) = (&self.items, self.backoff);
        let sort: &dyn QueueSort = &*self.profiles.queue_sort().run;
        let get = |slot: Slot| items.get(slot as usize).and_then(Option::as_ref);
        let pair = |a, b| get(a).zip(get(b));
        let by_queue = |a: &Queued, b: &Queued| {
            sort.compare(&a.entity, &b.entity)
                .then(a.arrival.cmp(&b.arrival))
        };
        let by_expiry = |a: &Queued, b: &Queued| backoff.expiry(a).cmp(&backoff.expiry(b));
        match place {
            Place::Active => change(&mut self.active, &|a, b| {
                pair(a, b).is_some_and(|(a, b)| by_queue(a, b) == Ordering::Less)
            }),
            Place::Backoff => change(&mut self.resting, &|a, b| {
                pair(a, b).is_some_and(|(a, b)| by_expiry(a, b).then(by_queue(a, b)).is_lt())
            }),
            Place::FullBackoff => change(&mut self.resting_in_full, &|a, b| {
                pair(a, b)
                    .is_some_and(|(a, b)| by_expiry(a, b).then(a.arrival.cmp(&b.arrival)).is_lt())
            }),
            Place::Out | Place::Unschedulable | Place::Gated => {}
        }
    }
}
