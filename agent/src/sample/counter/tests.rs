//! The difference engine on the series of the field, and on random ones.

use std::time::Duration;

use proptest::prelude::*;

use super::{Counter, Pace, Tick};
use crate::sample::counters::Counters;

const PERIOD: Duration = Duration::from_secs(10);

/// The rates of a series of readings, one per period; `None` = the reading is missing.
fn rates(readings: &[Option<u64>]) -> (Vec<Option<f64>>, Counters) {
    let mut counter = Counter::default();
    let mut counters = Counters::default();
    let mut at = Duration::ZERO;
    let rates = readings.iter().map(|reading| {
        at += PERIOD;
        let tick = Tick {
            at,
            longest: 3 * PERIOD,
        };
        let growth = counter.step((*reading)?, tick, &mut counters)?;
        Some(growth.rate())
    });
    (rates.collect(), counters)
}

#[test]
fn the_first_reading_has_no_value() {
    assert_eq!(rates(&[Some(9_000)]).0, vec![None]);
}

#[test]
fn a_reset_has_no_value_and_is_the_new_base() {
    let (rates, counters) = rates(&[Some(9_000_000_000), Some(1_000), Some(126_000)]);
    assert_eq!(rates, vec![None, None, Some(12_500.0)]);
    assert_eq!(counters.rebaselined, 1);
}

#[test]
fn a_single_zero_is_a_glitch_and_the_next_step_covers_both_periods() {
    let (rates, counters) = rates(&[Some(9_000_000_000), Some(0), Some(9_000_050_000)]);
    assert_eq!(rates, vec![None, None, Some(2_500.0)]);
    assert_eq!((counters.glitches, counters.rebaselined), (1, 0));
}

#[test]
fn a_zero_is_believed_when_it_stays() {
    let (found, _) = rates(&[Some(9_000), Some(0), Some(10), Some(20)]);
    assert_eq!(found, vec![None, None, None, Some(1.0)]);
    let zeros = [Some(0); 5];
    let (found, counters) = rates(&[&[Some(9_000)], &zeros[..], &[Some(10)]].concat());
    assert_eq!(found, vec![None, None, None, None, None, None, Some(1.0)]);
    assert_eq!(
        counters.glitches, 4,
        "after three periods the zeros are believed"
    );
}

#[test]
fn an_idle_counter_at_zero_is_no_glitch() {
    let (rates, counters) = rates(&[Some(0), Some(0), Some(10)]);
    assert_eq!(rates, vec![None, Some(0.0), Some(1.0)]);
    assert_eq!(counters, Counters::default());
}

#[test]
fn a_wrap_at_32_bits_is_not_repaired() {
    let (rates, _) = rates(&[Some(4_294_967_290), Some(5)]);
    assert_eq!(rates, vec![None, None]);
}

#[test]
fn after_missing_readings_the_step_covers_the_whole_time() {
    let (found, _) = rates(&[Some(0), None, None, Some(300)]);
    assert_eq!(found.last(), Some(&Some(10.0)));
    let (found, _) = rates(&[Some(0), None, None, None, Some(300), Some(310)]);
    assert_eq!(found.last(), Some(&Some(1.0)));
    assert_eq!(
        found.get(4),
        Some(&None),
        "40 s are more than three periods"
    );
}

/// One step of a hostile counter.
#[derive(Clone, Debug)]
enum Event {
    Grow(u64),
    Reset(u64),
    Zero,
    Missing,
    Gap,
    Again,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => (0_u64..=1_000).prop_map(Event::Grow),
        1 => (0_u64..1_000_000).prop_map(Event::Reset),
        1 => Just(Event::Zero),
        1 => Just(Event::Missing),
        1 => Just(Event::Gap),
        1 => Just(Event::Again),
    ]
}

proptest! {
    /// The truth grows by at most 1,000 per period. A reset to a value above the base is
    /// indistinguishable from growth, so resets go below what was read before; a zero is
    /// a glitch of one reading, and not of the first.
    #[test]
    fn no_series_makes_up_a_rate_above_the_true_one(start in 1_000_000_u64..u64::MAX / 2,
            events in prop::collection::vec(event(), 1..60)) {
        let (mut counter, mut counters) = (Counter::default(), Counters::default());
        let (mut truth, mut at) = (start, Duration::from_secs(1));
        let (mut lowest, mut last_was_zero) = (start, false);
        let first = Tick { at, longest: 3 * PERIOD };
        prop_assert_eq!(counter.step(start, first, &mut counters), None);
        for event in events {
            let mut reading = None;
            if !matches!(event, Event::Again) {
                at += PERIOD;
            }
            match event {
                Event::Grow(by) => { truth += by; reading = Some(truth); }
                Event::Reset(to) => {
                    truth = to.min(lowest.saturating_sub(1));
                    lowest = truth;
                    reading = Some(truth);
                }
                Event::Zero => reading = (!last_was_zero).then_some(0),
                Event::Missing => {}
                Event::Gap => at += 5 * PERIOD,
                Event::Again => reading = Some(truth),
            }
            if let Some(value) = reading {
                last_was_zero = value == 0;
            }
            let tick = Tick { at, longest: 3 * PERIOD };
            let growth = reading.and_then(|value| counter.step(value, tick, &mut counters));
            if let Some(growth) = growth {
                prop_assert!(growth.over >= PERIOD && growth.over <= 3 * PERIOD);
                prop_assert!(growth.rate() <= 100.0 + 1e-9, "{growth:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tick_that_is_held_up_reads_later_by_that_time() {
    let at = Duration::from_secs(10);
    let without = Pace::begin(at, 3 * PERIOD, None);
    let pace = Pace::begin(at, 3 * PERIOD, Some(crate::clock::Clock::start()));
    let hold = Duration::from_millis(90);
    tokio::time::advance(hold).await;
    assert_eq!((pace.at(), pace.tick().at), (at, at + hold));
    assert_eq!(without.tick().at, at);
}
