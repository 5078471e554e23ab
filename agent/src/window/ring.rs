//! The samples of the last minutes: takes values with their times, gives exact quantiles.
//! A ring of fixed size and a selection; nothing is allocated after it is made.

use std::time::Duration;

/// Five minutes at one sample per second, and some for periods that come out short.
const CAPACITY: usize = 320;

/// A quantile of the newest samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantile {
    pub(super) value: f64,
    /// Time from the first of the samples to now.
    pub(super) age: Duration,
    pub(super) samples: u32,
}

/// The newest values of one resource. `f32` holds a figure to one part in ten million.
#[derive(Debug)]
pub(super) struct Ring {
    values: Box<[f32]>,
    times: Box<[Duration]>,
    /// Where the next value goes.
    next: usize,
    length: usize,
    scratch: Vec<f32>,
}

impl Ring {
    pub(super) fn new() -> Self {
        Self {
            values: vec![0.0; CAPACITY].into(),
            times: vec![Duration::ZERO; CAPACITY].into(),
            next: 0,
            length: 0,
            scratch: Vec::with_capacity(CAPACITY),
        }
    }

    /// Adds a value; the oldest gives way.
    pub(super) fn push(&mut self, value: f64, at: Duration) {
        if let Some(slot) = self.values.get_mut(self.next) {
            *slot = value as f32;
        }
        if let Some(slot) = self.times.get_mut(self.next) {
            *slot = at;
        }
        self.next = (self.next + 1) % CAPACITY;
        self.length = (self.length + 1).min(CAPACITY);
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// The quantile `q` of the samples younger than `width` at `now`: the smallest of them
    /// that at least the share `q` does not exceed. `None` without a sample.
    pub(super) fn quantile(&mut self, q: f32, width: Duration, now: Duration) -> Option<Quantile> {
        self.scratch.clear();
        let mut age = Duration::ZERO;
        for back in 1..=self.length {
            let place = (self.next + CAPACITY - back) % CAPACITY;
            let (Some(value), Some(at)) = (self.values.get(place), self.times.get(place)) else {
                break;
            };
            let old = now.saturating_sub(*at);
            if old >= width {
                break;
            }
            age = old;
            self.scratch.push(*value);
        }
        let samples = self.scratch.len();
        let rank = (f64::from(q) * samples as f64).ceil() as usize;
        let last = samples.checked_sub(1)?;
        let place = rank.saturating_sub(1).min(last);
        let (_, value, _) = self.scratch.select_nth_unstable_by(place, f32::total_cmp);
        Some(Quantile {
            value: f64::from(*value),
            age,
            samples: u32::try_from(samples).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests;
