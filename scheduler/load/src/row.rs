//! The blend: one resource's row from figure, ledger, capacity and age.
//!
//! Takes what is known of one resource of one node, gives the row that plugins judge by:
//!
//! ```text
//! used     = c * (measured + in flight - departing) + (1 - c) * max(expected, floor)
//! expected = pods, drifting from their last rates to their estimates, plus the node's
//!            last known overhead; in a brown-out scaled
//! used_p95 = used with max(measured, p95) for measured
//! ```
//!
//! Bandwidth is committed, not only used: a running pod may at any time take what it
//! declared, so the larger of the measured and the declared counts.

use plimsoll_framework::{LoadResource, ResourceLoad};

use crate::age::Aged;
use crate::figures::Judged;
use crate::ledger::Ledger;
use crate::silence::StandIn;

/// What is known of one resource of one node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) resource: LoadResource,
    pub(crate) figure: Option<&'a Judged>,
    pub(crate) ledger: &'a Ledger,
    /// The 95th percentile beside the figure.
    pub(crate) peak: Option<f64>,
    pub(crate) capacity: Option<f64>,
    /// What the figure's age does to it.
    pub(crate) aged: Aged,
    /// How a silent node is judged.
    pub(crate) stand_in: &'a StandIn,
}

// === impl Known ===

impl Known<'_> {
    /// The row.
    pub(crate) fn row(&self) -> ResourceLoad {
        let expected = self.expected();
        let measured = self.figure.map(|figure| figure.value);
        let used = measured.map(|measured| self.used(measured, expected));
        let peak = measured.zip(self.peak);
        ResourceLoad {
            measured,
            in_flight: self.ledger.in_flight,
            departing: self.ledger.departing,
            expected,
            used: used.or(expected),
            used_p95: peak.map(|(measured, peak)| self.used(peak.max(measured), expected)),
            capacity: self.capacity,
        }
    }

    fn used(&self, measured: f64, expected: Option<f64>) -> f64 {
        let reckoned = self.reckoned(measured);
        let confidence = self.aged.confidence;
        if confidence >= 1.0 {
            return reckoned;
        }
        let expected = expected.unwrap_or(reckoned);
        let floor = self.stand_in.floor.amount(self.resource, self.capacity);
        let stand_in = floor.map_or(expected, |floor| floor.max(expected));
        confidence * reckoned + (1.0 - confidence) * stand_in
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
    fn expected(&self) -> Option<f64> {
        let (ledger, aged) = (self.ledger, &self.aged);
        if self.figure.is_none() {
            let unknown = matches!(self.resource, LoadResource::Rx | LoadResource::Tx)
                && ledger.estimates <= 0.0;
            return (!unknown).then_some(ledger.targets);
        }
        let pods = ledger.targets * aged.drift + ledger.estimates * (1.0 - aged.drift);
        let expected = pods + ledger.overhead * aged.overhead;
        if aged.confidence >= 1.0 {
            return Some(expected);
        }
        Some(expected * self.stand_in.scale.factor(self.resource, aged))
    }
}

#[cfg(test)]
mod tests;
