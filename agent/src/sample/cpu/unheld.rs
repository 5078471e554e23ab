//! What the cgroup counters do not hold: takes both views of the same time, gives the CPU
//! to add to the counters, and whether the counters miss too much to be believed.
//!
//! Interrupts that hit an idle CPU are in no group, those that hit a task are or are not,
//! by the kernel's build; kernel threads are in no group below the root of v2. Both show in
//! the gap between ticks and counters, but at one second that gap is mostly the ticks' own
//! error: so it is taken as a mean over a minute, and never above what can be missing at
//! all: interrupts, and (v2) kernel time that the groups do not have.

use std::time::Duration;

use plimsoll_kernel::Ewma;

use crate::sample::cgroup::Exact;
use crate::sample::counter::Tick;
use crate::sample::stat::Shares;

/// Long against the seconds in which ticks err, short against the life of a workload.
const MEAN_OVER: Duration = Duration::from_mins(1);
/// Samples before the mean gap may speak against the counters.
const SAMPLES_TO_JUDGE: u32 = 30;
/// A gap above what can be missing, in millicores and as a share of capacity, that ticks
/// alone do not make: measured, they err by at most 12 points of one CPU over a minute.
const TOLERATED_MILLICORES: f64 = 500.0;
const TOLERATED_SHARE: f64 = 0.25;

/// The learned means, all in millicores.
#[derive(Debug)]
pub(super) struct Unheld {
    gap: Ewma,
    irq: Ewma,
    kernel: Ewma,
    last_at: Option<Duration>,
    last_gap: f64,
    tolerated: f64,
}

impl Default for Unheld {
    fn default() -> Self {
        Self {
            gap: Ewma::new(MEAN_OVER),
            irq: Ewma::new(MEAN_OVER),
            kernel: Ewma::new(MEAN_OVER),
            last_at: None,
            last_gap: 0.0,
            tolerated: f64::INFINITY,
        }
    }
}

impl Unheld {
    /// Takes what counters and ticks say of the same period.
    pub(super) fn learn(&mut self, exact: Exact, shares: Shares, capacity: f64, tick: Tick) {
        let before = self.last_at.replace(tick.at);
        let dt = before.and_then(|before| tick.at.checked_sub(before));
        // The first period began before the first call; its length only weighs its value.
        let dt = dt.unwrap_or(tick.longest);
        self.last_gap = shares.busy * capacity - exact.millicores;
        self.tolerated = TOLERATED_MILLICORES.max(TOLERATED_SHARE * capacity);
        self.gap.update(self.last_gap, dt);
        self.irq.update(shares.irq * capacity, dt);
        if let Some(system) = exact.system_millicores {
            self.kernel.update(shares.system * capacity - system, dt);
        }
    }

    /// Millicores to add to the counters. Of the mean, the part that is interrupts follows
    /// the interrupts of this tick, `irq`.
    pub(super) fn now(&self, irq: Option<f64>) -> f64 {
        let missing = self.gap().min(self.can_be_missing()).max(0.0);
        let irq_mean = self.irq.value().unwrap_or(0.0);
        if irq_mean <= 0.0 {
            return missing;
        }
        let part_that_is_irq = (missing / irq_mean).min(1.0);
        let swing = irq.map_or(0.0, |irq| irq - irq_mean);
        (missing + part_that_is_irq * swing).max(0.0)
    }

    /// True if, over a minute, ticks show far more than the counters and all that they can
    /// miss: the tree is not the whole machine.
    pub(super) fn fails(&self) -> bool {
        self.gap.samples() >= SAMPLES_TO_JUDGE
            && self.gap() - self.can_be_missing() > self.tolerated
    }

    /// True if the newest gap is large: a group may be new since the last walk.
    pub(super) fn misses_a_group(&self) -> bool {
        self.last_gap - self.can_be_missing() > self.tolerated
    }

    fn gap(&self) -> f64 {
        self.gap.value().unwrap_or(0.0)
    }

    fn can_be_missing(&self) -> f64 {
        let mean = |part: &Ewma| part.value().unwrap_or(0.0).max(0.0);
        mean(&self.irq) + mean(&self.kernel)
    }
}

#[cfg(test)]
mod tests;
