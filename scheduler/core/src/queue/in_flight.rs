//! Entities out for an attempt, and what has happened since they were popped
//! (kube-scheduler `backend/queue/active_queue.go`).
//!
//! A cycle is one step and sees no event, but a pod that waits in Permit stays out for
//! minutes: what happens meanwhile is kept and looked at when it is turned down.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plimsoll_objects::Uid;

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
pub(super) struct Missed {
    pub(super) changes: Vec<Happening>,
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

    /// The attempt is over: what happened since it began, and no more is kept for it.
    pub(super) fn end(&mut self, uid: &Uid) -> Missed {
        let Some(since) = self.since.get(uid).copied() else {
            return Missed {
                changes: Vec::new(),
                incomplete: false,
            };
        };
        let skipped = since.saturating_sub(self.first) as usize;
        let changes = self.log.iter().skip(skipped).cloned().collect();
        let incomplete = since < self.first;
        self.forget(uid);
        Missed {
            changes,
            incomplete,
        }
    }

    /// Ends the attempt without looking back.
    pub(super) fn forget(&mut self, uid: &Uid) {
        if let Some(since) = self.since.remove(uid) {
            self.oldest.remove(&(since, uid.clone()));
            self.trim();
        }
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
        assert_eq!(in_flight.end(&uid("a")).changes.len(), 2);
        assert_eq!(in_flight.end(&uid("a")).changes.len(), 0);
        assert_eq!(in_flight.end(&uid("b")).changes.len(), 1);
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
        assert!(in_flight.end(&uid("a")).incomplete);
        assert!(!in_flight.end(&uid("b")).incomplete);
    }
}
