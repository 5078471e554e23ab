//! The contract of the queue as naively as it can be written: one list of entries, looked
//! through from end to end for everything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::Pod;

use super::entry::{Entry, News, Part, Worth};

/// The setback of a failed attempt.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdict {
    pub(super) rejectors: Vec<&'static str>,
    pub(super) pending: Vec<&'static str>,
    pub(super) retry_at: Option<Duration>,
}

pub(super) struct Model {
    pub(super) entries: Vec<Entry>,
    pub(super) now: Duration,
    pub(super) incoming: BTreeMap<(&'static str, String), u64>,
    orders: u64,
    next_pool_flush: Duration,
}

// === impl Model ===

impl Model {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            entries: Vec::new(),
            now,
            incoming: BTreeMap::new(),
            orders: 0,
            next_pool_flush: Duration::ZERO,
        }
    }

    pub(super) fn find(&self, uid: &str) -> Option<usize> {
        let mut entries = self.entries.iter();
        entries.position(|entry| &*entry.pod.uid().0 == uid)
    }

    fn order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    fn put(&mut self, index: usize, part: Part, label: &str) {
        let queue = match part {
            Part::Active => "active",
            Part::Backoff | Part::ErrorBackoff => "backoff",
            Part::Unschedulable | Part::Gated => "unschedulable",
            Part::Out => return,
        };
        self.entries[index].part = part;
        if part != Part::Gated || !label.starts_with("TargetPod") {
            *self.incoming.entry((queue, label.to_owned())).or_default() += 1;
        }
    }

    /// To the active queue or to rest, if no gate holds it.
    fn wake(&mut self, index: usize, worth: Worth, label: &str) {
        let now = self.now;
        let entry = &mut self.entries[index];
        let rests = worth == Worth::AfterBackoff && entry.rests(now);
        let in_full = entry.turned_down_by().is_empty() || label == "NodeUpdateLoad";
        if let Some(gate) = entry.held_by() {
            entry.gate = Some(gate);
            entry.rejectors.insert(gate);
            entry.retry_at = None;
            return self.put(index, Part::Gated, label);
        }
        entry.gate = None;
        let part = match (rests, in_full) {
            (false, _) => Part::Active,
            (true, false) => Part::Backoff,
            (true, true) => Part::ErrorBackoff,
        };
        self.put(index, part, label);
    }

    pub(super) fn add(&mut self, pod: &Arc<Pod>, plugins: Vec<&'static str>) {
        let order = self.order();
        self.entries.push(Entry {
            pod: Arc::clone(pod),
            part: Part::Out,
            plugins,
            attempts: 0,
            since: self.now,
            order,
            errors: 0,
            rejections: 0,
            rejectors: BTreeSet::new(),
            pending: BTreeSet::new(),
            gate: None,
            retry_at: None,
            flushed_at: Duration::ZERO,
            missed: Vec::new(),
        });
        let index = self.entries.len() - 1;
        self.wake(index, Worth::AtOnce, "UnscheduledPodAdd");
    }

    /// The head of the active queue, else of those that rest after a rejection.
    pub(super) fn pop(&mut self) -> Option<String> {
        let numbered = || self.entries.iter().enumerate();
        let active = numbered().filter(|(_, entry)| entry.part == Part::Active);
        let active = active.min_by_key(|(_, entry)| entry.rank());
        let resting = numbered().filter(|(_, entry)| entry.part == Part::Backoff);
        let resting = resting.min_by_key(|(_, entry)| (entry.expiry(), entry.rank()));
        let (index, early) = match (active, resting) {
            (Some((index, _)), _) => (index, false),
            (None, Some((index, _))) => (index, true),
            (None, None) => return None,
        };
        if early {
            self.put(index, Part::Active, "PopFromBackoffQ");
        }
        let entry = &mut self.entries[index];
        entry.part = Part::Out;
        entry.attempts += 1;
        entry.missed.clear();
        Some(entry.pod.uid().to_string())
    }

    pub(super) fn fail(&mut self, uid: &str, verdict: &Verdict) {
        let index = self.find(uid).expect("an entry");
        let (order, now) = (self.order(), self.now);
        let entry = &mut self.entries[index];
        entry.rejectors = verdict.rejectors.iter().copied().collect();
        entry.pending = verdict.pending.iter().copied().collect();
        if entry.turned_down_by().is_empty() {
            entry.errors += 1;
        } else {
            entry.errors = 0;
            entry.rejections += 1;
        }
        (entry.since, entry.order, entry.flushed_at) = (now, order, Duration::ZERO);
        let rested = Duration::from_secs(entry.expiry() + 1);
        entry.retry_at = verdict.retry_at.map(|at| at.max(rested));
        let missed = std::mem::take(&mut entry.missed);
        let worths = missed.iter().map(|news| entry.worth(news));
        let least = if entry.turned_down_by().is_empty() {
            Worth::AfterBackoff
        } else {
            Worth::Nothing
        };
        let worth = worths.fold(least, Ord::max);
        if worth == Worth::Nothing {
            self.put(index, Part::Unschedulable, "ScheduleAttemptFailure");
        } else {
            self.wake(index, worth, "ScheduleAttemptFailure");
        }
    }

    /// The pod is gone, bound, or being bound.
    pub(super) fn remove(&mut self, uid: &str) {
        self.entries.retain(|entry| &*entry.pod.uid().0 != uid);
    }

    pub(super) fn happened(&mut self, news: &News) {
        for index in 0..self.entries.len() {
            if self.entries[index].in_pool() {
                self.consider(index, news);
            } else if self.entries[index].part == Part::Out {
                self.entries[index].missed.push(news.clone());
            }
        }
    }

    fn consider(&mut self, index: usize, news: &News) {
        let worth = self.entries[index].worth(news);
        if worth > Worth::Nothing {
            self.wake(index, worth, news.label);
        }
    }

    /// The pod was changed: `news`, one for each property that changed.
    pub(super) fn update(&mut self, pod: &Arc<Pod>, news: &[News]) {
        let index = self.find(&pod.uid().0).expect("an entry");
        let entry = &mut self.entries[index];
        if entry.part == Part::Out {
            return entry.missed.extend(news.iter().cloned());
        }
        entry.pod = Arc::clone(pod);
        let was = entry.part;
        for one in news {
            let entry = &self.entries[index];
            if entry.in_pool() && entry.part == was {
                self.consider(index, one);
            }
        }
    }

    pub(super) fn flush(&mut self) {
        let now = self.now;
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            let resting = matches!(entry.part, Part::Backoff | Part::ErrorBackoff);
            if resting && !entry.rests(now) {
                self.put(index, Part::Active, "BackoffComplete");
            }
        }
        for index in 0..self.entries.len() {
            let entry = &mut self.entries[index];
            if entry.in_pool() && entry.retry_at.is_some_and(|at| at <= now) {
                entry.retry_at = None;
                self.wake(index, Worth::AfterBackoff, "RetryTime");
            }
        }
        if now < self.next_pool_flush {
            return;
        }
        self.next_pool_flush = now + Duration::from_secs(30);
        for index in 0..self.entries.len() {
            let entry = &mut self.entries[index];
            let looked_at = entry.since.max(entry.flushed_at);
            if entry.in_pool() && now > looked_at + Duration::from_mins(5) {
                entry.flushed_at = now;
                self.wake(index, Worth::AfterBackoff, "UnschedulableTimeout");
            }
        }
    }

    /// When a flush would do something.
    pub(super) fn next_flush(&self) -> Option<Duration> {
        let times = self.entries.iter().flat_map(|entry| match entry.part {
            Part::Backoff | Part::ErrorBackoff => {
                [Some(Duration::from_secs(entry.expiry() + 1)), None]
            }
            Part::Unschedulable | Part::Gated => [entry.retry_at, Some(self.next_pool_flush)],
            Part::Active | Part::Out => [None, None],
        });
        times.flatten().min()
    }
}
