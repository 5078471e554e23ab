//! The blend: one resource's row from figure, ledger, capacity and age.
//!
//! Takes what is known of one resource of one node and an instant, gives the row that
//! plugins judge by:
//!
//! ```text
//! used     = c * (measured + in flight - departing) + (1 - c) * max(expected, floor)
//! expected = pods, drifting from their last rates to their estimates, plus the node's
//!            last known overhead
//! ```
//!
//! Bandwidth is committed, not only used: a running pod may at any time take what it
//! declared, so the larger of the measured and the declared counts.

use plimsoll_framework::{LoadResource, ResourceLoad};

use crate::age::decay;
use crate::figures::Judged;
use crate::ledger::Ledger;
use crate::moment::Moment;
use crate::options::LoadOptions;

/// What is known of one resource of one node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) resource: LoadResource,
    pub(crate) figure: Option<&'a Judged>,
    pub(crate) ledger: &'a Ledger,
    pub(crate) capacity: Option<f64>,
    /// Weight of the figure by its age, 0..=1.
    pub(crate) confidence: f64,
    /// The least that a silent node is taken to carry.
    pub(crate) floor: Option<f64>,
}

// === impl Known ===

impl Known<'_> {
    /// The row at `now`.
    pub(crate) fn row(&self, now: Moment, options: &LoadOptions) -> ResourceLoad {
        let expected = self.expected(now, options);
        ResourceLoad {
            measured: self.figure.map(|figure| figure.value),
            in_flight: self.ledger.in_flight,
            departing: self.ledger.departing,
            expected,
            used: self.used(expected),
            used_p95: None,
            capacity: self.capacity,
        }
    }

    fn used(&self, expected: Option<f64>) -> Option<f64> {
        let Some(figure) = self.figure else {
            return expected;
        };
        let reckoned = self.reckoned(figure.value);
        let stand_in = expected.unwrap_or(reckoned);
        let stand_in = self.floor.map_or(stand_in, |floor| floor.max(stand_in));
        Some(self.confidence * reckoned + (1.0 - self.confidence) * stand_in)
    }

    /// The figure, brought up to date by the ledger.
    fn reckoned(&self, measured: f64) -> f64 {
        let present = (measured - self.ledger.departing).max(0.0);
        let committed = match self.resource {
            LoadResource::Rx | LoadResource::Tx => present.max(self.ledger.shown),
            LoadResource::Cpu | LoadResource::Memory => present,
        };
        committed + self.ledger.in_flight
    }

    /// `None` where there is neither a figure nor an estimate: bandwidth that nobody
    /// declared is unknown, not zero.
    fn expected(&self, now: Moment, options: &LoadOptions) -> Option<f64> {
        let ledger = self.ledger;
        let Some(figure) = self.figure else {
            let unknown = matches!(self.resource, LoadResource::Rx | LoadResource::Tx)
                && ledger.estimates <= 0.0;
            return (!unknown).then_some(ledger.targets);
        };
        let age = now.age_of(figure.taken);
        let drift = decay(age, options.estimate_drift);
        let pods = ledger.targets * drift + ledger.estimates * (1.0 - drift);
        Some(pods + ledger.overhead * decay(age, options.overhead_fade))
    }
}

#[cfg(test)]
mod tests;
