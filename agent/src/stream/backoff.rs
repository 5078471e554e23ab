//! How long to wait before the next attempt: exponential with full jitter, so that a
//! thousand agents that lost one scheduler do not return in the same second.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// Ceiling of the first wait: a scheduler that restarts is back in seconds.
const FIRST: Duration = Duration::from_millis(500);
/// Ceiling of every wait: the load of an unreachable scheduler is one attempt per agent
/// each 15 s on average.
const LONGEST: Duration = Duration::from_secs(30);
/// A stream that lived this long was healthy: the next loss starts over.
pub(crate) const HEALTHY_AFTER: Duration = Duration::from_mins(1);
/// Longest wait that a draining scheduler may ask for; a wrong number must not silence a
/// node for hours.
const LONGEST_DRAIN: Duration = Duration::from_mins(2);

/// Draws waits for one scheduler.
#[derive(Debug)]
pub(crate) struct Backoff {
    ceilings: ExponentialBackoff,
    random: fastrand::Rng,
}

impl Backoff {
    /// Starts at the shortest ceiling.
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self {
            ceilings: ceilings(),
            random,
        }
    }

    /// Draws the wait after an attempt whose stream was healthy for `lived`.
    pub(crate) fn next(&mut self, lived: Duration) -> Duration {
        if lived >= HEALTHY_AFTER {
            self.ceilings = ceilings();
        }
        let ceiling = self.ceilings.next().unwrap_or(LONGEST);
        ceiling.mul_f64(self.random.f64())
    }

    /// Draws a wait in the range that a draining scheduler asked for, and starts over: a
    /// planned end is no failure.
    pub(crate) fn drained(&mut self, min: Duration, max: Duration) -> Duration {
        self.ceilings = ceilings();
        let min = min.min(LONGEST_DRAIN);
        let span = max.min(LONGEST_DRAIN).saturating_sub(min);
        min + span.mul_f64(self.random.f64())
    }
}

fn ceilings() -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(FIRST)
        .with_max_delay(LONGEST)
        .with_factor(2.0)
        .without_max_times()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT_LIVED: Duration = Duration::ZERO;

    fn backoff(seed: u64) -> Backoff {
        Backoff::new(fastrand::Rng::with_seed(seed))
    }

    #[test]
    fn waits_stay_below_ceilings_that_double_up_to_thirty_seconds() {
        for seed in 0..200 {
            let mut backoff = backoff(seed);
            for ceiling in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0] {
                let wait = backoff.next(SHORT_LIVED).as_secs_f64();
                assert!(wait <= ceiling, "seed {seed}: {wait} > {ceiling}");
            }
        }
    }

    #[test]
    fn a_thousand_agents_spread_over_the_whole_range() {
        let eighth_wait = |seed| {
            let mut backoff = backoff(seed);
            (0..8).map(|_| backoff.next(SHORT_LIVED)).last().unwrap()
        };
        let mut buckets = [0_u32; 30];
        for seed in 0..1000 {
            buckets[eighth_wait(seed).as_secs() as usize] += 1;
        }
        let mean = 1000 / 30;
        assert!(buckets.iter().all(|count| *count < 3 * mean), "{buckets:?}");
        assert!(buckets.iter().all(|count| *count > 0), "{buckets:?}");
    }

    #[test]
    fn a_minute_of_health_starts_over_and_less_does_not() {
        let mut backoff = backoff(1);
        for _ in 0..10 {
            backoff.next(SHORT_LIVED);
        }
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
