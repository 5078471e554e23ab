//! What is added to the counters: interrupts, kernel threads, and never the ticks' error.

use std::time::Duration;

use super::Unheld;
use crate::sample::cgroup::Exact;
use crate::sample::counter::Tick;
use crate::sample::stat::Shares;

const CAPACITY: f64 = 4_000.0;

/// One second as both see it, in millicores.
#[derive(Clone, Copy)]
struct Second {
    /// The counters: all, and their kernel part (v2).
    exact: (f64, Option<f64>),
    /// The ticks: busy, system, interrupts.
    ticks: (f64, f64, f64),
}

fn learned(seconds: u32, of: impl Fn(u32) -> Second) -> Unheld {
    let mut unheld = Unheld::default();
    for second in 1..=seconds {
        let Second { exact, ticks } = of(second);
        let exact = Exact {
            millicores: exact.0,
            system_millicores: exact.1,
        };
        let shares = Shares {
            busy: ticks.0 / CAPACITY,
            system: ticks.1 / CAPACITY,
            irq: ticks.2 / CAPACITY,
            steal: 0.0,
        };
        let tick = Tick {
            at: Duration::from_secs(u64::from(second)),
            longest: Duration::from_secs(3),
        };
        unheld.learn(exact, shares, CAPACITY, tick);
    }
    unheld
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn interrupts_outside_the_groups_are_added_at_once() {
    let unheld = learned(60, |_| Second {
        exact: (1_000.0, None),
        ticks: (1_100.0, 200.0, 100.0),
    });
    assert_near(unheld.now(Some(100.0)), 100.0);
    assert_near(unheld.now(Some(400.0)), 400.0);
    assert_near(unheld.now(None), 100.0);
}

#[test]
fn interrupts_inside_the_groups_are_not_added_again() {
    let unheld = learned(60, |_| Second {
        exact: (1_100.0, None),
        ticks: (1_100.0, 200.0, 100.0),
    });
    assert_near(unheld.now(Some(400.0)), 0.0);
}

#[test]
fn kernel_threads_outside_the_groups_of_v2_are_added() {
    let unheld = learned(60, |_| Second {
        exact: (1_000.0, Some(200.0)),
        ticks: (1_300.0, 500.0, 0.0),
    });
    assert_near(unheld.now(Some(0.0)), 300.0);
}

#[test]
fn the_error_of_ticks_is_not_added() {
    // A load of 22 % that ticks read as 34 %, all of it in user mode.
    let unheld = learned(120, |_| Second {
        exact: (220.0, Some(10.0)),
        ticks: (344.0, 10.0, 4.0),
    });
    assert_near(unheld.now(Some(4.0)), 4.0);
    assert!(!unheld.fails());
}

#[test]
fn ticks_that_read_too_little_take_nothing_away() {
    let unheld = learned(120, |_| Second {
        exact: (236.0, Some(0.0)),
        ticks: (112.0, 0.0, 0.0),
    });
    assert_near(unheld.now(Some(0.0)), 0.0);
}

#[test]
fn counters_that_miss_most_of_the_machine_fail_after_half_a_minute() {
    let of = |_| Second {
        exact: (40.0, Some(10.0)),
        ticks: (3_000.0, 100.0, 20.0),
    };
    assert!(!learned(29, of).fails());
    assert!(learned(30, of).fails());
    assert!(learned(1, of).misses_a_group());
}

#[test]
fn nothing_is_added_before_anything_was_learned() {
    assert_near(Unheld::default().now(Some(100.0)), 0.0);
    assert!(!Unheld::default().fails());
}
