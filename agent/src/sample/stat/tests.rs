//! CPU lines of the field, hot-plug, and random ones.

use std::fmt::Write as _;
use std::time::Duration;

use proptest::prelude::*;

use super::{Shares, Stat, Tick};
use crate::sample::counters::Counters;

fn tick(seconds: u64) -> Tick {
    Tick {
        at: Duration::from_secs(seconds),
        longest: Duration::from_secs(30),
    }
}

/// The shares between two texts read ten seconds apart.
fn between(before: &str, after: &str) -> (Option<Shares>, Counters) {
    let (mut stat, mut counters) = (Stat::default(), Counters::default());
    assert_eq!(stat.step(before.as_bytes(), tick(10), &mut counters), None);
    (
        stat.step(after.as_bytes(), tick(20), &mut counters),
        counters,
    )
}

#[test]
fn steal_is_neither_busy_nor_free() {
    let (shares, _) = between(
        "cpu 0 0 0 0 0 0 0 0 0 0\n",
        "cpu 200 0 0 600 0 0 0 200 0 0\n",
    );
    let shares = shares.unwrap();
    assert_eq!((shares.busy, shares.steal), (0.2, 0.2));
}

#[test]
fn interrupts_are_busy_and_told_apart() {
    let (shares, _) = between("cpu 0 0 0 0 0 0 0 0 0 0\n", "cpu 10 0 20 50 0 5 15 0 0 0\n");
    let shares = shares.unwrap();
    assert_eq!((shares.busy, shares.irq, shares.system), (0.5, 0.2, 0.2));
}

#[test]
fn a_new_cpu_waits_for_its_second_reading() {
    let before = "cpu 0\ncpu0 100 0 0 100 0 0 0 0 0 0\n";
    let after = "cpu 0\ncpu0 150 0 0 150 0 0 0 0 0 0\ncpu1 9000 0 0 0 0 0 0 0 0 0\n";
    assert_eq!(between(before, after).0.unwrap().busy, 0.5);
}

#[test]
fn a_cpu_that_leaves_takes_its_ticks_along() {
    let before = "cpu0 100 0 0 100\ncpu1 100 0 0 100\ncpu2 100 0 0 100\n";
    let after = "cpu0 150 0 0 150\ncpu2 150 0 0 150\n";
    let (shares, counters) = between(before, after);
    assert_eq!((shares.unwrap().busy, counters), (0.5, Counters::default()));
}

#[test]
fn an_idle_field_that_goes_back_drops_the_sample() {
    let (shares, counters) = between("cpu 100 0 0 900 0\n", "cpu 150 0 0 899 0\n");
    assert_eq!((shares, counters.rebaselined), (None, 1));
}

#[test]
fn a_gap_drops_the_sample_and_is_the_new_base() {
    let (mut stat, mut counters) = (Stat::default(), Counters::default());
    assert_eq!(stat.step(b"cpu 0 0 0 0", tick(0), &mut counters), None);
    assert_eq!(stat.step(b"cpu 1 0 0 1", tick(31), &mut counters), None);
    let shares = stat.step(b"cpu 4 0 0 2", tick(32), &mut counters);
    assert_eq!(shares.unwrap().busy, 0.75);
}

#[test]
fn two_readings_without_growth_have_no_value() {
    assert_eq!(between("cpu 1 0 0 1\n", "cpu 1 0 0 1\n").0, None);
}

fn stat_text() -> impl Strategy<Value = String> {
    let line = (0_u32..6, prop::collection::vec(0_u64..5_000, 0..11));
    prop::collection::vec(line, 0..8).prop_map(|lines| {
        let mut text = "cpu 1 2 3\n".to_owned();
        for (cpu, fields) in lines {
            let _ = write!(text, "cpu{cpu}");
            for field in fields {
                let _ = write!(text, " {field}");
            }
            text.push('\n');
        }
        text
    })
}

proptest! {
    #[test]
    fn shares_are_shares_whatever_was_read(texts in prop::collection::vec(stat_text(), 2..12)) {
        let (mut stat, mut counters) = (Stat::default(), Counters::default());
        for (second, text) in texts.iter().enumerate() {
            let found = stat.step(text.as_bytes(), tick(second as u64), &mut counters);
            prop_assert!(second > 0 || found.is_none());
            if let Some(shares) = found {
                prop_assert!((0.0..=1.0).contains(&shares.busy));
                prop_assert!(shares.busy + shares.steal <= 1.0 + 1e-12);
                prop_assert!(shares.irq + shares.system <= shares.busy + 1e-12);
            }
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(texts in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..100), 1..4)) {
        let (mut stat, mut counters) = (Stat::default(), Counters::default());
        for (second, text) in texts.iter().enumerate() {
            let line = [b"cpu", &text[..]].concat();
            let found = stat.step(&line, tick(second as u64), &mut counters);
            prop_assert!(found.is_none_or(|shares| shares.busy <= 1.0));
        }
    }
}
