//! The blend, one term at a time.

use std::time::Duration;

use plimsoll_framework::{LoadResource, ResourceLoad};

use super::Known;
use crate::figures::Judged;
use crate::ledger::Ledger;
use crate::moment::Moment;
use crate::options::LoadOptions;
use crate::world::{EWMA, SECOND};

const LEDGER: Ledger = Ledger {
    in_flight: 50.0,
    departing: 20.0,
    shown: 30.0,
    estimates: 200.0,
    targets: 80.0,
    overhead: 10.0,
};
const FIGURE: Judged = Judged {
    value: 100.0,
    kernel: EWMA,
    window: Duration::from_mins(15),
    taken: FIRST,
};
const FIRST: Moment = Moment::FIRST;

fn known(resource: LoadResource, figure: Option<&'static Judged>) -> Known<'static> {
    Known {
        resource,
        figure,
        ledger: &LEDGER,
        capacity: Some(1_000.0),
        confidence: 1.0,
        floor: None,
    }
}

fn row(known: &Known<'_>, seconds: u32) -> ResourceLoad {
    known.row(FIRST.after(seconds * SECOND), &LoadOptions::default())
}

#[test]
fn a_fresh_row_is_the_figure_brought_up_to_date() {
    let row = row(&known(LoadResource::Cpu, Some(&FIGURE)), 0);
    assert_eq!(row.measured, Some(100.0));
    assert_eq!(row.used, Some(100.0 - 20.0 + 50.0));
    assert_eq!(row.expected, Some(80.0 + 10.0));
    assert_eq!(row.capacity, Some(1_000.0));
}

#[test]
fn without_a_figure_the_row_is_what_is_expected_without_penalty() {
    let known = Known {
        floor: Some(900.0),
        confidence: 0.0,
        ..known(LoadResource::Cpu, None)
    };
    let row = row(&known, 0);
    assert_eq!((row.measured, row.used), (None, Some(80.0)));
}

#[test]
fn an_ageing_row_moves_from_the_figure_to_what_is_expected() {
    let known = Known {
        confidence: 0.25,
        ..known(LoadResource::Cpu, Some(&FIGURE))
    };
    assert_eq!(row(&known, 0).used, Some(0.25 * 130.0 + 0.75 * 90.0));
}

#[test]
fn expected_drifts_to_the_estimates_and_forgets_the_overhead() {
    let known = known(LoadResource::Cpu, Some(&FIGURE));
    assert!((row(&known, 100_000).expected.unwrap() - 200.0).abs() < 1e-9);
    let half = row(&known, 1_800).expected.unwrap();
    let (drift, fade) = ((-1.0_f64).exp(), (-0.5_f64).exp());
    assert!((half - (80.0 * drift + 200.0 * (1.0 - drift) + 10.0 * fade)).abs() < 1e-9);
}

#[test]
fn a_silent_row_is_no_better_than_the_floor_by_its_age() {
    let base = known(LoadResource::Cpu, Some(&FIGURE));
    for (confidence, used) in [(1.0, 130.0), (0.5, 0.5 * 130.0 + 0.5 * 400.0), (0.0, 400.0)] {
        let known = Known {
            confidence,
            floor: Some(400.0),
            ..base
        };
        assert_eq!(row(&known, 0).used, Some(used));
    }
    let low = Known {
        confidence: 0.0,
        floor: Some(1.0),
        ..base
    };
    assert_eq!(row(&low, 0).used, Some(90.0));
}

#[test]
fn bandwidth_is_committed_where_it_is_declared() {
    static DECLARED: Ledger = Ledger {
        shown: 300.0,
        ..LEDGER
    };
    let known = Known {
        ledger: &DECLARED,
        ..known(LoadResource::Rx, Some(&FIGURE))
    };
    assert_eq!(row(&known, 0).used, Some(300.0 + 50.0));
    let idle = Known {
        ledger: &LEDGER,
        ..known
    };
    assert_eq!(row(&idle, 0).used, Some(80.0 + 50.0));
}

#[test]
fn bandwidth_that_nobody_measured_or_declared_is_unknown() {
    static NOTHING: Ledger = Ledger {
        estimates: 0.0,
        targets: 0.0,
        in_flight: 0.0,
        ..LEDGER
    };
    let unknown = Known {
        ledger: &NOTHING,
        ..known(LoadResource::Tx, None)
    };
    assert_eq!(row(&unknown, 0).used, None);
    assert_eq!(row(&known(LoadResource::Tx, None), 0).used, Some(80.0));
    let cpu = Known {
        ledger: &NOTHING,
        ..known(LoadResource::Cpu, None)
    };
    assert_eq!(row(&cpu, 0).used, Some(0.0));
}

#[test]
fn more_departing_than_measured_is_not_less_than_nothing() {
    static LEFT: Ledger = Ledger {
        departing: 500.0,
        in_flight: 0.0,
        ..LEDGER
    };
    let known = Known {
        ledger: &LEFT,
        ..known(LoadResource::Cpu, Some(&FIGURE))
    };
    assert_eq!(row(&known, 0).used, Some(0.0));
}
