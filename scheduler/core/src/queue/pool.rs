//! Entities that found no node, and gated ones: they wait for an event or a time
//! (kube-scheduler `backend/queue/unschedulable_pods.go`).
//!
//! Kept in classes by whom they wait for, so that an event nobody in a class listens to
//! costs one look per class, however many entities are in it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::heap::Slot;
use super::item::{Place, Queued};
use crate::plugin_set::PluginSet;
use crate::profile::ProfileIx;

/// Entities that wait for the same plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    pub(super) profile: ProfileIx,
    pub(super) waits_for: PluginSet,
}

#[derive(Debug, Default)]
pub(super) struct Pool {
    classes: BTreeMap<Class, BTreeSet<Slot>>,
    by_age: BTreeSet<(Duration, Slot)>,
    by_retry: BTreeSet<(Duration, Slot)>,
    gated: usize,
}

impl Pool {
    pub(super) fn insert(&mut self, slot: Slot, item: &Queued) {
        self.classes.entry(class_of(item)).or_default().insert(slot);
        self.by_age.insert((item.unlooked_since(), slot));
        if let Some(at) = item.retry_at {
            self.by_retry.insert((at, slot));
        }
        self.gated += usize::from(item.place == Place::Gated);
    }

    pub(super) fn remove(&mut self, slot: Slot, item: &Queued) {
        let class = class_of(item);
        if let Some(members) = self.classes.get_mut(&class) {
            members.remove(&slot);
            if members.is_empty() {
                self.classes.remove(&class);
            }
        }
        self.by_age.remove(&(item.unlooked_since(), slot));
        if let Some(at) = item.retry_at {
            self.by_retry.remove(&(at, slot));
        }
        self.gated -= usize::from(item.place == Place::Gated);
    }

    pub(super) fn gated(&self) -> usize {
        self.gated
    }

    pub(super) fn unschedulable(&self) -> usize {
        self.by_age.len() - self.gated
    }

    /// The members of every class that `concerned` picks.
    pub(super) fn members(&self, mut concerned: impl FnMut(&Class) -> bool) -> Vec<Slot> {
        let picked = self.classes.iter().filter(|(class, _)| concerned(class));
        picked
            .flat_map(|(_, members)| members.iter().copied())
            .collect()
    }

    /// Whether there is a class that `concerned` picks.
    pub(super) fn any_class(&self, concerned: impl FnMut(&Class) -> bool) -> bool {
        self.classes.keys().any(concerned)
    }

    /// Members that have waited since before `instant`.
    pub(super) fn older_than(&self, instant: Duration) -> Vec<Slot> {
        self.by_age
            .range(..(instant, Slot::MIN))
            .map(|(_, slot)| *slot)
            .collect()
    }

    /// Members whose time has come.
    pub(super) fn due(&self, now: Duration) -> Vec<Slot> {
        self.by_retry
            .range(..=(now, Slot::MAX))
            .map(|(_, slot)| *slot)
            .collect()
    }

    pub(super) fn next_retry(&self) -> Option<Duration> {
        self.by_retry.first().map(|(at, _)| *at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_age.is_empty()
    }
}

fn class_of(item: &Queued) -> Class {
    Class {
        profile: item.profile,
        waits_for: item.waits_for(),
    }
}
