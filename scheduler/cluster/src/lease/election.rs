//! The election: answers of the API server and time in, the next request out.
//!
//! The rules are those of client-go's `tools/leaderelection`. Whether a lease of another has
//! expired is told by the monotonic clock of this process since it last saw the lease change;
//! no time in the lease counts. Stricter than client-go in two points: leading ends
//! `renew_deadline` after the last good renewal was *sent*, and at once when another is seen
//! to hold the lease.

use std::time::Duration;

use jiff::Timestamp;

use super::record::{Record, micro_time};

/// client-go's `JitterFactor`: a candidate waits up to 1 + this many retry periods.
const JITTER_FACTOR: f64 = 1.2;

/// The durations of `leaderElection`; each is greater than the next.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// How long others wait before they take over.
    pub lease: Duration,
    /// How long after a renewal was sent this process may lead.
    pub renew_deadline: Duration,
    /// Pause between tries.
    pub retry: Duration,
}

/// One instant, and chance.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Monotonic time.
    pub mono: Duration,
    /// Wall-clock time, written for people only.
    pub wall: Timestamp,
    /// A random number in 0..1.
    pub chance: f64,
}

/// A lease as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub record: Record,
    /// Its `resourceVersion`.
    pub version: String,
}

/// What came of the last action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The pause is over.
    Waited,
    /// The lease, or none.
    Read(Option<Found>),
    /// Written; the new `resourceVersion`.
    Written(String),
    /// Refused, unanswered or unreadable: it may have been carried out.
    Failed,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Read the lease.
    Read,
    /// Create the lease.
    Create(Record),
    /// Replace the lease, only at this `resourceVersion`.
    Update(Record, String),
    /// Wait until this monotonic time.
    Wait(Duration),
    /// Leading is over: end the process.
    Lost,
}

/// An action, and whether leading began with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What to do next.
    pub action: Action,
    /// This process has just become the leader.
    pub began: bool,
}

/// One candidate.
#[derive(Debug)]
pub struct Election {
    identity: String,
    timing: Timing,
    seen: Option<Seen>,
    sent: Option<(Record, Duration)>,
    leads_until: Option<Duration>,
    lost: bool,
    slow_paths: u64,
}

#[derive(Debug)]
struct Seen {
    found: Found,
    at: Duration,
}

// === impl Election ===

impl Election {
    /// A candidate that has seen nothing yet. Begin with [`Answer::Waited`].
    pub fn new(identity: String, timing: Timing) -> Self {
        Self {
            identity,
            timing,
            seen: None,
            sent: None,
            leads_until: None,
            lost: false,
            slow_paths: 0,
        }
    }

    /// The monotonic time before which this process may act as the leader. An answer that
    /// has not come by then is [`Answer::Failed`].
    pub fn leads_until(&self) -> Option<Duration> {
        self.leads_until.filter(|_| !self.lost)
    }

    /// Whether this process may act as the leader at `mono`.
    pub fn leads(&self, mono: Duration) -> bool {
        self.leads_until().is_some_and(|until| mono < until)
    }

    /// How often a renewal had to read the lease first.
    pub fn slow_paths(&self) -> u64 {
        self.slow_paths
    }

    /// Takes what came of the last action, gives the next.
    pub fn step(&mut self, now: Moment, answer: Answer) -> Step {
        let led = self.leads_until.is_some();
        let action = self.next(now, answer);
        if matches!(action, Action::Lost) {
            self.lost = true;
        }
        Step {
            action,
            began: !led && self.leads_until.is_some(),
        }
    }

    /// What to write to hand the lease over, if this process holds it. Leading ends here.
    pub fn release(&mut self, now: Moment) -> Option<(Record, String)> {
        let leads = self.leads(now.mono);
        self.lost = true;
        let seen = self.seen.as_ref().filter(|_| leads)?;
        let time = micro_time(now.wall);
        let record = Record {
            holder: String::new(),
            duration_seconds: 1,
            acquired: time.clone(),
            renewed: time,
            transitions: seen.found.record.transitions,
        };
        Some((record, seen.found.version.clone()))
    }

    fn next(&mut self, now: Moment, answer: Answer) -> Action {
        let sent = self.sent.take();
        if self.lost || self.leads_until.is_some_and(|until| now.mono >= until) {
            return Action::Lost;
        }
        match (answer, sent) {
            (Answer::Waited, _) => self.try_fast(now),
            (Answer::Read(None), _) => self.create(now),
            (Answer::Read(Some(found)), _) => self.judge(now, found),
            (Answer::Written(version), Some((record, at))) => {
                self.written(now, Found { record, version }, at)
            }
            (Answer::Failed, Some(_)) if self.leads_until.is_some() => Action::Read,
            (Answer::Written(_) | Answer::Failed, _) => self.pause(now),
        }
    }

    /// Who leads renews what it has seen last, without a look.
    fn try_fast(&mut self, now: Moment) -> Action {
        match &self.seen {
            Some(seen) if self.leads_until.is_some() => {
                let found = seen.found.clone();
                self.update(now, found)
            }
            _ => Action::Read,
        }
    }

    fn judge(&mut self, now: Moment, found: Found) -> Action {
        let ours = found.record.holder == self.identity;
        let free = found.record.holder.is_empty();
        let at = match &self.seen {
            Some(seen) if seen.found.record == found.record => seen.at,
            _ => now.mono,
        };
        let expired = at.saturating_add(found.record.duration()) <= now.mono;
        self.seen = Some(Seen {
            found: found.clone(),
            at,
        });
        if self.leads_until.is_some() {
            if !ours && !free {
                return Action::Lost;
            }
            self.slow_paths += 1;
        }
        if ours || free || expired {
            self.update(now, found)
        } else {
            self.pause(now)
        }
    }

    fn create(&mut self, now: Moment) -> Action {
        let record = self.record(now, None);
        self.sent = Some((record.clone(), now.mono));
        Action::Create(record)
    }

    fn update(&mut self, now: Moment, found: Found) -> Action {
        let record = self.record(now, Some(&found.record));
        self.sent = Some((record.clone(), now.mono));
        Action::Update(record, found.version)
    }

    fn record(&self, now: Moment, old: Option<&Record>) -> Record {
        let time = micro_time(now.wall);
        let (acquired, transitions) = match old {
            Some(old) if old.holder == self.identity => (old.acquired.clone(), old.transitions),
            Some(old) => (time.clone(), old.transitions.saturating_add(1)),
            None => (time.clone(), 0),
        };
        Record {
            holder: self.identity.clone(),
            duration_seconds: i64::try_from(self.timing.lease.as_secs()).unwrap_or(i64::MAX),
            acquired,
            renewed: time,
            transitions,
        }
    }

    fn written(&mut self, now: Moment, found: Found, sent: Duration) -> Action {
        self.seen = Some(Seen {
            found,
            at: now.mono,
        });
        let until = sent.saturating_add(self.timing.renew_deadline);
        if now.mono < until {
            self.leads_until = Some(until);
        }
        self.pause(now)
    }

    /// A leader tries again after the retry period, and looks at its deadline in time.
    fn pause(&self, now: Moment) -> Action {
        let retry = match self.leads_until {
            Some(_) => self.timing.retry,
            None => self
                .timing
                .retry
                .mul_f64(1.0 + JITTER_FACTOR * now.chance.clamp(0.0, 1.0)),
        };
        let then = now.mono.saturating_add(retry);
        Action::Wait(self.leads_until.map_or(then, |until| until.min(then)))
    }
}

#[cfg(test)]
mod tests;
