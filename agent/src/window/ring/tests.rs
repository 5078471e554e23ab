//! Quantiles against sorting, and against time.

use std::time::Duration;

use proptest::prelude::*;

use super::{CAPACITY, Ring};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_empty_ring_has_no_quantile() {
    assert_eq!(Ring::new().quantile(0.95, 60 * SECOND, SECOND), None);
}

#[test]
fn the_p95_of_a_hundred_is_the_ninety_fifth() {
    let mut ring = Ring::new();
    for value in (1..=100).rev() {
        ring.push(f64::from(value), SECOND);
    }
    let found = ring.quantile(0.95, 60 * SECOND, SECOND).unwrap();
    assert_eq!((found.value, found.samples), (95.0, 100));
}

#[test]
fn old_samples_leave_the_window() {
    let mut ring = Ring::new();
    ring.push(100.0, SECOND);
    ring.push(1.0, 60 * SECOND);
    let found = ring.quantile(0.95, 60 * SECOND, 61 * SECOND).unwrap();
    assert_eq!((found.value, found.age, found.samples), (1.0, SECOND, 1));
    assert_eq!(ring.quantile(0.95, 60 * SECOND, 200 * SECOND), None);
}

proptest! {
    #[test]
    fn quantiles_are_those_of_sorting(values in prop::collection::vec(0_u16..5_000, 1..700),
                                      q in 0.0_f32..=1.0) {
        let mut ring = Ring::new();
        for (second, value) in values.iter().enumerate() {
            ring.push(f64::from(*value), SECOND * u32::try_from(second).unwrap());
        }
        let now = SECOND * u32::try_from(values.len() - 1).unwrap();
        let found = ring.quantile(q, 10_000 * SECOND, now).unwrap();
        let mut newest: Vec<u16> = values.iter().rev().take(CAPACITY).copied().collect();
        newest.sort_unstable();
        let rank = (f64::from(q) * newest.len() as f64).ceil() as usize;
        prop_assert_eq!(found.value, f64::from(newest[rank.max(1) - 1]));
    }
}
