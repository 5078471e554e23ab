//! How much an old figure still counts.
//!
//! Takes ages, gives weights 0..=1: 1 while fresh, then falling without a cliff
//! (`docs/load-model.md`, data age).

use std::time::Duration;

use crate::options::{LoadOptions, MAX_PERIOD, MIN_PERIOD};

/// What an age does to a figure and to what stands in for it; each 1 at first, then falling
/// to 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Aged {
    /// Weight of the figure.
    pub(crate) confidence: f64,
    /// Weight of pods' last own rates against their estimates.
    pub(crate) drift: f64,
    /// Weight of what the node carried beside its pods.
    pub(crate) overhead: f64,
}

// === impl Aged ===

impl Aged {
    /// Of a figure of this `age` whose agent samples each `period`.
    pub(crate) fn of(age: Duration, period: Duration, options: &LoadOptions) -> Self {
        Self {
            confidence: confidence(age, period, options),
            drift: decay(age, options.estimate_drift),
            overhead: decay(age, options.overhead_fade),
        }
    }
}

/// The weight of a figure of this `age` whose agent samples each `period`: 1 up to
/// [`fresh_span`], then `exp(-rest / fade)`.
pub(crate) fn confidence(age: Duration, period: Duration, options: &LoadOptions) -> f64 {
    decay(
        age.saturating_sub(fresh_span(period, options)),
        options.fade,
    )
}

/// How long a sample stays fresh whose agent samples each `period`:
/// [`LoadOptions::fresh_periods`] periods.
pub(crate) fn fresh_span(period: Duration, options: &LoadOptions) -> Duration {
    let period = period.clamp(MIN_PERIOD, MAX_PERIOD);
    period.saturating_mul(options.fresh_periods)
}

/// `exp(-span / constant)`; a constant of zero forgets at once.
pub(crate) fn decay(span: Duration, constant: Duration) -> f64 {
    if span.is_zero() {
        1.0
    } else if constant.is_zero() {
        0.0
    } else {
        (-span.as_secs_f64() / constant.as_secs_f64()).exp()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{confidence, decay};
    use crate::options::LoadOptions;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(age: Duration, period: Duration) -> f64 {
        confidence(age, period, &LoadOptions::default())
    }

    #[test]
    fn a_sample_counts_in_full_for_three_periods() {
        assert_eq!(at(Duration::ZERO, SECOND), 1.0);
        assert_eq!(at(3 * SECOND, SECOND), 1.0);
        assert_eq!(at(30 * SECOND, 10 * SECOND), 1.0);
    }

    #[test]
    fn then_it_fades_with_a_constant_of_five_minutes() {
        assert!((at(303 * SECOND, SECOND) - (-1.0_f64).exp()).abs() < 1e-12);
        assert!((at(603 * SECOND, SECOND) - (-2.0_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn there_is_no_cliff_at_any_age() {
        let mut last = 1.0;
        for step in 0..20_000 {
            let now = at(step * Duration::from_millis(100), SECOND);
            assert!(
                now <= last && last - now < 4e-4,
                "{last} to {now} at {step}"
            );
            last = now;
        }
    }

    #[test]
    fn a_claimed_period_of_a_year_does_not_keep_a_dead_agent_fresh() {
        assert!(at(3_600 * SECOND, 31_536_000 * SECOND) < 1e-4);
        assert_eq!(at(3 * SECOND, Duration::ZERO), 1.0);
    }

    #[test]
    fn a_constant_of_zero_forgets_at_once() {
        assert_eq!(decay(Duration::ZERO, Duration::ZERO), 1.0);
        assert_eq!(decay(SECOND, Duration::ZERO), 0.0);
        assert_eq!(decay(Duration::MAX, SECOND), 0.0);
    }
}
