//! The mean against its definition, and against what `Kernel::visible` promises.

use std::time::Duration;

use proptest::prelude::*;

use super::Ewma;
use crate::Kernel;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_empty_mean_has_no_value() {
    let mut mean = Ewma::new(10 * SECOND);
    assert_eq!(mean.value(), None);
    mean.update(5.0, Duration::ZERO);
    mean.update(f64::NAN, SECOND);
    assert_eq!((mean.value(), mean.samples()), (None, 0));
}

#[test]
fn the_first_value_is_shown_in_full() {
    let mut mean = Ewma::new(10 * SECOND);
    mean.update(5.0, SECOND);
    assert!((mean.value().unwrap() - 5.0).abs() < 1e-12);
    assert_eq!((mean.window(), mean.samples()), (SECOND, 1));
}

#[test]
fn a_reset_mean_is_empty_again() {
    let mut mean = Ewma::new(10 * SECOND);
    mean.update(5.0, SECOND);
    mean.reset();
    assert_eq!(mean, Ewma::new(10 * SECOND));
}

#[test]
fn with_no_time_constant_the_mean_is_the_last_value() {
    let mut mean = Ewma::new(Duration::ZERO);
    mean.update(5.0, SECOND);
    mean.update(7.0, SECOND);
    assert_eq!(mean.value(), Some(7.0));
}

proptest! {
    #[test]
    fn a_steady_input_is_its_own_mean(value in 0.0_f64..1e12, steps in
            prop::collection::vec(1_u64..20_000, 1..200)) {
        let mut mean = Ewma::new(10 * SECOND);
        for step in steps {
            mean.update(value, Duration::from_millis(step));
        }
        prop_assert!((mean.value().unwrap() - value).abs() <= value * 1e-9);
    }

    #[test]
    fn a_step_shows_exactly_what_is_visible_of_it(tau in 1_u64..120_000,
            before in prop::collection::vec(1_u64..20_000, 0..60),
            after in prop::collection::vec(1_u64..20_000, 1..60), height in 1.0_f64..1e9) {
        let tau = Duration::from_millis(tau);
        let mut mean = Ewma::new(tau);
        for step in &before {
            mean.update(0.0, Duration::from_millis(*step));
        }
        for step in &after {
            mean.update(height, Duration::from_millis(*step));
        }
        let age = Duration::from_millis(after.iter().sum());
        let shown = mean.value().unwrap() / height;
        let promised = Kernel::Ewma { tau }.visible(age, mean.window());
        prop_assert!((shown - promised).abs() < 1e-9, "{shown} but {promised} promised");
    }

    #[test]
    fn a_mean_moves_as_projected_once_its_window_is_old(value in 0.0_f64..1e6,
            steady in 0.0_f64..1e6, steps in prop::collection::vec(1_u64..5_000, 1..40)) {
        let mut mean = Ewma::new(10 * SECOND);
        mean.update(value, 1_000 * SECOND);
        let dt = Duration::from_millis(steps.iter().sum());
        for step in steps {
            mean.update(steady, Duration::from_millis(step));
        }
        let promised = Kernel::Ewma { tau: 10 * SECOND }.project(value, steady, dt);
        prop_assert!((mean.value().unwrap() - promised).abs() < 1e-3);
    }
}
