//! Groups by count ([`GroupSize::Exactly`]): members that wait are put together in batches,
//! each an entity of its own.
//!
//! Takes members that come and go; gives each its batch. Of one group no two batches are
//! short at a time, or both could wait for ever for what the other has.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_framework::{Catalog, GroupSize};

use super::groups::GroupId;
use super::heap::Slot;
use super::item::{Place, Queued};
use super::{Incoming, Moment, Queue};

/// Batches that may have room, by the group they are of.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// Looked at when a member comes: those that are full or gone by then are dropped.
    short: BTreeMap<GroupId, BTreeSet<u64>>,
    last: u64,
}

impl Queue {
    /// The batch of the group `id` that `item` goes to: one with room for all its pods, or a
    /// new one. A group that is not one by count is its own.
    pub(super) fn batch_of(&mut self, id: GroupId, item: &Queued, catalog: &Catalog) -> GroupId {
        let Some(size) = self.batch_size(&id, item, catalog) else {
            return id;
        };
        let room = size.saturating_sub(item.pods().len());
        let short = self.short_batches(&id, size).into_iter();
        let mut fitting = short.filter(|(_, _, has)| *has <= room);
        if let Some((batch, _, _)) = fitting.next() {
            return batch;
        }
        let batches = &mut self.groups.batches;
        batches.last += 1;
        let number = batches.last;
        batches.short.entry(id.clone()).or_default().insert(number);
        id.numbered(number)
    }

    /// The batch in `slot` lost a member, or came back: the newest short batch of its group
    /// fills up the oldest one.
    pub(super) fn fill_up(&mut self, slot: Slot, at: Moment<'_>) {
        let Some(item) = self.item(slot) else { return };
        let Some(id) = item.group.clone().filter(|id| id.batch > 0) else {
            return;
        };
        let Some(size) = self.batch_size(&id.whole(), item, at.catalog) else {
            return;
        };
        let short = self.groups.batches.short.entry(id.whole()).or_default();
        short.insert(id.batch);
        let short = self.short_batches(&id.whole(), size);
        let (Some((_, _, has)), Some((_, newest, _))) = (short.first(), short.get(1)) else {
            return;
        };
        let (room, newest) = (size.saturating_sub(*has), *newest);
        let Some(item) = self.item(newest) else {
            return;
        };
        let moving: Vec<_> = item.pods().iter().take(room).cloned().collect();
        for queued in moving {
            let Some(item) = self.item(newest) else {
                return;
            };
            let (single, uid) = (item.single(queued.clone()), queued.pod.uid());
            if !self.take_member(newest, uid, at) {
                self.leave(newest);
                drop(self.unstore(newest));
            }
            let (slot, was) = self.settle(single, at);
            let was = was.unwrap_or(Place::Active);
            self.look_again(slot, was, Incoming::ADDED, at);
        }
    }

    /// How many members a batch has; `None` if the group of `item` is none by count.
    fn batch_size(&self, id: &GroupId, item: &Queued, catalog: &Catalog) -> Option<usize> {
        let oldest = item.pods().first()?;
        match self.size_of(id, &oldest.pod, catalog) {
            GroupSize::Exactly(size) => Some(size.max(1)),
            GroupSize::AtLeast(_) | GroupSize::Unknown(_) => None,
        }
    }

    /// The batches of the group `id` that wait and have room, the oldest first: slot and
    /// number of members.
    fn short_batches(&mut self, id: &GroupId, size: usize) -> Vec<(GroupId, Slot, usize)> {
        let numbers = self.groups.batches.short.get(id).cloned();
        let mut short = Vec::new();
        for number in numbers.unwrap_or_default() {
            let batch = id.numbered(number);
            let slot = self.groups.slot(&batch);
            let has = slot.and_then(|slot| self.item(slot));
            let has = has.map(|item| item.pods().len()).filter(|has| *has < size);
            match slot.zip(has) {
                Some((slot, has)) => short.push((batch, slot, has)),
                None => self.groups.batches.gone(&batch),
            }
        }
        short
    }
}

// === impl Batches ===

impl Batches {
    /// The batch is full, or waits no more.
    pub(super) fn gone(&mut self, id: &GroupId) {
        if id.batch == 0 {
            return;
        }
        let whole = id.whole();
        if let Some(short) = self.short.get_mut(&whole) {
            short.remove(&id.batch);
            if short.is_empty() {
                self.short.remove(&whole);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::ObjectKey;

    use super::{Batches, GroupId};
    use crate::plugin_set::PluginIx;
    use crate::profile::ProfileIx;

    #[test]
    fn nothing_is_kept_of_a_group_whose_batches_wait_no_more() {
        let group = GroupId {
            profile: ProfileIx::default(),
            plugin: PluginIx(0),
            key: ObjectKey::new("ns", "g"),
            batch: 0,
        };
        let mut batches = Batches::default();
        let short = batches.short.entry(group.clone()).or_default();
        short.extend([1, 2]);
        for number in [1, 0, 2] {
            assert_eq!(batches.short.len(), 1);
            batches.gone(&group.numbered(number));
        }
        assert!(batches.short.is_empty());
    }
}
