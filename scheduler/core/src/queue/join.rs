//! Members of a group come together in one entity, and leave it one by one.

use std::time::Duration;

use plimsoll_framework::{Entity, QueuedGroup, QueuedPod};
use plimsoll_objects::Uid;

use super::groups::GroupId;
use super::heap::Slot;
use super::item::{Place, Queued};
use super::wake::Worth;
use super::{Incoming, Moment, Queue};

impl Queue {
    /// Stores an entity that is nowhere; if other members of its group wait, it joins them.
    /// Gives its slot, in no part of the queue, and where those others were.
    pub(super) fn settle(&mut self, mut item: Queued, at: Moment<'_>) -> (Slot, Option<Place>) {
        let first = item.pods().first();
        let id = first.and_then(|queued| self.group_of(&queued.pod, item.profile, at.catalog));
        let id = id.map(|id| self.batch_of(id, &item, at.catalog));
        item.assign(id);
        let slot = item.group.as_ref().and_then(|id| self.groups.slot(id));
        let Some(slot) = slot else {
            return (self.store(item), None);
        };
        let rest = self.item(slot);
        let place = rest.map(|rest| rest.place);
        // The others need not be asked again.
        let asked = rest.filter(|rest| rest.passed);
        let asked = asked.map(|_| self.ask_all(&item, at.catalog));
        self.leave(slot);
        for queued in item.pods() {
            self.index.insert(queued.pod.uid().clone(), slot);
        }
        if let Some(rest) = self.item_mut(slot) {
            rest.absorb(item);
            if let Some(Err(held)) = asked {
                (rest.passed, rest.holder) = (false, held.by);
            }
        }
        (slot, place)
    }

    /// Puts an entity whose members have changed back to where it was, or to where it can
    /// be: more members, or fewer, may be worth another look.
    pub(super) fn look_again(&mut self, slot: Slot, was: Place, cause: Incoming, at: Moment<'_>) {
        match was {
            Place::Active | Place::Backoff | Place::FullBackoff => {
                self.admit(slot, was, cause, at);
            }
            Place::Out | Place::Unschedulable | Place::Gated => {
                self.wake(slot, Worth::AfterBackoff, cause, at);
            }
        }
    }

    /// Takes back an entity that was popped and not tried.
    pub(crate) fn put_back(&mut self, item: Queued, at: Moment<'_>) {
        self.now = at.now;
        for queued in item.pods() {
            self.in_flight.forget(queued.pod.uid());
        }
        let (slot, was) = self.settle(item, at);
        let was = was.unwrap_or(Place::Active);
        self.look_again(slot, was, Incoming::AttemptFailed, at);
        self.fill_up(slot, at);
    }

    /// Takes one member out of the entity in `slot`, for good; `false` if it is the only one.
    pub(super) fn remove_member(&mut self, slot: Slot, uid: &Uid, at: Moment<'_>) -> bool {
        let removed = self.take_member(slot, uid, at);
        if removed {
            self.fill_up(slot, at);
        }
        removed
    }

    /// The same, for another entity.
    pub(super) fn take_member(&mut self, slot: Slot, uid: &Uid, at: Moment<'_>) -> bool {
        let Some(item) = self.item(slot).filter(|item| item.pods().len() > 1) else {
            return false;
        };
        let was = item.place;
        self.now = at.now;
        self.leave(slot);
        self.index.swap_remove(uid);
        if let Some(Entity::Group(group)) = self.item_mut(slot).map(|item| &mut item.entity) {
            group.members.retain(|queued| queued.pod.uid() != uid);
        }
        self.look_again(slot, was, Incoming::LEFT, at);
        true
    }
}

// === impl Queued ===

impl Queued {
    /// Makes it the entity of the group `id`; without one it stays what it is.
    fn assign(&mut self, id: Option<GroupId>) {
        if let (Some(id), Entity::Pod(pod)) = (&id, &self.entity) {
            self.entity = Entity::Group(QueuedGroup {
                key: id.key.clone(),
                members: vec![pod.clone()],
            });
        }
        let is_group = matches!(self.entity, Entity::Group(_));
        self.group = id.or_else(|| self.group.take().filter(|_| is_group));
    }

    /// Takes the members of `other`, and remembers what either has been through.
    fn absorb(&mut self, mut other: Self) {
        let since = self.since();
        for queued in other.pods_mut() {
            // Who was never tried waits as long as those that were.
            if queued.attempts == 0 {
                queued.queued_at = since;
            }
        }
        self.arrival = self.arrival.min(other.arrival);
        self.errors = self.errors.max(other.errors);
        self.rejections = self.rejections.max(other.rejections);
        self.rejectors = self.rejectors.or(other.rejectors);
        self.pending = self.pending.or(other.pending);
        self.retry_at = earliest(self.retry_at, other.retry_at);
        self.flushed_at = self.flushed_at.max(other.flushed_at);
        self.ready_since = earliest(self.ready_since, other.ready_since);
        let newcomers = match other.entity {
            Entity::Pod(pod) => vec![pod],
            Entity::Group(group) => group.members,
        };
        if let Entity::Group(group) = &mut self.entity {
            let since = |queued: Option<&QueuedPod>| queued.map(|queued| queued.first_queued_at);
            let is_later = since(group.members.last()) <= since(newcomers.first());
            group.members.extend(newcomers);
            // Both were in order.
            if !is_later {
                group.members.sort_by_key(|queued| queued.first_queued_at);
            }
        }
    }

    /// Takes the members of a group out of it.
    pub(crate) fn take_members(&mut self) -> Vec<QueuedPod> {
        match &mut self.entity {
            Entity::Pod(pod) => vec![pod.clone()],
            Entity::Group(group) => std::mem::take(&mut group.members),
        }
    }

    /// Gives a group its members again.
    pub(crate) fn set_members(&mut self, members: Vec<QueuedPod>) {
        if let Entity::Group(group) = &mut self.entity {
            group.members = members;
        }
    }

    /// The member `pod` as an entity of its own, which has been through what its group has.
    pub(crate) fn single(&self, pod: QueuedPod) -> Self {
        Self {
            entity: Entity::Pod(pod),
            group: self.group.clone(),
            holder: None,
            ..*self
        }
    }
}

fn earliest(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    [a, b].into_iter().flatten().min()
}
