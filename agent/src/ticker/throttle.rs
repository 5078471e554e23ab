//! Holds the agent's own cost down: takes the CPU time of each tick, gives the time between
//! two. On a machine where reading is dear (many CPUs, cgroup statistics that have to be
//! gathered) a slower agent is better than one that is felt.

use std::time::Duration;

/// A tick costs some 0.1 ms; one of this is dear.
const DEAR: Duration = Duration::from_millis(5);
/// One dear tick is an accident (cold caches, many new pods), three in a row are not.
const DEAR_IN_A_ROW: u32 = 3;
/// Slower than this would make the figures useless; a longer period that was asked for stays.
const SLOWEST: Duration = Duration::from_secs(8);
/// As long as this no tick was dear: the cause is gone.
const CHEAP_FOR: Duration = Duration::from_mins(1);

/// The time between two ticks, as it must be.
#[derive(Debug)]
pub(super) struct Throttle {
    normal: Duration,
    period: Duration,
    dear: u32,
    last_dear_at: Duration,
}

/// What one tick was, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) is_dear: bool,
    /// The new time between two ticks, if it changed.
    pub(super) period: Option<Duration>,
}

// === impl Throttle ===

impl Throttle {
    /// Begins with `normal` between two ticks.
    pub(super) fn new(normal: Duration) -> Self {
        Self {
            normal,
            period: normal,
            dear: 0,
            last_dear_at: Duration::ZERO,
        }
    }

    /// Time between two ticks.
    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// Takes the CPU time `cost` of the tick at `at`. Three dear ticks in a row double the
    /// period, a minute without one brings the normal period back.
    pub(super) fn take(&mut self, at: Duration, cost: Duration) -> Verdict {
        let is_dear = cost > DEAR;
        let before = self.period;
        if is_dear {
            self.last_dear_at = at;
            self.dear += 1;
        } else {
            self.dear = 0;
        }
        if self.dear == DEAR_IN_A_ROW {
            self.dear = 0;
            self.period = (self.period * 2).min(SLOWEST.max(self.normal));
        } else if at.saturating_sub(self.last_dear_at) >= CHEAP_FOR {
            self.period = self.normal;
        }
        Verdict {
            is_dear,
            period: (self.period != before).then_some(self.period),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const CHEAP: Duration = Duration::from_micros(200);
    const COSTLY: Duration = Duration::from_millis(6);

    /// Takes ticks one period apart; gives the changes with the number of their tick.
    fn changes(throttle: &mut Throttle, costs: &[Duration]) -> Vec<(usize, Duration)> {
        let mut at = Duration::ZERO;
        let mut changes = Vec::new();
        for (tick, cost) in costs.iter().enumerate() {
            at += throttle.period();
            let period = throttle.take(at, *cost).period;
            changes.extend(period.map(|period| (tick + 1, period)));
        }
        changes
    }

    #[test]
    fn three_dear_ticks_in_a_row_double_the_period_up_to_eight_seconds() {
        let mut throttle = Throttle::new(SECOND);
        let found = changes(&mut throttle, &[COSTLY; 20]);
        assert_eq!(found, [(3, 2 * SECOND), (6, 4 * SECOND), (9, 8 * SECOND)]);
    }

    #[test]
    fn a_cheap_tick_in_between_begins_the_count_anew() {
        let mut throttle = Throttle::new(SECOND);
        let costs = [COSTLY, COSTLY, CHEAP, COSTLY, COSTLY, CHEAP];
        assert_eq!(changes(&mut throttle, &costs), []);
    }

    #[test]
    fn a_minute_without_a_dear_tick_brings_the_normal_period_back() {
        let mut throttle = Throttle::new(SECOND);
        let mut costs = vec![COSTLY; 6];
        costs.extend([CHEAP; 14]);
        assert_eq!(
            changes(&mut throttle, &costs),
            [(3, 2 * SECOND), (6, 4 * SECOND)]
        );
        let mut at = Duration::from_secs(1000);
        assert!(throttle.take(at, COSTLY).is_dear);
        at += CHEAP_FOR.saturating_sub(SECOND);
        assert_eq!(throttle.take(at, CHEAP).period, None);
        at += SECOND;
        let verdict = throttle.take(at, CHEAP);
        assert_eq!((verdict.is_dear, verdict.period), (false, Some(SECOND)));
    }

    #[test]
    fn a_long_period_that_was_asked_for_is_not_shortened() {
        let minute = Duration::from_mins(1);
        let mut throttle = Throttle::new(minute);
        assert_eq!(changes(&mut throttle, &[COSTLY; 9]), []);
        assert_eq!(throttle.period(), minute);
    }
}
