//! Groups as the queue knows them: which entity holds a group's waiting members, which
//! members are bound, what a group lacks and when people are told of it.
//!
//! A group that waits is one entity. One that has too few members is held back by the
//! plugin that made it a group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{Actions, Catalog, ClusterEvent, EventResource, GroupSize, QueuedPod};
use plimsoll_framework::{Membership, Reason};
use plimsoll_objects::{ObjectKey, Pod, Uid};

use super::batch::Batches;
use super::heap::Slot;
use super::item::{Place, Queued};
use super::{Incoming, Moment, Queue};
use crate::plugin_set::PluginIx;
use crate::profile::ProfileIx;
use crate::runtime::enqueue::Gate;

/// How long a group must not have changed before its members are told what it lacks:
/// members mostly come one by one, and each would be told anew with every one that comes.
const QUIET: Duration = Duration::from_secs(1);

/// One group: a name in one plugin of one profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId {
    pub(crate) profile: ProfileIx,
    pub(crate) plugin: PluginIx,
    pub(crate) key: ObjectKey,
    /// From 1 on for a batch of a group by count, 0 otherwise.
    pub(crate) batch: u64,
}

/// Whether a group can be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// So many of its waiting members must find a node.
    Complete { needed: usize },
    /// It waits for this.
    Waits(Reason),
}

/// To be told to the members of a group that waits for more of them.
#[derive(Debug)]
pub(crate) struct GroupNotice {
    pub(crate) profile: ProfileIx,
    pub(crate) pods: Vec<Arc<Pod>>,
    pub(crate) text: Reason,
}

#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The entity of each group that waits.
    waiting: BTreeMap<GroupId, Slot>,
    /// Members that are bound.
    bound: BTreeMap<GroupId, BTreeSet<Uid>>,
    group_of_bound: BTreeMap<Uid, GroupId>,
    tell_at: BTreeMap<GroupId, Duration>,
    tells: BTreeSet<(Duration, GroupId)>,
    told: BTreeMap<GroupId, Reason>,
    pub(super) batches: Batches,
}

// === impl GroupId ===

impl GroupId {
    /// The group, of whatever batch.
    pub(crate) fn whole(&self) -> Self {
        self.numbered(0)
    }

    /// One batch of it.
    pub(super) fn numbered(&self, batch: u64) -> Self {
        Self {
            batch,
            ..self.clone()
        }
    }
}

// === impl Groups ===

impl Groups {
    pub(super) fn slot(&self, id: &GroupId) -> Option<Slot> {
        self.waiting.get(id).copied()
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.waiting.values().copied()
    }

    pub(super) fn stored(&mut self, id: &GroupId, slot: Slot) {
        self.waiting.insert(id.clone(), slot);
    }

    pub(super) fn unstored(&mut self, id: &GroupId) {
        self.waiting.remove(id);
        self.batches.gone(id);
        self.told.remove(id);
        self.tell(id, None);
    }

    fn tell(&mut self, id: &GroupId, at: Option<Duration>) {
        let old = match at {
            Some(at) => {
                self.tells.insert((at, id.clone()));
                self.tell_at.insert(id.clone(), at).filter(|old| *old != at)
            }
            None => self.tell_at.remove(id),
        };
        if let Some(old) = old {
            self.tells.remove(&(old, id.clone()));
        }
    }

    pub(super) fn next_tell(&self) -> Option<Duration> {
        self.tells.first().map(|(at, _)| *at)
    }

    fn due(&mut self, now: Duration) -> Option<GroupId> {
        let (_, id) = self.tells.first().filter(|(at, _)| *at <= now)?;
        let id = id.clone();
        self.tell(&id, None);
        Some(id)
    }
}

// === impl Queue ===

impl Queue {
    /// The group that `pod` of `profile` belongs to.
    pub(crate) fn group_of(
        &self,
        pod: &Pod,
        profile: ProfileIx,
        catalog: &Catalog,
    ) -> Option<GroupId> {
        let (plugin, Membership { key, .. }) = self.profiles.get(profile).group_of(pod, catalog)?;
        Some(GroupId {
            profile,
            plugin,
            key,
            batch: 0,
        })
    }

    /// Whether the group `id` with these waiting members can be placed. One that is being
    /// deleted does not count.
    pub(crate) fn standing(
        &self,
        id: &GroupId,
        members: &[QueuedPod],
        catalog: &Catalog,
    ) -> Standing {
        let mut here = members
            .iter()
            .map(|queued| &queued.pod)
            .filter(|pod| !pod.is_deleting())
            .peekable();
        let Some(oldest) = here.peek() else {
            return Standing::Waits(Reason::Borrowed("every member is being deleted"));
        };
        match self.size_of(id, oldest, catalog) {
            GroupSize::Unknown(reason) => Standing::Waits(reason),
            GroupSize::Exactly(size) => {
                let has = here.count();
                if has >= size {
                    return Standing::Complete { needed: has };
                }
                let framework = self.profiles.get(id.profile);
                Standing::Waits(framework.group_waits(id.plugin, &id.key, (has, size)))
            }
            GroupSize::AtLeast(size) => {
                let bound = self.groups.bound.get(id).map_or(0, BTreeSet::len);
                let has = here.count() + bound;
                if has >= size {
                    let needed = size.saturating_sub(bound);
                    return Standing::Complete { needed };
                }
                let framework = self.profiles.get(id.profile);
                Standing::Waits(framework.group_waits(id.plugin, &id.key, (has, size)))
            }
        }
    }

    /// The size of the group `id` as its member `pod` has it.
    pub(super) fn size_of(&self, id: &GroupId, pod: &Pod, catalog: &Catalog) -> GroupSize {
        let found = self.profiles.get(id.profile).group_of(pod, catalog);
        let same = found.filter(|(plugin, member)| (*plugin, &member.key) == (id.plugin, &id.key));
        // A pod that has left its group needs no other.
        same.map_or(GroupSize::AtLeast(0), |(_, member)| member.size)
    }

    /// Holds a group back that has too few members.
    pub(super) fn group_gate(&self, item: &Queued, catalog: &Catalog) -> Result<(), Gate> {
        let Some(id) = &item.group else {
            return Ok(());
        };
        match self.standing(id, item.pods(), catalog) {
            Standing::Complete { .. } => Ok(()),
            Standing::Waits(_) => Err(Gate {
                plugin: id.plugin,
                retry_at: None,
            }),
        }
    }

    pub(super) fn is_incomplete(&self, slot: Slot, catalog: &Catalog) -> bool {
        let item = self.item(slot);
        item.is_some_and(|item| self.group_gate(item, catalog).is_err())
    }

    /// The group in `slot` was held back: its members are told once it is quiet.
    pub(super) fn tell_later(&mut self, slot: Slot) {
        let group = self.item(slot).and_then(|item| item.group.clone());
        if let Some(id) = group {
            let at = self.now.saturating_add(QUIET);
            self.groups.tell(&id, Some(at));
        }
    }

    /// What is to be told by now of groups that wait for members.
    pub(crate) fn take_notices(&mut self, at: Moment<'_>) -> Vec<GroupNotice> {
        let mut notices = Vec::new();
        while let Some(id) = self.groups.due(at.now) {
            let slot = self.groups.slot(&id);
            let Some(item) = slot.and_then(|slot| self.item(slot)) else {
                continue;
            };
            let Standing::Waits(text) = self.standing(&id, item.pods(), at.catalog) else {
                continue;
            };
            if item.place != Place::Gated || self.groups.told.get(&id) == Some(&text) {
                continue;
            }
            let pods = item.pods().iter().map(|queued| Arc::clone(&queued.pod));
            notices.push(GroupNotice {
                profile: id.profile,
                pods: pods.collect(),
                text: text.clone(),
            });
            self.groups.told.insert(id, text);
        }
        notices
    }

    /// A pod has its node for good: it counts for its group, of which the rest may wait.
    pub(crate) fn member_bound(&mut self, pod: &Pod, profile: ProfileIx, at: Moment<'_>) {
        if !self.profiles.get(profile).has_groups() {
            return;
        }
        let id = self.group_of(pod, profile, at.catalog);
        if self.groups.group_of_bound.get(pod.uid()) == id.as_ref() {
            return;
        }
        self.member_gone(pod.uid());
        let Some(id) = id else { return };
        let uid = pod.uid().clone();
        self.groups.group_of_bound.insert(uid.clone(), id.clone());
        self.groups.bound.entry(id.clone()).or_default().insert(uid);
        let Some(slot) = self.groups.slot(&id) else {
            return;
        };
        let gated = self
            .item(slot)
            .is_some_and(|item| item.place == Place::Gated);
        if gated {
            let added = ClusterEvent::new(EventResource::AssignedPod, Actions::ADD);
            self.now = at.now;
            self.leave(slot);
            self.look_again(slot, Place::Gated, Incoming::Event(added), at);
        }
    }

    /// A pod has its node no more.
    pub(crate) fn member_gone(&mut self, uid: &Uid) {
        let Some(id) = self.groups.group_of_bound.remove(uid) else {
            return;
        };
        if let Some(bound) = self.groups.bound.get_mut(&id) {
            bound.remove(uid);
            if bound.is_empty() {
                self.groups.bound.remove(&id);
            }
        }
    }
}
