//! Takes the shape of a figure's window; gives how much of a steady load such a figure
//! shows, and how the figure moves from there.

use std::time::Duration;

/// How the samples of a window became one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// The last value.
    Instant,
    /// Exponentially weighted mean, bias-corrected.
    Ewma {
        /// Time constant.
        tau: Duration,
    },
    /// Plain mean over a window.
    Box {
        /// Width of the window.
        width: Duration,
    },
    /// A quantile over a window.
    Quantile {
        /// 0..1, for example 0.95.
        q: f32,
        /// Width of the window.
        width: Duration,
    },
    /// The largest value of a window.
    Max {
        /// Width of the window.
        width: Duration,
    },
}

impl Kernel {
    /// The share (0..=1) of a steady load begun `age` before the sample that a figure
    /// shows whose window began `window` before the sample.
    ///
    /// A load as old as the window is shown in full, whatever the kernel. Of a younger one
    /// - `Instant` shows all;
    /// - `Ewma` shows `(1 - exp(-age/tau)) / (1 - exp(-window/tau))`;
    /// - `Box` shows `min(age, width) / min(window, width)`;
    /// - `Max` shows all as soon as one sample saw it;
    /// - `Quantile` shows all once the load fills the share of the window that lies above
    ///   the quantile, `age >= (1 - q) * min(width, window)`, and nothing before: the
    ///   quantile of a sum is not a sum, so the answer errs on the side of "not yet shown".
    pub fn visible(self, age: Duration, window: Duration) -> f64 {
        if age >= window {
            return 1.0;
        }
        let (age, window) = (age.as_secs_f64(), window.as_secs_f64());
        match self {
            Self::Instant => 1.0,
            Self::Ewma { tau } if tau.is_zero() => 1.0,
            Self::Ewma { tau } => {
                let tau = tau.as_secs_f64();
                // exp_m1 keeps the digits of ages far below tau.
                ((-age / tau).exp_m1() / (-window / tau).exp_m1()).clamp(0.0, 1.0)
            }
            Self::Box { width } => {
                let width = width.as_secs_f64();
                if age >= width {
                    1.0
                } else {
                    age / window.min(width)
                }
            }
            Self::Quantile { q, width } => {
                let above = share_above(q) * window.min(width.as_secs_f64());
                step(age >= above)
            }
            Self::Max { .. } => step(age > 0.0),
        }
    }

    /// Where a figure of `value` stands `dt` later if its input is `steady` from now on.
    ///
    /// `Ewma` moves by `steady + (value - steady) * exp(-dt/tau)`, `Box` in a straight line
    /// over its width. `Quantile` keeps its value until the new input fills the share above
    /// the quantile, `Max` the larger of both until the old value leaves the window.
    /// `Instant` is `steady` at the next sample.
    pub fn project(self, value: f64, steady: f64, dt: Duration) -> f64 {
        if dt.is_zero() {
            return value;
        }
        let passed = dt.as_secs_f64();
        let kept = match self {
            Self::Ewma { tau } if tau.is_zero() => 0.0,
            Self::Ewma { tau } => (-passed / tau.as_secs_f64()).exp(),
            Self::Box { width } if dt >= width => 0.0,
            Self::Box { width } => 1.0 - passed / width.as_secs_f64(),
            Self::Quantile { q, width } => step(passed < share_above(q) * width.as_secs_f64()),
            Self::Max { width } if dt < width => return value.max(steady),
            Self::Instant | Self::Max { .. } => 0.0,
        };
        steady + (value - steady) * kept
    }
}

/// The share of a window that lies above the quantile; a quantile that is no number asks
/// for the whole window.
fn share_above(q: f32) -> f64 {
    if q.is_nan() {
        1.0
    } else {
        1.0 - f64::from(q.clamp(0.0, 1.0))
    }
}

fn step(passed: bool) -> f64 {
    if passed { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests;
