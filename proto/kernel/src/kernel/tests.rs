//! What each kernel shows of a load, over chosen and random ages.

use std::time::Duration;

use proptest::prelude::*;

use super::Kernel;

const SECOND: Duration = Duration::from_secs(1);

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

fn any_kernel() -> impl Strategy<Value = Kernel> {
    let span = (0_u64..600_000).prop_map(Duration::from_millis);
    prop_oneof![
        Just(Kernel::Instant),
        span.clone().prop_map(|tau| Kernel::Ewma { tau }),
        span.clone().prop_map(|width| Kernel::Box { width }),
        (-0.5_f32..1.5, span.clone()).prop_map(|(q, width)| Kernel::Quantile { q, width }),
        span.clone()
            .prop_map(|width| Kernel::Quantile { q: f32::NAN, width }),
        span.prop_map(|width| Kernel::Max { width }),
    ]
}

#[test]
fn an_ewma_shows_two_thirds_of_a_load_one_time_constant_old() {
    let kernel = Kernel::Ewma { tau: 10 * SECOND };
    let shown = kernel.visible(10 * SECOND, 3600 * SECOND);
    assert!(close(shown, 1.0 - (-1.0_f64).exp()));
}

#[test]
fn a_restarted_agent_sees_every_running_pod_in_full() {
    let kernel = Kernel::Ewma { tau: 10 * SECOND };
    assert!(close(kernel.visible(60 * SECOND, 2 * SECOND), 1.0));
}

#[test]
fn a_box_shows_the_share_of_its_width() {
    let kernel = Kernel::Box { width: 60 * SECOND };
    assert!(close(kernel.visible(15 * SECOND, 3600 * SECOND), 0.25));
    assert!(close(kernel.visible(15 * SECOND, 30 * SECOND), 0.5));
    assert!(close(kernel.visible(90 * SECOND, 3600 * SECOND), 1.0));
}

#[test]
fn a_p95_shows_a_load_once_it_fills_the_top_twentieth() {
    let kernel = Kernel::Quantile {
        q: 0.95,
        width: 60 * SECOND,
    };
    assert!(close(kernel.visible(2 * SECOND, 3600 * SECOND), 0.0));
    assert!(close(kernel.visible(4 * SECOND, 3600 * SECOND), 1.0));
}

#[test]
fn a_maximum_shows_a_load_from_its_first_sample_on() {
    let kernel = Kernel::Max { width: 60 * SECOND };
    assert!(close(kernel.visible(Duration::ZERO, SECOND), 0.0));
    assert!(close(kernel.visible(Duration::from_millis(1), SECOND), 1.0));
}

#[test]
fn a_figure_moves_towards_its_input() {
    let ewma = Kernel::Ewma { tau: 10 * SECOND };
    let half_life = Duration::from_secs_f64(10.0 * std::f64::consts::LN_2);
    assert!((ewma.project(0.0, 100.0, half_life) - 50.0).abs() < 1e-6);
    let flat = Kernel::Box { width: 10 * SECOND };
    assert!(close(flat.project(0.0, 100.0, 5 * SECOND), 50.0));
    let max = Kernel::Max { width: 10 * SECOND };
    assert!(close(max.project(100.0, 40.0, 5 * SECOND), 100.0));
    assert!(close(max.project(100.0, 40.0, 10 * SECOND), 40.0));
    assert!(close(Kernel::Instant.project(100.0, 40.0, SECOND), 40.0));
    assert!(close(
        Kernel::Instant.project(100.0, 40.0, Duration::ZERO),
        100.0
    ));
}

proptest! {
    #[test]
    fn what_is_visible_is_a_share(kernel in any_kernel(), age in 0_u64..10_000_000,
                                  window in 0_u64..10_000_000) {
        let shown = kernel.visible(Duration::from_micros(age), Duration::from_micros(window));
        prop_assert!((0.0..=1.0).contains(&shown), "{shown}");
    }

    #[test]
    fn an_older_load_is_never_less_visible(kernel in any_kernel(), age in 0_u64..700_000,
                                           older in 0_u64..100_000, window in 0_u64..700_000) {
        let window = Duration::from_millis(window);
        let young = kernel.visible(Duration::from_millis(age), window);
        let old = kernel.visible(Duration::from_millis(age + older), window);
        prop_assert!(old >= young, "{young} then {old}");
    }

    #[test]
    fn a_load_as_old_as_the_window_is_visible_in_full(kernel in any_kernel(),
                                                      window in 0_u64..700_000) {
        let window = Duration::from_millis(window);
        prop_assert_eq!(kernel.visible(window, window), 1.0);
    }

    #[test]
    fn a_projection_stays_between_the_figure_and_its_input(kernel in any_kernel(),
            value in 0.0_f64..1e9, steady in 0.0_f64..1e9, dt in 0_u64..700_000) {
        let there = kernel.project(value, steady, Duration::from_millis(dt));
        prop_assert!(there >= value.min(steady) - 1e-3 && there <= value.max(steady) + 1e-3);
    }
}
