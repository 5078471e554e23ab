//! Events that wait to be written, and the series of those that repeat.
//!
//! Takes events as they happen, gives the next write. A warning that repeats (same pod,
//! reason and note) is not a new event: its count is patched at the second time, then at
//! most once per period. Knows time only as it is told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use plimsoll_core::PodEvent;
use plimsoll_objects::Uid;
use tokio::time::Instant;

use super::body::event_name;

/// Events that wait at most, a minute and a half at the default rate; the oldest is dropped.
/// With notes of 1 KB they are 10 MB.
const QUEUE_MAX: usize = 10_000;
/// Series known at most: warnings of so many pods are told apart from new ones.
const SERIES_MAX: usize = 4_096;
/// Time between two patches of one series (client-go: 6 min).
const PERIOD: Duration = Duration::from_mins(6);
/// A series that was not added to for so long is forgotten; the API server forgets events
/// after an hour.
const FORGET_AFTER: Duration = Duration::from_mins(30);

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    queue: VecDeque<Queued>,
    series: IndexMap<SeriesKey, Series>,
    last_stamp: i64,
}

/// One write to be done.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) what: What,
    /// How often it was tried before.
    pub(super) tries: u32,
}

/// What is written.
#[derive(Debug)]
pub(super) enum What {
    /// A new event.
    New(Arc<Draft>),
    /// The count of a series.
    Count(Count),
}

/// A new event.
#[derive(Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) event: PodEvent,
    /// `metadata.name`.
    pub(super) name: String,
    /// When it happened.
    pub(super) at: Timestamp,
}

/// The count of a series.
#[derive(Debug)]
pub(super) struct Count {
    key: SeriesKey,
    pub(super) namespace: Arc<str>,
    pub(super) name: String,
    pub(super) times: u32,
    pub(super) last: Timestamp,
}

/// What an event that was taken led to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pushed {
    /// It was added to a series.
    pub(super) aggregated: bool,
    /// Another one was dropped for it.
    pub(super) overflowed: bool,
}

#[derive(Debug)]
enum Queued {
    New(Arc<Draft>, u32),
    Count(SeriesKey, u32),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SeriesKey {
    pod: Uid,
    scheduler_name: Arc<str>,
    reason: &'static str,
    note: String,
}

#[derive(Debug)]
struct Series {
    namespace: Arc<str>,
    name: String,
    /// Times it happened.
    count: u32,
    /// Times the API server knows of; 0 while the first event is on its way.
    told: u32,
    last: Timestamp,
    seen_at: Instant,
    told_at: Instant,
    /// Whether a write of it waits or is under way.
    in_hand: bool,
}

// === impl Backlog ===

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes an event that happened at `wall`.
    pub(super) fn push(&mut self, event: PodEvent, now: Instant, wall: Timestamp) -> Pushed {
        // What is normal is said once per life of a pod; only warnings repeat.
        let key = event.warning.then(|| SeriesKey::of(&event));
        if let Some(series) = key.as_ref().and_then(|key| self.series.get_mut(key)) {
            series.count = series.count.saturating_add(1);
            (series.last, series.seen_at) = (wall, now);
            if series.is_due(now) {
                series.in_hand = true;
                self.queue.extend(key.map(|key| Queued::Count(key, 0)));
            }
            return Pushed {
                aggregated: true,
                overflowed: self.shed(now),
            };
        }
        let name = event_name(&event.pod.key.name, self.stamp(wall));
        if let Some(key) = key {
            self.begin_series(key, Series::begun(&event, &name, now, wall));
        }
        self.queue.push_back(Queued::New(
            Arc::new(Draft {
                event,
                name,
                at: wall,
            }),
            0,
        ));
        Pushed {
            aggregated: false,
            overflowed: self.shed(now),
        }
    }

    /// The next write.
    pub(super) fn next(&mut self) -> Option<Outgoing> {
        loop {
            match self.queue.pop_front()? {
                Queued::New(draft, tries) => {
                    return Some(Outgoing {
                        what: What::New(draft),
                        tries,
                    });
                }
                Queued::Count(key, tries) => {
                    // A series that was forgotten meanwhile has nothing to say.
                    let Some(series) = self.series.get(&key) else {
                        continue;
                    };
                    let what = What::Count(series.to_count(key));
                    return Some(Outgoing { what, tries });
                }
            }
        }
    }

    /// A write was accepted.
    pub(super) fn written(&mut self, sent: &Outgoing, now: Instant) {
        let (key, told) = match &sent.what {
            What::New(draft) => (SeriesKey::of(&draft.event), 1),
            What::Count(count) => (count.key.clone(), count.times),
        };
        let Some(series) = self.series.get_mut(&key) else {
            return;
        };
        (series.told, series.told_at, series.in_hand) = (told, now, false);
        if series.is_due(now) && series.count > series.told {
            series.in_hand = true;
            self.queue.push_back(Queued::Count(key, 0));
        }
    }

    /// A write was given up: the series it belongs to is forgotten, so that a repeat is new.
    pub(super) fn failed(&mut self, sent: &Outgoing) {
        let key = match &sent.what {
            What::New(draft) => SeriesKey::of(&draft.event),
            What::Count(count) => count.key.clone(),
        };
        self.series.swap_remove(&key);
    }

    /// A write is to be tried again before all others.
    pub(super) fn put_back(&mut self, sent: Outgoing) {
        self.queue.push_front(match sent.what {
            What::New(draft) => Queued::New(draft, sent.tries),
            What::Count(count) => Queued::Count(count.key, sent.tries),
        });
    }

    /// Queues the counts that are due, and forgets series that have ended.
    pub(super) fn sweep(&mut self, now: Instant) {
        for (key, series) in &mut self.series {
            if series.count > series.told && series.is_due(now) {
                series.in_hand = true;
                self.queue.push_back(Queued::Count(key.clone(), 0));
            }
        }
        self.series
            .retain(|_, series| now.saturating_duration_since(series.seen_at) < FORGET_AFTER);
    }

    fn begin_series(&mut self, key: SeriesKey, series: Series) {
        if self.series.len() >= SERIES_MAX {
            self.series.swap_remove_index(0);
        }
        self.series.insert(key, series);
    }

    /// Drops the oldest if there are too many.
    fn shed(&mut self, now: Instant) -> bool {
        if self.queue.len() <= QUEUE_MAX {
            return false;
        }
        match self.queue.pop_front() {
            Some(Queued::New(draft, _)) => {
                self.series.swap_remove(&SeriesKey::of(&draft.event));
            }
            Some(Queued::Count(key, _)) => {
                if let Some(series) = self.series.get_mut(&key) {
                    (series.in_hand, series.told_at) = (false, now);
                }
            }
            None => return false,
        }
        true
    }

    /// Nanoseconds of a time, made unlike all before: two events of one pod in one
    /// nanosecond have different names.
    fn stamp(&mut self, wall: Timestamp) -> i64 {
        let nanos = i64::try_from(wall.as_nanosecond()).unwrap_or(i64::MAX);
        self.last_stamp = nanos.max(self.last_stamp.saturating_add(1));
        self.last_stamp
    }
}

// === impl SeriesKey ===

impl SeriesKey {
    fn of(event: &PodEvent) -> Self {
        Self {
            pod: event.pod.uid.clone(),
            scheduler_name: Arc::clone(&event.scheduler_name),
            reason: event.reason,
            note: event.note.clone(),
        }
    }
}

// === impl Series ===

impl Series {
    fn begun(event: &PodEvent, name: &str, now: Instant, wall: Timestamp) -> Self {
        Self {
            namespace: Arc::clone(&event.pod.key.namespace),
            name: name.to_owned(),
            count: 1,
            told: 0,
            last: wall,
            seen_at: now,
            told_at: now,
            in_hand: true,
        }
    }

    /// Whether a count may be written: the second time at once, then once per period.
    fn is_due(&self, now: Instant) -> bool {
        let rested = now.saturating_duration_since(self.told_at) >= PERIOD;
        !self.in_hand && (self.told == 1 || rested)
    }

    fn to_count(&self, key: SeriesKey) -> Count {
        Count {
            key,
            namespace: Arc::clone(&self.namespace),
            name: self.name.clone(),
            times: self.count,
            last: self.last,
        }
    }
}

#[cfg(test)]
mod tests;
