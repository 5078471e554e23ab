//! Instants that may lie before the engine's clock began.
//!
//! Takes readings of the monotonic clock and ages, gives instants whose differences never
//! wrap: a pod may be older than the process that schedules.

use std::time::Duration;

/// Nanoseconds since the engine's clock began; negative before. Capped at 292 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i64);

impl Moment {
    /// When the engine's clock began.
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);

    /// The instant at which the clock reads `clock`.
    pub(crate) fn at(clock: Duration) -> Self {
        Self(nanos(clock))
    }

    /// The instant `span` earlier.
    pub(crate) fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(span)))
    }

    /// The instant `span` later.
    pub(crate) fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    /// Time from `earlier` to this instant; `None` if `earlier` is the later one.
    pub(crate) fn since(self, earlier: Self) -> Option<Duration> {
        let difference = i128::from(self.0) - i128::from(earlier.0);
        u64::try_from(difference).ok().map(Duration::from_nanos)
    }

    /// Time from `earlier` to this instant, none if `earlier` is the later one.
    pub(crate) fn age_of(self, earlier: Self) -> Duration {
        self.since(earlier).unwrap_or_default()
    }
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Moment;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_instant_may_lie_before_the_clock_began() {
        let start = Moment::at(SECOND).before(10 * SECOND);
        assert_eq!(Moment::at(2 * SECOND).since(start), Some(11 * SECOND));
        assert_eq!(start.after(9 * SECOND), Moment::at(Duration::ZERO));
    }

    #[test]
    fn what_has_not_happened_has_no_age() {
        assert_eq!(Moment::at(SECOND).since(Moment::at(2 * SECOND)), None);
        assert_eq!(
            Moment::at(SECOND).age_of(Moment::at(2 * SECOND)),
            Duration::ZERO
        );
    }

    #[test]
    fn the_ends_of_time_do_not_wrap() {
        let (first, last) = (
            Moment(0).before(Duration::MAX).before(Duration::MAX),
            Moment::at(Duration::MAX).after(Duration::MAX),
        );
        assert_eq!(last.since(first), Some(Duration::from_nanos(u64::MAX)));
        assert_eq!(first.since(last), None);
    }
}
