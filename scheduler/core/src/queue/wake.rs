//! What brings entities back: failed attempts given back, events, times.

use std::time::Duration;

use plimsoll_framework::{Catalog, Hint};

use super::heap::Slot;
use super::{
    Happening, Incoming, MAX_TIME_IN_POOL, Moment, POOL_FLUSH_PERIOD, Queue, Queued, Scope, Setback,
};
use crate::plugin_set::PluginSet;
use crate::profile::Profiles;

/// Whether and how a change wakes an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// It does not.
    Nothing,
    /// Once it has rested.
    AfterBackoff,
    /// At once: a plugin waited for something outside.
    AtOnce,
}

impl Queue {
    /// Takes back an entity whose attempt failed. What happened since it was popped counts
    /// as if it happened now.
    pub(crate) fn requeue(&mut self, mut item: Queued, setback: Setback, at: Moment<'_>) {
        let now = at.now;
        self.now = now;
        item.arrival = self.next_arrival();
        item.rejectors = setback.rejectors;
        item.pending = setback.pending;
        item.retry_at = setback.retry_at;
        item.flushed_at = None;
        if setback.is_error() {
            item.errors = item.errors.saturating_add(1);
        } else {
            item.errors = 0;
            item.rejections = item.rejections.saturating_add(1);
        }
        for queued in item.pods_mut() {
            queued.queued_at = now;
        }
        // A time that comes sooner than the rest is over would make a tight loop.
        item.retry_at = item.retry_at.map(|at| at.max(self.backoff.end(&item)));
        let worth = self.worth_of_missed(&item, at);
        let (slot, joined) = self.settle(item, at);
        let worth = match joined {
            // Held back at once, and people are told why.
            _ if self.is_incomplete(slot, at.catalog) => Worth::AtOnce,
            Some(_) => worth.max(Worth::AfterBackoff),
            None => worth,
        };
        match worth {
            Worth::Nothing => self.wait(slot, Incoming::AttemptFailed),
            Worth::AfterBackoff => self.wake(slot, worth, Incoming::AttemptFailed, at),
            Worth::AtOnce => self.activate(slot, Incoming::AttemptFailed, at),
        }
        self.fill_up(slot, at);
    }

    /// Wakes whoever `happening` may help, and keeps it for entities in flight.
    pub(crate) fn announce(&mut self, happening: &Happening, at: Moment<'_>) {
        let listeners = self.profiles.listeners(happening.event);
        if !happening.is_wildcard() && listeners.iter().all(|heard| heard.is_empty()) {
            return;
        }
        self.in_flight.record(happening);
        for slot in self.candidates(happening, &listeners) {
            self.consider(slot, happening, &listeners, at);
        }
    }

    /// The waiting entities that `happening` may concern.
    fn candidates(&self, happening: &Happening, listeners: &[PluginSet]) -> Vec<Slot> {
        if let Scope::Only(uid) = &happening.scope {
            let slot = self.index.get(uid).copied();
            let waits = |slot: &Slot| self.item(*slot).is_some_and(Queued::is_in_pool);
            return slot.filter(waits).into_iter().collect();
        }
        self.pool.members(|class| {
            let heard = listeners
                .get(class.profile.index())
                .copied()
                .unwrap_or_default();
            happening.is_wildcard() || !class.waits_for.and(heard).is_empty()
        })
    }

    /// Wakes one waiting entity if `happening`, with its listeners by profile, is worth it.
    pub(super) fn consider(
        &mut self,
        slot: Slot,
        happening: &Happening,
        listeners: &[PluginSet],
        at: Moment<'_>,
    ) {
        self.now = at.now;
        let Some(item) = self.item(slot) else { return };
        let heard = listeners.get(item.profile.index()).copied();
        let heard = heard.unwrap_or_default();
        let worth = worth(&self.profiles, item, happening, heard, at.catalog);
        if worth > Worth::Nothing {
            self.leave(slot);
            self.wake(slot, worth, Incoming::Event(happening.event), at);
        }
    }

    /// Brings back whatever is due: rests that are over, times that have come, entities
    /// that waited for too long.
    pub(crate) fn flush(&mut self, at: Moment<'_>) {
        let now = at.now;
        (self.flushed, self.now) = (now, now);
        self.flush_rested(now);
        for slot in self.pool.due(now) {
            self.leave(slot);
            if let Some(item) = self.item_mut(slot) {
                item.retry_at = None;
            }
            self.wake(slot, Worth::AfterBackoff, Incoming::RetryTime, at);
        }
        if now < self.next_pool_flush {
            return;
        }
        self.next_pool_flush = now.saturating_add(POOL_FLUSH_PERIOD);
        let Some(long_ago) = now.checked_sub(MAX_TIME_IN_POOL) else {
            return;
        };
        for slot in self.pool.older_than(long_ago) {
            self.leave(slot);
            if let Some(item) = self.item_mut(slot) {
                item.flushed_at = Some(now);
            }
            self.wake(slot, Worth::AfterBackoff, Incoming::PoolTimeout, at);
        }
    }

    /// When [`Self::flush`] has something to do next.
    pub(crate) fn next_flush(&self) -> Option<Duration> {
        let heads = [self.resting.first(), self.resting_in_full.first()];
        let rests = heads
            .into_iter()
            .flatten()
            .filter_map(|slot| self.item(slot));
        let rest_over = rests.map(|item| self.backoff.end(item)).min();
        let pool = (!self.pool.is_empty()).then_some(self.next_pool_flush);
        [
            rest_over,
            self.pool.next_retry(),
            self.groups.next_tell(),
            pool,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn flush_rested(&mut self, now: Duration) {
        let heads: [fn(&Self) -> Option<Slot>; 2] = [
            |queue| queue.resting.first(),
            |queue| queue.resting_in_full.first(),
        ];
        for head in heads {
            while let Some(slot) = head(self) {
                if self
                    .item(slot)
                    .is_none_or(|item| self.backoff.rests(item, now))
                {
                    break;
                }
                self.rested(slot);
            }
        }
    }

    pub(super) fn wake(&mut self, slot: Slot, worth: Worth, cause: Incoming, at: Moment<'_>) {
        let Some(item) = self.item(slot) else { return };
        if worth == Worth::AfterBackoff && self.backoff.rests(item, at.now) {
            self.rest(slot, cause, at);
        } else {
            self.activate(slot, cause, at);
        }
    }

    /// What the changes that `item` missed while it was out are worth; its attempt is over.
    /// Thousands may have been missed, by thousands of pods: no more are looked at than
    /// can change the answer.
    fn worth_of_missed(&mut self, item: &Queued, at: Moment<'_>) -> Worth {
        let (least, most) = (
            if item.waits_for().is_empty() {
                Worth::AfterBackoff
            } else {
                Worth::Nothing
            },
            if item.pending.is_empty() {
                Worth::AfterBackoff
            } else {
                Worth::AtOnce
            },
        );
        let mut best = least;
        let uids = item.pods().iter().map(|queued| queued.pod.uid());
        if let Some(missed) = self.in_flight.missed_by(uids) {
            if missed.incomplete {
                best = best.max(Worth::AfterBackoff);
            }
            for happening in missed.changes {
                if best >= most {
                    break;
                }
                let heard = self.profiles.get(item.profile).listeners(happening.event);
                let worth = worth(&self.profiles, item, happening, heard, at.catalog);
                best = best.max(worth);
            }
        }
        for queued in item.pods() {
            self.in_flight.forget(queued.pod.uid());
        }
        best
    }
}

/// What `happening`, of which the plugins `heard` want to know, is worth for `item`.
fn worth(
    profiles: &Profiles,
    item: &Queued,
    happening: &Happening,
    heard: PluginSet,
    catalog: &Catalog,
) -> Worth {
    if !happening.concerns(item) {
        return Worth::Nothing;
    }
    let waits_for = item.waits_for();
    if happening.is_wildcard() || waits_for.is_empty() {
        return Worth::AfterBackoff;
    }
    let framework = profiles.get(item.profile);
    // Before the plugin that holds it back hears of it, the others need not be asked.
    if heard.and(waits_for).is_empty() {
        return Worth::Nothing;
    }
    let asked = heard.and(item.turned_down_by());
    let mut best = Worth::Nothing;
    for plugin in asked.iter() {
        let mut pods = item.pods().iter();
        let hinted = pods.any(|queued| {
            happening.changes().any(|change| {
                framework.hint(plugin, &queued.pod, happening.event, &change, catalog)
                    == Hint::Queue
            })
        });
        if hinted && item.pending.contains(plugin) {
            return Worth::AtOnce;
        }
        if hinted {
            best = Worth::AfterBackoff;
        }
    }
    best
}
