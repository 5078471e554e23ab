//! The agent of a simulated node: readings become a figure by the real kernels.

use std::time::Duration;

use plimsoll_kernel::{Ewma, Kernel};

use super::plan::ms;

/// The agent's memory, lost in a restart.
pub(super) struct Agent {
    pub(super) started: u64,
    pub(super) start_id: u64,
    pub(super) read: u64,
    mean: Ewma,
    /// Intervals and their means, oldest first, for the plain mean.
    intervals: Vec<(u64, f64)>,
}

// === impl Agent ===

impl Agent {
    pub(super) fn start(at: u64, start_id: u64, kernel: Kernel) -> Self {
        let tau = match kernel {
            Kernel::Ewma { tau } => tau,
            _ => Duration::ZERO,
        };
        Self {
            started: at,
            start_id,
            read: at,
            mean: Ewma::new(tau),
            intervals: Vec::new(),
        }
    }

    /// Takes the mean since the last reading and the value now; gives the figure.
    pub(super) fn take(
        &mut self,
        at: u64,
        span: u64,
        (mean, last): (f64, f64),
        kernel: Kernel,
    ) -> f64 {
        self.read = at;
        self.mean.update(mean, ms(span));
        self.intervals.push((span, mean));
        match kernel {
            Kernel::Instant => last,
            Kernel::Box { width } => self.plain_mean(width.as_millis() as u64),
            _ => self.mean.value().unwrap_or_default(),
        }
    }

    pub(super) fn plain_mean(&mut self, width: u64) -> f64 {
        let span = |intervals: &[(u64, f64)]| intervals.iter().map(|(span, _)| span).sum::<u64>();
        while self.intervals.len() > 1 && span(&self.intervals) > width {
            self.intervals.remove(0);
        }
        let work = self
            .intervals
            .iter()
            .map(|(span, mean)| *span as f64 * mean)
            .sum::<f64>();
        work / span(&self.intervals) as f64
    }
}
