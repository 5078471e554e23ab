//! One growing counter: takes its readings with their times, gives the difference to the
//! reading before, and never a value that a reset, a wrap, a gap or a glitch made up.

use std::time::Duration;

use super::counters::Counters;
use crate::clock::Clock;

/// When a tick reads, and how long the time since the reading before may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    /// On the agent's monotonic clock.
    pub(crate) at: Duration,
    /// A difference over more than this has no value: the machine slept, or the agent.
    pub(crate) longest: Duration,
}

/// The time of a tick while it runs. Rates divide by the time between two readings of a
/// file: an agent that is held up in the middle of a tick (its CPU limit, a busy machine)
/// must not take the time before the hold for that after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    at: Duration,
    longest: Duration,
    running: Option<(Clock, Duration)>,
}

impl Pace {
    /// A tick that began at `at`; without a clock it takes no time.
    pub(crate) fn begin(at: Duration, longest: Duration, clock: Option<Clock>) -> Self {
        Self {
            at,
            longest,
            running: clock.map(|clock| (clock, clock.mono())),
        }
    }

    /// The same tick for files that are read more rarely.
    pub(crate) fn with_longest(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    /// When the tick began.
    pub(crate) fn at(&self) -> Duration {
        self.at
    }

    /// For what is read now.
    pub(crate) fn tick(&self) -> Tick {
        let since = |(clock, began): (Clock, Duration)| clock.mono().saturating_sub(began);
        Tick {
            at: self
                .at
                .saturating_add(self.running.map_or(Duration::ZERO, since)),
            longest: self.longest,
        }
    }
}

/// What a counter grew by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    pub(crate) amount: u64,
    pub(crate) over: Duration,
}

impl Growth {
    /// Per second.
    pub(crate) fn rate(self) -> f64 {
        self.amount as f64 / self.over.as_secs_f64()
    }
}

/// A counter and its base, the last reading that was believed.
///
/// A reading below the base is the new base and has no value. A reading of exactly 0 is a
/// glitch until the next one decides: that one is either above the base, and the step is
/// over both periods, or it is below, and the counter was reset. Zeros that stay take the
/// base away, so that even then no step is the whole total. A missing reading keeps the
/// base.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    base: Option<(u64, Duration)>,
}

impl Counter {
    /// True before the first reading that counts.
    pub(crate) fn is_new(&self) -> bool {
        self.base.is_none()
    }

    /// The growth since the base; `None` at the first reading and where it would be a lie.
    pub(crate) fn step(
        &mut self,
        reading: u64,
        tick: Tick,
        counters: &mut Counters,
    ) -> Option<Growth> {
        let Some((base, base_at)) = self.base else {
            self.base = Some((reading, tick.at));
            return None;
        };
        let over = tick
            .at
            .checked_sub(base_at)
            .filter(|over| !over.is_zero())?;
        if reading == 0 && base > 0 {
            counters.glitches += 1;
            if over > tick.longest {
                self.base = None;
            }
            return None;
        }
        self.base = Some((reading, tick.at));
        let Some(amount) = reading.checked_sub(base) else {
            counters.rebaselined += 1;
            return None;
        };
        // The gap itself is counted once per sample, not per counter.
        (over <= tick.longest).then_some(Growth { amount, over })
    }
}

#[cfg(test)]
mod tests;
