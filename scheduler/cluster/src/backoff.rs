//! How long to wait before trying again.
//!
//! Gives growing delays with full jitter, so that many clients that lost the same server
//! do not return to it in step.

use std::time::Duration;

/// Delays between a least and a bound that doubles with each failure in a row.
#[derive(Debug)]
pub(crate) struct Backoff {
    least: Duration,
    most: Duration,
    bound: Duration,
}

// === impl Backoff ===

impl Backoff {
    pub(crate) fn new(least: Duration, most: Duration) -> Self {
        Self {
            least,
            most,
            bound: least,
        }
    }

    /// The next delay: evenly drawn between the least and the bound, which then doubles.
    pub(crate) fn next(&mut self) -> Duration {
        self.bound = self.bound.saturating_mul(2).min(self.most);
        let spread = self.bound.saturating_sub(self.least);
        self.least + spread.mul_f64(fastrand::f64())
    }

    /// Begins anew after a success.
    pub(crate) fn reset(&mut self) {
        self.bound = self.least;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    const LEAST: Duration = Duration::from_millis(100);
    const MOST: Duration = Duration::from_secs(30);

    #[test]
    fn delays_stay_between_the_least_and_a_doubling_bound() {
        let mut backoff = Backoff::new(LEAST, MOST);
        let mut bound = LEAST;
        for _ in 0..20 {
            bound = (bound * 2).min(MOST);
            let delay = backoff.next();
            assert!(
                delay >= LEAST && delay <= bound,
                "{delay:?} is not in {LEAST:?}..{bound:?}"
            );
        }
    }

    #[test]
    fn a_success_begins_anew() {
        let mut backoff = Backoff::new(LEAST, MOST);
        for _ in 0..20 {
            backoff.next();
        }
        backoff.reset();
        assert!(backoff.next() <= LEAST * 2);
    }
}
