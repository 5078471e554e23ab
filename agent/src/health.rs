//! Says whether the sampler still ticks. Takes a sign of life per tick; gives "healthy", or
//! the words for why not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Periods without a tick after which the sampler counts as stalled: one may be late, and
/// one skipped.
const PERIODS: u32 = 3;

/// The time of the sampler's last tick; clones share it.
#[derive(Debug, Clone)]
pub struct Health {
    last_tick_ms: Arc<AtomicU64>,
    period_ms: Arc<AtomicU64>,
}

/// The sampler has not ticked for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no sample for {} ms, expected one each {} ms", silent.as_millis(), period.as_millis())]
pub struct Stalled {
    /// Time since the last tick.
    pub silent: Duration,
    /// Time between two ticks.
    pub period: Duration,
}

impl Health {
    /// Begins healthy at time zero of the agent's clock.
    pub fn new(period: Duration) -> Self {
        let health = Self {
            last_tick_ms: Arc::default(),
            period_ms: Arc::default(),
        };
        health.set_period(period);
        health
    }

    /// Sets the time between two ticks.
    pub fn set_period(&self, period: Duration) {
        self.period_ms
            .store(period.as_millis() as u64, Ordering::Relaxed);
    }

    /// Notes a tick at `at` on the agent's clock.
    pub fn tick(&self, at: Duration) {
        self.last_tick_ms
            .store(at.as_millis() as u64, Ordering::Relaxed);
    }

    /// Says whether the sampler ticked within three periods before `now`.
    ///
    /// # Errors
    /// [`Stalled`] if it did not.
    pub fn check(&self, now: Duration) -> Result<(), Stalled> {
        let last = Duration::from_millis(self.last_tick_ms.load(Ordering::Relaxed));
        let silent = now.saturating_sub(last);
        let period = Duration::from_millis(self.period_ms.load(Ordering::Relaxed));
        if silent > period.saturating_mul(PERIODS) {
            return Err(Stalled { silent, period });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampler_is_stalled_after_three_periods_without_a_tick_and_well_after_the_next() {
        let second = Duration::from_secs(1);
        let health = Health::new(second);
        assert_eq!(health.check(3 * second), Ok(()));
        let stalled = health.check(Duration::from_millis(3500)).unwrap_err();
        assert_eq!(
            stalled.to_string(),
            "no sample for 3500 ms, expected one each 1000 ms"
        );
        health.tick(4 * second);
        assert_eq!(health.check(7 * second), Ok(()));
        health.set_period(2 * second);
        assert_eq!(health.check(10 * second), Ok(()));
    }
}
