//! When a node is announced.

use std::time::Duration;

use plimsoll_framework::{LoadResource, NodeLoad};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::Falls;
use crate::moment::Moment;
use crate::options::{FALL, SETTLE};

const START: Moment = Moment::FIRST;

/// A fresh row of a node of 1,000 millicores that carries these shares, by mean and peak.
fn row(mean: Option<f64>, peak: Option<f64>) -> NodeLoad {
    let mut row = NodeLoad {
        confidence: 1.0,
        ..NodeLoad::default()
    };
    row.cpu.capacity = Some(1_000.0);
    row.cpu.used = mean.map(|share| share * 1_000.0);
    row.cpu.used_p95 = peak.map(|share| share * 1_000.0);
    row
}

fn cpu(share: f64) -> NodeLoad {
    row(Some(share), None)
}

/// What is announced of a fresh node in the course of these rows.
fn announced(rows: &[NodeLoad]) -> Vec<bool> {
    let mut falls = Falls::default();
    falls.see(START, &cpu(0.0));
    rows.iter().map(|row| falls.see(START, row)).collect()
}

#[test]
fn a_fall_by_the_band_is_announced_once() {
    let rows = [0.90, 0.89, 0.88, 0.88, 0.87, 0.86].map(cpu);
    let expected = [false, false, true, false, false, true];
    assert_eq!(announced(&rows), expected);
}

#[test]
fn a_rise_is_never_announced_and_lifts_the_height_to_fall_from() {
    let rows = [0.50, 0.70, 0.95, 0.94, 0.93].map(cpu);
    assert_eq!(announced(&rows), [false, false, false, false, true]);
}

#[test]
fn noise_within_the_band_wakes_nobody() {
    let rows = [0.50, 0.485, 0.50, 0.485, 0.50].map(cpu);
    assert!(!announced(&rows).contains(&true));
}

#[test]
fn a_fall_smaller_than_the_band_is_announced_once_it_has_lasted() {
    let mut falls = Falls::default();
    let later = START.after(SETTLE);
    assert!(falls.see(START, &cpu(0.86)));
    assert!(!falls.see(START, &cpu(0.845)));
    assert!(falls.see(later, &cpu(0.845)));
    assert!(
        !falls.see(later.after(SETTLE), &cpu(0.844)),
        "that is noise"
    );
}

#[test]
fn a_resource_that_is_judged_no_more_has_fallen() {
    let rows = [cpu(0.90), row(None, None), row(None, None), cpu(0.90)];
    assert_eq!(announced(&rows), [false, true, false, false]);
}

#[test]
fn peaks_fall_by_themselves() {
    let rows = [
        row(Some(0.5), Some(0.9)),
        row(Some(0.5), Some(0.8)),
        row(Some(0.5), None),
        row(Some(0.5), Some(0.7)),
    ];
    assert_eq!(announced(&rows), [false, true, true, false]);
}

#[test]
fn one_resource_is_enough() {
    let mut high = cpu(0.5);
    (high.tx.used, high.tx.capacity) = (Some(90.0), Some(100.0));
    let mut low = high;
    low.tx.used = Some(80.0);
    low.cpu.used = Some(900.0);
    assert_eq!(announced(&[high, low]), [false, true]);
}

#[test]
fn a_node_that_is_fresh_again_is_announced() {
    let mut stale = cpu(0.90);
    stale.confidence = 0.9;
    let rows = [cpu(0.90), stale, stale, cpu(0.90), cpu(0.90)];
    assert_eq!(announced(&rows), [false, false, false, true, false]);
    assert!(Falls::default().see(START, &cpu(0.90)));
    assert!(!Falls::default().see(START, &NodeLoad::default()));
}

#[test]
fn a_silence_is_announced_each_minute_for_ten() {
    let mut falls = Falls::default();
    falls.see(START, &cpu(0.90));
    let mut times = Vec::new();
    for second in 4..2_000 {
        let mut silent = cpu(0.90);
        silent.confidence = 0.9;
        silent.sample_age = Some(Duration::from_secs(second));
        if falls.see(START, &silent) {
            times.push(second);
        }
    }
    // Just past each: a plugin that judges by samples up to 180 s old judges at 180 s still.
    assert_eq!(times, [61, 121, 181, 241, 301, 361, 421, 481, 541, 601]);
    assert!(falls.see(START, &cpu(0.90)));
}

#[test]
fn a_capacity_that_grows_is_announced_where_the_ratio_alone_would_not_tell() {
    let idle = |capacity| {
        let mut idle = cpu(0.0);
        (idle.rx.used, idle.rx.capacity) = (Some(0.0), capacity);
        idle
    };
    let capacities = [
        Some(100.0),
        Some(101.0),
        Some(200.0),
        Some(100.0),
        None,
        Some(5.0),
    ];
    let expected = [false, false, true, false, true, false];
    assert_eq!(announced(&capacities.map(idle)), expected);
}

#[derive(Debug, Clone)]
struct Step {
    shares: [Option<f64>; 4],
    peak: Option<f64>,
    confidence: f64,
}

fn step() -> impl Strategy<Value = Step> {
    let share = || prop_oneof![4 => (0.0_f64..1.5).prop_map(Some), 1 => Just(None)];
    let confidence = prop_oneof![4 => Just(1.0), 1 => 0.0_f64..1.0];
    let shares = [share(), share(), share(), share()];
    (shares, share(), confidence).prop_map(|(shares, peak, confidence)| Step {
        shares,
        peak,
        confidence,
    })
}

/// Small steps: what falls slowly must be noticed, too.
fn drift() -> impl Strategy<Value = Step> {
    (0.80_f64..0.90).prop_map(|share| Step {
        shares: [Some(share); 4],
        peak: Some(share),
        confidence: 1.0,
    })
}

fn row_of(step: &Step) -> NodeLoad {
    let mut row = NodeLoad {
        confidence: step.confidence,
        ..NodeLoad::default()
    };
    for resource in LoadResource::ALL {
        let load = row.get_mut(resource);
        load.capacity = Some(64.0);
        load.used = step.shares[resource as usize].map(|share| share * 64.0);
        load.used_p95 = step.peak.map(|share| share * 64.0);
    }
    row
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(0x5013),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Between any two rows of which the first is rejected by more than the band and the
    /// second is not, there is an announcement.
    #[test]
    fn no_pod_sleeps_through_a_fall(
        steps in prop::collection::vec(prop_oneof![step(), drift()], 2..40),
        line in 0.1_f64..1.0,
    ) {
        let mut falls = Falls::default();
        let rows = steps.iter().map(row_of).collect::<Vec<_>>();
        let announced = rows.iter().map(|row| falls.see(START, row)).collect::<Vec<_>>();
        for resource in LoadResource::ALL {
            for judge in [mean, peak] {
                let mut rejected = false;
                for (row, announced) in rows.iter().zip(&announced) {
                    let ratio = judge(row, resource);
                    rejected &= !announced;
                    prop_assert!(!rejected || ratio.is_some_and(|ratio| ratio > line));
                    rejected |= ratio.is_some_and(|ratio| ratio > line + FALL);
                }
            }
        }
    }
}

fn mean(row: &NodeLoad, resource: LoadResource) -> Option<f64> {
    row.get(resource).ratio_with(0.0)
}

/// As a plugin that judges by peaks has it: the mean where there are none.
fn peak(row: &NodeLoad, resource: LoadResource) -> Option<f64> {
    let load = row.get(resource);
    let used = load.used?;
    Some(load.used_p95.unwrap_or(used) / load.capacity?)
}
