//! How much an old figure still counts.
//!
//! Takes ages, gives weights 0..=1: 1 while fresh, then falling without a cliff
//! (`docs/load-model.md`, data age).

use std::time::Duration;

use crate::options::{LoadOptions, MAX_PERIOD, MIN_PERIOD};

/// The weight of a figure of this `age` whose agent samples each `period`: 1 up to
/// [`LoadOptions::fresh_periods`] periods, then `exp(-rest / fade)`.
pub(crate) fn confidence(age: Duration, period: Duration, options: &LoadOptions) -> f64 {
    let period = period.clamp(MIN_PERIOD, MAX_PERIOD);
    let fresh = period.saturating_mul(options.fresh_periods);
    decay(age.saturating_sub(fresh), options.fade)
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
