//! The brown-out: so many agents fell silent at once that the pipeline is at fault, not the
//! nodes.
//!
//! Takes at each look which nodes report and since when the others are silent, says whether
//! a brown-out is on. When a silence began is reckoned from the samples, so rare looks see
//! what frequent ones would have seen.
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
    BROWN_OUT_ENTER_PERCENT, BROWN_OUT_GRACE, BROWN_OUT_LEAVE_PERCENT, BROWN_OUT_MEMBERS,
    BROWN_OUT_NODES, BROWN_OUT_WITHIN,
};

/// Watches over the agents of all nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// When the first look was.
    began: Option<Moment>,
    /// When the last look was that judged.
    looked: Option<Moment>,
    /// Since when the brown-out is on.
    since: Option<Moment>,
    total: u64,
    fresh: usize,
    silences: Vec<Silence>,
    /// When the silent nodes last reported, sorted; kept to be filled without allocating.
    reports: Vec<Moment>,
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
        let began = *self.began.get_or_insert(now);
        if now < began.after(BROWN_OUT_GRACE) {
            return;
        }
        let looked = self.looked.replace(now).unwrap_or(began);
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

#[cfg(test)]
mod tests;
