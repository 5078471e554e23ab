//! How long to wait before the next attempt: a stream that is lost is tried again at once,
//! whoever failed once spreads over ten seconds, and whoever failed again waits between five
//! and ten.
//!
//! Not a ceiling that doubles: after an outage of seconds, agents stand at ceilings that differ
//! by powers of two, and those at the low ones return all together. Simulated with 500 agents
//! and outages of 0.5 to 90 s, the fullest fiftieth of the time in which they return has up to
//! 9 times the mean (median of 12 runs) if they double to 30 s with full jitter, and 2.4 so.

use std::time::Duration;

/// Ceiling of the first wait after a healthy stream: a scheduler that restarts is back in
/// seconds, and a connection that broke alone is made anew at once.
const FIRST: Duration = Duration::from_millis(500);
/// Ceiling of every further wait, and from the second on twice its least: a scheduler takes some 3,000 handshakes a second, and all
/// 15,000 nodes return within this without filling half of that.
const FURTHER: Duration = Duration::from_secs(10);
/// Ceiling of a wait after a refusal that was not the first: what is wrong lasts.
const REFUSED: Duration = Duration::from_secs(30);
/// A stream that lived this long was healthy: the next loss starts over.
pub(crate) const HEALTHY_AFTER: Duration = Duration::from_mins(1);
/// Longest wait that a draining scheduler may ask for; a wrong number must not silence a
/// node for hours.
const LONGEST_DRAIN: Duration = Duration::from_mins(2);

/// Draws waits for one scheduler.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
    random: fastrand::Rng,
}

impl Backoff {
    /// Starts at the shortest ceiling.
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self {
            failures: 0,
            random,
        }
    }

    /// Draws the wait after an attempt whose stream was healthy for `lived`.
    pub(crate) fn next(&mut self, lived: Duration) -> Duration {
        self.draw(lived, FURTHER)
    }

    /// Draws the wait after a refusal of a stream that was healthy for `lived`.
    pub(crate) fn refused(&mut self, lived: Duration) -> Duration {
        self.draw(lived, REFUSED)
    }

    /// Draws a wait in the range that a draining scheduler asked for, and starts over: a
    /// planned end is no failure.
    pub(crate) fn drained(&mut self, min: Duration, max: Duration) -> Duration {
        self.failures = 0;
        let min = min.min(LONGEST_DRAIN);
        let span = max.min(LONGEST_DRAIN).saturating_sub(min);
        min + span.mul_f64(self.random.f64())
    }

    fn draw(&mut self, lived: Duration, further: Duration) -> Duration {
        if lived >= HEALTHY_AFTER {
            self.failures = 0;
        }
        let drawn = self.random.f64();
        let wait = match self.failures {
            0 => FIRST.mul_f64(drawn),
            // Spreads those that failed at one instant; from then on they are spread.
            1 => further.mul_f64(drawn),
            _ => further.mul_f64(0.5 + 0.5 * drawn),
        };
        self.failures = self.failures.saturating_add(1);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT_LIVED: Duration = Duration::ZERO;
    const AGENTS: u64 = 5000;

    fn backoff(seed: u64) -> Backoff {
        Backoff::new(fastrand::Rng::with_seed(seed))
    }

    #[test]
    fn waits_are_capped() {
        for seed in 0..200 {
            let mut backoff = backoff(seed);
            assert!(backoff.next(SHORT_LIVED) <= FIRST);
            for _ in 0..20 {
                assert!(backoff.next(SHORT_LIVED) <= FURTHER);
                assert!(backoff.refused(SHORT_LIVED) <= REFUSED);
            }
        }
    }

    /// When each agent returns, in seconds after the end of an outage that all of them see.
    fn returns(outage: f64) -> Vec<f64> {
        let one = |seed| {
            let mut backoff = backoff(seed);
            let mut at = 0.0;
            while at < outage {
                at += backoff.next(SHORT_LIVED).as_secs_f64();
            }
            at - outage
        };
        (0..AGENTS).map(one).collect()
    }

    #[test]
    fn agents_that_lost_one_scheduler_return_spread_however_long_it_was_away() {
        for outage in [1e-9, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 15.0, 30.0, 90.0] {
            let returns = returns(outage);
            let last = returns.iter().copied().fold(0.0, f64::max);
            let mut buckets = [0_u64; 50];
            for at in returns {
                buckets[((at / last * 50.0) as usize).min(49)] += 1;
            }
            let mean = AGENTS / 50;
            let peak = buckets.iter().max().unwrap();
            assert!(*peak < 3 * mean, "away for {outage} s: {buckets:?}");
        }
    }

    #[test]
    fn a_minute_of_health_starts_over_and_less_does_not() {
        let mut backoff = backoff(1);
        backoff.next(SHORT_LIVED);
        let not_yet = HEALTHY_AFTER.checked_sub(Duration::from_millis(1)).unwrap();
        let waits: Vec<_> = (0..50).map(|_| backoff.next(not_yet)).collect();
        assert!(waits.iter().any(|wait| *wait > FIRST));
        assert!(backoff.next(HEALTHY_AFTER) <= FIRST);
    }

    #[test]
    fn a_drain_is_waited_for_within_its_range_and_never_for_hours() {
        let (min, max) = (Duration::from_secs(2), Duration::from_secs(5));
        for seed in 0..100 {
            let wait = backoff(seed).drained(min, max);
            assert!((min..=max).contains(&wait), "{wait:?}");
        }
        let absurd = Duration::from_hours(24);
        assert!(backoff(1).drained(absurd, absurd) <= LONGEST_DRAIN);
        assert_eq!(
            backoff(1).drained(max, min),
            max,
            "a range the wrong way round is its start"
        );
    }
}
