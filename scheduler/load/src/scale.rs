//! By how much expectations are off, told by the nodes that still report.
//!
//! Takes, of the fresh nodes, what they carry and what they would be expected to carry had
//! they been silent; gives the factor by which a silent node's expected use is scaled in a
//! brown-out:
//!
//! ```text
//! factor(A) = sum(used) / sum(expected after a silence of A)
//! ```
//!
//! The sums, not a median of ratios: a node that carries next to nothing has any ratio. The
//! same age, because the expectation of a node that was just lost still rests on its pods'
//! own rates, and needs no scaling, while that of one long silent is its pods' requests.

use plimsoll_framework::LoadResource;

use crate::age::Aged;
use crate::figures::{PerResource, amount};
use crate::ledger::Ledger;
use crate::options::{LARGEST_SCALE, LEAST_SCALE};

/// The sums over fresh nodes, by resource; without any, nothing is scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scale(PerResource<Sums>);

/// In the resource's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    used: f64,
    targets: f64,
    estimates: f64,
    overhead: f64,
}

// === impl Sums ===

impl Sums {
    const NONE: Self = Self {
        used: 0.0,
        targets: 0.0,
        estimates: 0.0,
        overhead: 0.0,
    };
}

// === impl Scale ===

impl Scale {
    /// Scales nothing.
    pub(crate) const NONE: Self = Self([Sums::NONE; LoadResource::ALL.len()]);

    /// Takes a fresh node that carries `used` of `resource`.
    pub(crate) fn add(&mut self, resource: LoadResource, used: f64, ledger: &Ledger) {
        let sums = &mut self.0[resource as usize];
        sums.used += used;
        sums.targets += ledger.targets;
        sums.estimates += ledger.estimates;
        sums.overhead += ledger.overhead;
    }

    /// What to multiply the expected use of a node by that is silent for so long.
    pub(crate) fn factor(&self, resource: LoadResource, aged: &Aged) -> f64 {
        let sums = &self.0[resource as usize];
        let pods = sums.targets * aged.drift + sums.estimates * (1.0 - aged.drift);
        let factor = sums.used / (pods + sums.overhead * aged.overhead);
        amount(factor).map_or(1.0, |factor| factor.clamp(LEAST_SCALE, LARGEST_SCALE))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::LoadResource::{Cpu, Memory};

    use super::Scale;
    use crate::age::Aged;
    use crate::ledger::Ledger;
    use crate::options::LoadOptions;

    /// Pods that request 400 and use 90, and 10 of overhead.
    const LEDGER: Ledger = Ledger {
        in_flight: 0.0,
        departing: 0.0,
        shown: 90.0,
        estimates: 400.0,
        targets: 90.0,
        overhead: 10.0,
    };

    fn after(minutes: u64) -> Aged {
        let age = Duration::from_secs(60 * minutes);
        Aged::of(age, Duration::from_secs(1), &LoadOptions::default())
    }

    fn scale(used: f64) -> Scale {
        let mut scale = Scale::default();
        scale.add(Cpu, used, &LEDGER);
        scale
    }

    #[test]
    fn where_nobody_reports_nothing_is_scaled() {
        assert_eq!(Scale::default().factor(Cpu, &after(1)), 1.0);
        assert_eq!(scale(100.0).factor(Memory, &after(1)), 1.0);
    }

    #[test]
    fn rates_of_pods_are_believed_and_requests_scaled() {
        let scale = scale(100.0);
        assert!((scale.factor(Cpu, &after(0)) - 1.0).abs() < 1e-9);
        assert!((scale.factor(Cpu, &after(100_000)) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn nodes_weigh_as_much_as_they_carry() {
        let mut scale = scale(200.0);
        scale.add(Cpu, 0.0, &LEDGER);
        assert!((scale.factor(Cpu, &after(0)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_factor_is_bounded() {
        assert_eq!(scale(0.0).factor(Cpu, &after(0)), 0.1);
        assert_eq!(scale(1e9).factor(Cpu, &after(0)), 10.0);
        let mut unexpected = Scale::default();
        unexpected.add(Cpu, 5.0, &Ledger::default());
        assert_eq!(unexpected.factor(Cpu, &after(0)), 1.0);
    }
}
