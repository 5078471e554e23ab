//! The brown-out: so many agents fell silent at once that the pipeline is at fault, not the
//! nodes.
//!
//! Takes at each look which nodes report and since when the others are silent, says whether
//! a brown-out is on. When a silence began is reckoned from the samples, so rare looks see
//! what frequent ones would have seen. The first look after the scheduler itself was away
//! judges nobody: it finds every agent silent.
//!
//! ```text
//!        >= 3 and > 30 % of the nodes fell silent within 60 s, not in the first 30 s
//!   live ──────────────────────────────────────────────────────────────> brown-out
//!    ^         < 15 % of them are silent still, or nobody is left            │
//!    └───────────────────────────────────────────────────────────────────────┘
//! ```
//! A node counts if it reported in the last 10 minutes (in a brown-out: before it began). A
//! node whose silence began earlier than the 60 s counts as one that is there. So a fault
//! lasts as long as its silence does, and what was silent before does not make one.

use crate::moment::Moment;
use crate::node_state::Voice;
use crate::options::{
    BROWN_OUT_AWAY, BROWN_OUT_CATCH_UP, BROWN_OUT_ENTER_PERCENT, BROWN_OUT_GRACE,
    BROWN_OUT_LEAVE_PERCENT, BROWN_OUT_MEMBERS, BROWN_OUT_NODES, BROWN_OUT_WITHIN,
};

/// Watches over the agents of all nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// When the last look was, and when the last that judged.
    looks: Option<Looks>,
    /// Since when the brown-out is on.
    since: Option<Moment>,
    total: u64,
    fresh: usize,
    silences: Vec<Silence>,
    /// When the silent nodes last reported, sorted; kept to be filled without allocating.
    reports: Vec<Moment>,
}

/// The looks up to now.
#[derive(Debug, Clone, Copy)]
struct Looks {
    last: Moment,
    /// The last one that judged; the first of all if none did.
    judged: Moment,
    /// None judges before: the agents may not have been heard yet.
    deaf_until: Moment,
}

/// A node that is silent, though it reported once.
#[derive(Debug, Clone, Copy)]
struct Silence {
    began: Moment,
    last_report: Moment,
}

// === impl Watch ===

impl Watch {
    /// Begins a look.
    pub(crate) fn clear(&mut self) {
        self.fresh = 0;
        self.silences.clear();
    }

    /// Adds a node: one that never reported can be neither there nor lost.
    pub(crate) fn add(&mut self, voice: Voice) {
        match voice {
            Voice::Never => {}
            Voice::Fresh => self.fresh += 1,
            Voice::Silent { last_report, began } => {
                self.silences.push(Silence { began, last_report });
            }
        }
    }

    /// Ends a look at `now`.
    pub(crate) fn judge(&mut self, now: Moment) {
        let looks = self.looks.get_or_insert(Looks::first(now));
        let looked = looks.judged;
        if !looks.may_judge(now) {
            return;
        }
        if let Some(since) = self.since {
            self.since = self.holds(since).then_some(since);
            return;
        }
        self.since = self.outbreak(looked, now);
        self.total += u64::from(self.since.is_some());
    }

    /// Whether a brown-out is on.
    pub(crate) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Brown-outs that began since the start.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// When between the last look and `now` enough nodes were silent that fell silent
    /// together.
    fn outbreak(&mut self, looked: Moment, now: Moment) -> Option<Moment> {
        let oldest = looked.before(BROWN_OUT_WITHIN);
        let recent = self.silences.iter().filter(|one| one.began > oldest);
        if recent.count() < BROWN_OUT_NODES {
            return None;
        }
        self.silences.sort_unstable_by_key(|silence| silence.began);
        self.reports.clear();
        let reports = self.silences.iter().map(|silence| silence.last_report);
        self.reports.extend(reports);
        self.reports.sort_unstable();
        let begins = self.silences.iter().map(|silence| silence.began);
        let mut instants = begins.filter(|began| *began > looked).chain([now]);
        instants.find(|at| self.is_outbreak(*at))
    }

    fn is_outbreak(&self, at: Moment) -> bool {
        let begun = |until: Moment| self.silences.partition_point(|one| one.began <= until);
        let lost = begun(at) - begun(at.before(BROWN_OUT_WITHIN));
        let oldest = at.before(BROWN_OUT_MEMBERS);
        let gone = self.reports.partition_point(|report| *report < oldest);
        let members = self.fresh + self.reports.len() - gone;
        lost >= BROWN_OUT_NODES && lost * 100 > members * BROWN_OUT_ENTER_PERCENT
    }

    /// Whether the nodes that were lost in the brown-out are lost still.
    fn holds(&self, since: Moment) -> bool {
        let oldest = since.before(BROWN_OUT_MEMBERS);
        let together = since.before(BROWN_OUT_WITHIN);
        let members = self.silences.iter().filter(|one| one.last_report >= oldest);
        let lost = self.silences.iter().filter(|one| one.began > together);
        let (members, lost) = (self.fresh + members.count(), lost.count());
        lost > 0 && lost * 100 >= members * BROWN_OUT_LEAVE_PERCENT
    }
}

// === impl Looks ===

impl Looks {
    fn first(now: Moment) -> Self {
        Self {
            last: now,
            judged: now,
            deaf_until: now.after(BROWN_OUT_GRACE),
        }
    }

    /// Whether the look at `now` may judge. Of looks that are always rare each second one
    /// does.
    fn may_judge(&mut self, now: Moment) -> bool {
        let was_deaf = self.last < self.deaf_until;
        let was_away = now.age_of(self.last) > BROWN_OUT_AWAY;
        self.last = now;
        if was_away && !was_deaf {
            self.deaf_until = now.after(BROWN_OUT_CATCH_UP);
        }
        if now < self.deaf_until {
            return false;
        }
        self.judged = now;
        true
    }
}

#[cfg(test)]
mod tests;
