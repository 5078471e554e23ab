//! Which nodes are worth another look by pods that were rejected for load.
//!
//! Takes a node's row whenever it changed, says whether the node is to be announced:
//!
//! - one of its ratios fell by [`FALL`] below its highest value since the last
//!   announcement, or is judged no more; after [`SETTLE`] by [`SMALL_FALL`];
//! - a capacity grew by that share above its smallest value since then: a pod is rejected
//!   with its own use, of which the ratio alone tells nothing;
//! - its figures are fresh again, or its silence has lasted another minute: a line drawn by
//!   the age of figures may be crossed.
//!
//! A pod that was rejected above a line is so never left asleep by a fall of [`FALL`] or
//! more: the highest value is at no time below the ratio that rejected it. A smaller fall
//! wakes it once it has lasted.

use std::time::Duration;

use plimsoll_framework::{LoadResource, NodeLoad};

use crate::figures::PerResource;
use crate::moment::Moment;
use crate::options::{FALL, FALL_SLACK, LONGEST_WATCHED_SILENCE, SETTLE, SILENCE_STEP, SMALL_FALL};

/// Ratios of a row: each resource by its mean and by its peaks.
const RATIOS: usize = 2 * LoadResource::ALL.len();
/// The least time by which a line can be crossed.
const ONE_INSTANT: Duration = Duration::from_nanos(1);
/// A ratio that is not known rejects nobody: it is below all others.
const UNKNOWN: f64 = f64::NEG_INFINITY;
/// A capacity that is not known rejects nobody: it is above all others.
const BOUNDLESS: f64 = f64::INFINITY;

/// What was seen of one node since its last announcement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Falls {
    highest: [f64; RATIOS],
    smallest: PerResource<f64>,
    was_fresh: bool,
    /// Steps of silence that were seen.
    silence: u64,
    /// When the node was last announced, or first seen.
    told: Option<Moment>,
}

/// What of a row pods may be rejected by.
struct View {
    ratios: [f64; RATIOS],
    capacities: PerResource<f64>,
}

impl Default for Falls {
    fn default() -> Self {
        Self {
            highest: [UNKNOWN; RATIOS],
            smallest: [BOUNDLESS; LoadResource::ALL.len()],
            was_fresh: false,
            silence: 0,
            told: None,
        }
    }
}

// === impl Falls ===

impl Falls {
    /// Takes the row that changed at `at`; whether the node is to be announced.
    pub(crate) fn see(&mut self, at: Moment, row: &NodeLoad) -> bool {
        let view = View::of(row);
        let is_fresh = row.confidence >= 1.0;
        let silence = if is_fresh { 0 } else { steps(row.sample_age) };
        let told = *self.told.get_or_insert(at);
        let fall = if at.age_of(told) >= SETTLE {
            SMALL_FALL
        } else {
            FALL
        };
        let announced =
            self.is_below(&view, fall) || (is_fresh && !self.was_fresh) || silence > self.silence;
        self.was_fresh = is_fresh;
        self.silence = silence;
        if announced {
            self.highest = view.ratios;
            self.smallest = view.capacities;
            self.told = Some(at);
            return true;
        }
        for (highest, ratio) in self.highest.iter_mut().zip(view.ratios) {
            *highest = highest.max(ratio);
        }
        for (smallest, capacity) in self.smallest.iter_mut().zip(view.capacities) {
            *smallest = smallest.min(capacity);
        }
        false
    }

    fn is_below(&self, view: &View, fall: f64) -> bool {
        let mut ratios = self.highest.iter().zip(&view.ratios);
        let mut capacities = self.smallest.iter().zip(&view.capacities);
        ratios.any(|(highest, ratio)| highest - ratio >= fall - FALL_SLACK)
            || capacities.any(|(smallest, capacity)| *capacity > smallest * (1.0 + fall))
    }
}

// === impl View ===

impl View {
    /// Where there are no peaks, plugins judge by the mean.
    fn of(row: &NodeLoad) -> Self {
        let mut view = Self {
            ratios: [UNKNOWN; RATIOS],
            capacities: [BOUNDLESS; LoadResource::ALL.len()],
        };
        for (pair, resource) in view.ratios.chunks_exact_mut(2).zip(LoadResource::ALL) {
            let load = row.get(resource);
            let capacity = load.capacity.filter(|capacity| *capacity > 0.0);
            if let (Some(used), Some(capacity), [mean, peak]) = (load.used, capacity, pair) {
                *mean = used / capacity;
                *peak = load.used_p95.map_or(*mean, |used| used / capacity);
                view.capacities[resource as usize] = capacity;
            }
        }
        view
    }
}

/// Steps that a silence is past, up to the longest that is watched: a line that lies at a
/// step is crossed only after it.
fn steps(age: Option<Duration>) -> u64 {
    let past = age.unwrap_or_default().saturating_sub(ONE_INSTANT);
    past.min(LONGEST_WATCHED_SILENCE).as_secs() / SILENCE_STEP.as_secs()
}

#[cfg(test)]
mod tests;
