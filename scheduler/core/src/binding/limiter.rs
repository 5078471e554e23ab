//! How many requests may be in flight: grows while the API server keeps up, halves when it
//! says 429, pauses when it asks for it or is not there.
//!
//! Additive increase, multiplicative decrease, after a start that doubles per round trip.

use std::time::Duration;

use crate::event::FailureKind;

/// Pause after 429 where the server names none (kube-scheduler's client waits 1 s too).
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);
/// Longest pause that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);
/// First pause after a server was not there; doubles with each failure in a row.
const FIRST_OUTAGE_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause: how long the engine is late when the server is back.
const LAST_OUTAGE_PAUSE: Duration = Duration::from_secs(5);
/// Latency counts as flat up to so many times the best one: beyond it requests queue up.
const FLAT_FACTOR: u32 = 2;
/// Differences below this are the machine's, not the server's.
const FLAT_SLACK: Duration = Duration::from_millis(5);
/// Share of the last latency by which the best one drifts up, so that a server that has
/// become slower for good is not held to its youth.
const DRIFT_DIVISOR: u32 = 64;

#[derive(Debug)]
pub(super) struct Limiter {
    min: usize,
    max: usize,
    limit: usize,
    /// Successes since the limit last grew.
    credit: usize,
    /// The limit has not been halved yet: it grows with each success.
    starting: bool,
    best_latency: Option<Duration>,
    halved_at: Option<Duration>,
    outages: u32,
    closed_until: Duration,
}

impl Limiter {
    pub(super) fn new(min: usize, max: usize) -> Self {
        let min = min.max(1);
        Self {
            min,
            max: max.max(min),
            limit: min,
            credit: 0,
            starting: true,
            best_latency: None,
            halved_at: None,
            outages: 0,
            closed_until: Duration::ZERO,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether one more request may be sent, with `asked` in flight.
    pub(super) fn is_open(&self, asked: usize, now: Duration) -> bool {
        asked < self.limit && now >= self.closed_until
    }

    /// When a request may be sent without any answer coming first; `None` if one must.
    pub(super) fn opens_at(&self, asked: usize) -> Option<Duration> {
        (asked < self.limit).then_some(self.closed_until)
    }

    /// The request sent at `asked_at` was answered now.
    pub(super) fn answered(
        &mut self,
        outcome: Result<(), FailureKind>,
        asked_at: Duration,
        now: Duration,
    ) {
        let latency = now.saturating_sub(asked_at);
        match outcome {
            // The server worked, whatever it thinks of this one pod.
            Ok(()) | Err(FailureKind::Conflict | FailureKind::NotFound | FailureKind::Refused) => {
                self.outages = 0;
                self.grow(latency);
            }
            Err(FailureKind::TooManyRequests { retry_after }) => {
                let pause = retry_after
                    .unwrap_or(DEFAULT_RETRY_AFTER)
                    .min(MAX_RETRY_AFTER);
                self.close(now.saturating_add(pause));
                self.halve(asked_at, now);
            }
            Err(FailureKind::Unavailable | FailureKind::Unknown) => {
                let factor = 1_u32.checked_shl(self.outages).unwrap_or(u32::MAX);
                let pause = FIRST_OUTAGE_PAUSE
                    .saturating_mul(factor)
                    .min(LAST_OUTAGE_PAUSE);
                self.outages = self.outages.saturating_add(1);
                self.close(now.saturating_add(pause));
            }
        }
    }

    fn close(&mut self, until: Duration) {
        self.closed_until = self.closed_until.max(until);
    }

    /// Halves once per round trip: requests sent before the last halving say nothing new.
    fn halve(&mut self, asked_at: Duration, now: Duration) {
        if self.halved_at.is_some_and(|halved| asked_at <= halved) {
            return;
        }
        self.halved_at = Some(now);
        self.starting = false;
        self.credit = 0;
        self.limit = (self.limit / 2).max(self.min);
    }

    fn grow(&mut self, latency: Duration) {
        let best = self.best_latency.unwrap_or(latency);
        let is_flat = latency <= best.saturating_mul(FLAT_FACTOR).saturating_add(FLAT_SLACK);
        self.best_latency = Some(latency.min(best.saturating_add(latency / DRIFT_DIVISOR)));
        if !is_flat {
            return;
        }
        self.credit += 1;
        if self.starting || self.credit >= self.limit {
            self.credit = 0;
            self.limit = (self.limit + 1).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Limiter;
    use crate::event::FailureKind;

    const MS: Duration = Duration::from_millis(1);
    const THROTTLED: FailureKind = FailureKind::TooManyRequests {
        retry_after: Some(Duration::from_secs(2)),
    };

    fn grown() -> Limiter {
        let mut limiter = Limiter::new(4, 32);
        for _ in 0..100 {
            limiter.answered(Ok(()), Duration::ZERO, 5 * MS);
        }
        limiter
    }

    #[test]
    fn it_grows_from_the_least_to_the_most_while_latency_is_flat() {
        assert_eq!(Limiter::new(4, 32).limit(), 4);
        assert_eq!(grown().limit(), 32);
    }

    #[test]
    fn it_stops_growing_when_answers_get_slow() {
        let mut limiter = Limiter::new(4, 32);
        limiter.answered(Ok(()), Duration::ZERO, 5 * MS);
        for _ in 0..20 {
            limiter.answered(Ok(()), Duration::ZERO, 100 * MS);
        }
        assert!(limiter.limit() <= 8, "{}", limiter.limit());
    }

    #[test]
    fn a_burst_of_429_halves_it_once_and_closes_it_as_long_as_the_server_asks() {
        let mut limiter = grown();
        for _ in 0..10 {
            limiter.answered(Err(THROTTLED), 10 * MS, 20 * MS);
        }
        assert_eq!(limiter.limit(), 16);
        assert!(!limiter.is_open(0, 2_019 * MS));
        assert!(limiter.is_open(0, 2_020 * MS));
        limiter.answered(Err(THROTTLED), 3_000 * MS, 3_010 * MS);
        assert_eq!(limiter.limit(), 8);
    }

    #[test]
    fn it_never_falls_below_the_least() {
        let mut limiter = grown();
        for round in 1..20_u32 {
            limiter.answered(Err(THROTTLED), round * 100 * MS, (round * 100 + 50) * MS);
        }
        assert_eq!(limiter.limit(), 4);
        assert_eq!(Limiter::new(0, 0).limit(), 1);
    }

    #[test]
    fn an_outage_closes_it_for_longer_each_time_and_a_success_ends_that() {
        let mut limiter = grown();
        let mut now = Duration::from_secs(1);
        for expected in [100, 200, 400] {
            limiter.answered(Err(FailureKind::Unavailable), now, now);
            assert_eq!(limiter.opens_at(0), Some(now + expected * MS));
            now += expected * MS;
        }
        limiter.answered(Ok(()), now, now + MS);
        limiter.answered(Err(FailureKind::Unavailable), now, now);
        assert_eq!(limiter.opens_at(0), Some(now + 100 * MS));
    }
}
