//! A bounded rate with room for a burst.
//!
//! Takes times, gives the time at which the next one may pass.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket that holds one second's worth and fills at the rate.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: f64,
    held: f64,
    at: Instant,
}

// === impl Pace ===

impl Pace {
    pub(super) fn new(per_second: u32, now: Instant) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self {
            per_second,
            held: per_second,
            at: now,
        }
    }

    /// When the next one may pass: now, or later.
    pub(super) fn free_at(&mut self, now: Instant) -> Instant {
        self.fill(now);
        let missing = (1.0 - self.held).max(0.0);
        now + Duration::from_secs_f64(missing / self.per_second)
    }

    /// One passes.
    pub(super) fn take(&mut self, now: Instant) {
        self.fill(now);
        self.held -= 1.0;
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.held = (self.held + passed * self.per_second).min(self.per_second);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Pace;

    #[tokio::test(start_paused = true)]
    async fn a_second_may_pass_in_a_burst_and_then_the_rate_is_kept() {
        let mut now = Instant::now();
        let begin = now;
        let mut pace = Pace::new(10, now);
        for _ in 0..30 {
            now = pace.free_at(now);
            pace.take(now);
        }
        let took = (now - begin).as_secs_f64();
        assert!(
            (took - 2.0).abs() < 0.01,
            "30 at 10 per second, 10 at once: {took} s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_rest_saves_up_no_more_than_one_burst() {
        let start = Instant::now();
        let mut pace = Pace::new(2, start);
        let now = start + Duration::from_hours(1);
        for _ in 0..2 {
            assert_eq!(pace.free_at(now), now);
            pace.take(now);
        }
        assert!(pace.free_at(now) > now);
    }
}
