//! Takes values with the time that each covers; gives their exponentially weighted mean,
//! corrected for the bias of a young window.
//!
//! With weights `1 - exp(-dt/tau)` and the division by `1 - exp(-T/tau)` the mean of a
//! step is exactly what [`crate::Kernel::visible`] promises, at any sequence of `dt`.

use std::time::Duration;

/// Bias-corrected mean with a time constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ewma {
    tau: Duration,
    /// The sum before correction: a mean over all time that took 0 for the time before
    /// the window.
    sum: f64,
    window: Duration,
    samples: u32,
}

impl Ewma {
    /// An empty mean with time constant `tau`; with a `tau` of zero it is the last value.
    pub fn new(tau: Duration) -> Self {
        Self {
            tau,
            sum: 0.0,
            window: Duration::ZERO,
            samples: 0,
        }
    }

    /// Takes a `value` that held for the last `dt`. A value that covers no time, or is no
    /// finite number, says nothing and is left out.
    pub fn update(&mut self, value: f64, dt: Duration) {
        if dt.is_zero() || !value.is_finite() {
            return;
        }
        let weight = self.filled(dt);
        self.sum += (value - self.sum) * weight;
        self.window = self.window.saturating_add(dt);
        self.samples = self.samples.saturating_add(1);
    }

    /// The mean; `None` before the first value.
    pub fn value(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / self.filled(self.window))
    }

    /// Time since the window began.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Number of values in the window.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Forgets everything but the time constant.
    pub fn reset(&mut self) {
        *self = Self::new(self.tau);
    }

    /// `1 - exp(-span/tau)`: the weight of the last `span`.
    fn filled(&self, span: Duration) -> f64 {
        if self.tau.is_zero() {
            1.0
        } else {
            -(-span.as_secs_f64() / self.tau.as_secs_f64()).exp_m1()
        }
    }
}

#[cfg(test)]
mod tests;
