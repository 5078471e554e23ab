//! Entities out for an attempt, and what has happened since they were popped
//! (kube-scheduler `backend/queue/active_queue.go`).
//!
//! A cycle is one step and sees no event, but a pod that waits in Permit stays out for
//! minutes: what happens meanwhile is kept and looked at when it is turned down.

use std::collections::{BTreeMap, BTreeSet, VecDeque, vec_deque};

use plimsoll_objects::Uid;

use super::counts::label;
use super::happening::Happening;

/// Most changes kept: at 100 changes a second about 80 s worth, 1 MB. A pod that has been
/// out for longer is woken as if one of the lost changes concerned it.
const KEPT_CHANGES: usize = 8_192;

#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Number of the first change since each pod was popped.
    since: BTreeMap<Uid, u64>,
    /// The same, oldest first.
    oldest: BTreeSet<(u64, Uid)>,
    log: VecDeque<Happening>,
    /// Number of the first change in `log`.
    first: u64,
}

/// The changes since a pod was popped.
#[derive(Debug)]
pub(super) struct Missed<'a> {
    pub(super) changes: vec_deque::Iter<'a, Happening>,
    /// Some are no longer known.
    pub(super) incomplete: bool,
}

impl InFlight {
    pub(super) fn begin(&mut self, uid: &Uid) {
        self.forget(uid);
        let next = self.first + self.log.len() as u64;
        self.since.insert(uid.clone(), next);
        self.oldest.insert((next, uid.clone()));
    }

    /// Keeps a change for whoever is out.
    pub(super) fn record(&mut self, happening: &Happening) {
        if self.since.is_empty() {
            return;
        }
        if self.log.len() >= KEPT_CHANGES {
            self.log.pop_front();
            self.first += 1;
        }
        self.log.push_back(happening.clone());
    }

    /// What happened since the attempt with this pod began; `None` if it is not out.
    #[cfg(test)]
    pub(super) fn missed(&self, uid: &Uid) -> Option<Missed<'_>> {
        self.missed_by(std::iter::once(uid))
    }

    /// The same of several pods that were popped together: what the first of them missed.
    pub(super) fn missed_by<'a>(&self, uids: impl Iterator<Item = &'a Uid>) -> Option<Missed<'_>> {
        let since = uids.filter_map(|uid| self.since.get(uid)).min();
        let since = *since?;
        let skipped = since.saturating_sub(self.first) as usize;
        Some(Missed {
            changes: self.log.range(skipped.min(self.log.len())..),
            incomplete: since < self.first,
        })
    }

    /// The attempt is over: no more is kept for it.
    pub(super) fn forget(&mut self, uid: &Uid) {
        if let Some(since) = self.since.remove(uid) {
            self.oldest.remove(&(since, uid.clone()));
            self.trim();
        }
    }

    /// The pods that are out.
    pub(super) fn pods(&self) -> impl Iterator<Item = &Uid> {
        self.since.keys()
    }

    /// How many changes of each kind are kept, and how many pods are out.
    pub(super) fn events(&self) -> Vec<(String, usize)> {
        let mut counts = BTreeMap::new();
        for happening in &self.log {
            *counts.entry(happening.event).or_insert(0) += 1;
        }
        let events = counts
            .into_iter()
            .map(|(event, count)| (label(event), count));
        let out = ("PodPopped".to_owned(), self.since.len());
        events.chain([out]).collect()
    }

    fn trim(&mut self) {
        let end = self.first + self.log.len() as u64;
        let needed = self.oldest.first().map_or(end, |(since, _)| *since);
        while self.first < needed && self.log.pop_front().is_some() {
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_objects::Uid;

    use super::{Happening, InFlight, KEPT_CHANGES};

    fn uid(text: &str) -> Uid {
        Uid(text.into())
    }

    #[test]
    fn a_pod_missed_what_happened_since_it_was_popped_and_no_more() {
        let mut in_flight = InFlight::default();
        in_flight.record(&Happening::wildcard());
        in_flight.begin(&uid("a"));
        in_flight.record(&Happening::wildcard());
        in_flight.begin(&uid("b"));
        in_flight.record(&Happening::wildcard());
        let mut end = |name: &str| {
            let missed = in_flight.missed(&uid(name));
            let count = missed.map(|missed| missed.changes.len());
            in_flight.forget(&uid(name));
            count
        };
        assert_eq!(end("a"), Some(2));
        assert_eq!(end("a"), None);
        assert_eq!(end("b"), Some(1));
        assert!(in_flight.log.is_empty(), "nobody needs them any more");
    }

    #[test]
    fn changes_that_were_not_kept_are_owned_up_to() {
        let mut in_flight = InFlight::default();
        in_flight.begin(&uid("a"));
        for _ in 0..=KEPT_CHANGES {
            in_flight.record(&Happening::wildcard());
        }
        in_flight.begin(&uid("b"));
        let incomplete = |name: &str| Some(in_flight.missed(&uid(name))?.incomplete);
        assert_eq!(incomplete("a"), Some(true));
        assert_eq!(incomplete("b"), Some(false));
    }
}
