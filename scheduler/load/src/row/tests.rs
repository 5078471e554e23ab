//! The blend, one term at a time.

use std::time::Duration;

use plimsoll_framework::{LoadResource, ResourceLoad};

use super::Known;
use crate::age::Aged;
use crate::figures::Judged;
use crate::ledger::Ledger;
use crate::moment::Moment;
use crate::options::LoadOptions;
use crate::scale::Scale;
use crate::silence::{Floor, StandIn};
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
    taken: Moment::FIRST,
};
const NOBODY: &StandIn = &StandIn {
    floor: Floor::NONE,
    scale: Scale::NONE,
};
/// Everything as at the sample.
const FRESH: Aged = Aged {
    confidence: 1.0,
    drift: 1.0,
    overhead: 1.0,
};

fn known(resource: LoadResource, figure: Option<&'static Judged>) -> Known<'static> {
    Known {
        resource,
        figure,
        ledger: &LEDGER,
        peak: None,
        capacity: Some(1_000.0),
        aged: FRESH,
        stand_in: NOBODY,
    }
}

/// Silent: the figure counts for `confidence`.
fn silent(confidence: f64) -> Aged {
    Aged {
        confidence,
        ..FRESH
    }
}

/// Nodes of a capacity of 1,000 are judged to carry at least `share` of it.
fn floor(share: f64) -> StandIn {
    StandIn {
        floor: Floor::of([Some(share); 4]),
        scale: Scale::NONE,
    }
}

fn row(known: &Known<'_>) -> ResourceLoad {
    known.row()
}

#[test]
fn a_fresh_row_is_the_figure_brought_up_to_date() {
    let row = row(&known(LoadResource::Cpu, Some(&FIGURE)));
    assert_eq!(row.measured, Some(100.0));
    assert_eq!(row.used, Some(100.0 - 20.0 + 50.0));
    assert_eq!(row.expected, Some(80.0 + 10.0));
    assert_eq!(row.capacity, Some(1_000.0));
}

#[test]
fn without_a_figure_the_row_is_what_is_expected_without_penalty() {
    let known = Known {
        stand_in: &floor(0.9),
        aged: Aged::default(),
        peak: Some(500.0),
        ..known(LoadResource::Cpu, None)
    };
    let row = row(&known);
    assert_eq!((row.measured, row.used), (None, Some(80.0)));
    assert_eq!(row.used_p95, None);
}

#[test]
fn an_ageing_row_moves_from_the_figure_to_what_is_expected() {
    let known = Known {
        aged: silent(0.25),
        ..known(LoadResource::Cpu, Some(&FIGURE))
    };
    assert_eq!(row(&known).used, Some(0.25 * 130.0 + 0.75 * 90.0));
}

#[test]
fn expected_drifts_to_the_estimates_and_forgets_the_overhead() {
    let after = |seconds: u32| {
        let known = Known {
            aged: Aged::of(seconds * SECOND, SECOND, &LoadOptions::default()),
            ..known(LoadResource::Cpu, Some(&FIGURE))
        };
        row(&known).expected.unwrap()
    };
    assert!((after(100_000) - 200.0).abs() < 1e-9);
    let (drift, fade) = ((-1.0_f64).exp(), (-0.5_f64).exp());
    assert!((after(1_800) - (80.0 * drift + 200.0 * (1.0 - drift) + 10.0 * fade)).abs() < 1e-9);
}

#[test]
fn a_silent_row_is_no_better_than_the_floor_by_its_age() {
    for (confidence, used) in [(1.0, 130.0), (0.5, 0.5 * 130.0 + 0.5 * 400.0), (0.0, 400.0)] {
        let known = Known {
            aged: silent(confidence),
            stand_in: &floor(0.4),
            ..known(LoadResource::Cpu, Some(&FIGURE))
        };
        assert_eq!(row(&known).used, Some(used));
    }
    let low = Known {
        aged: silent(0.0),
        stand_in: &floor(0.001),
        ..known(LoadResource::Cpu, Some(&FIGURE))
    };
    assert_eq!(row(&low).used, Some(90.0));
}

#[test]
fn in_a_brown_out_what_a_silent_node_is_expected_to_use_is_scaled() {
    let mut half = StandIn::default();
    half.scale.add(LoadResource::Cpu, 45.0, &LEDGER);
    for (confidence, expected, used) in [(1.0, 90.0, 130.0), (0.0, 45.0, 45.0)] {
        let known = Known {
            aged: silent(confidence),
            stand_in: &half,
            ..known(LoadResource::Cpu, Some(&FIGURE))
        };
        let row = row(&known);
        assert_eq!((row.expected, row.used), (Some(expected), Some(used)));
    }
    let never = Known {
        aged: Aged::default(),
        stand_in: &half,
        ..known(LoadResource::Cpu, None)
    };
    assert_eq!(row(&never).used, Some(80.0));
}

#[test]
fn peaks_stand_in_for_the_mean_where_they_are_larger() {
    for (peak, confidence, used) in [
        (150.0, 1.0, 150.0 - 20.0 + 50.0),
        (60.0, 1.0, 130.0),
        (150.0, 0.5, 0.5 * 180.0 + 0.5 * 90.0),
    ] {
        let known = Known {
            peak: Some(peak),
            aged: silent(confidence),
            ..known(LoadResource::Memory, Some(&FIGURE))
        };
        assert_eq!(row(&known).used_p95, Some(used));
    }
    assert_eq!(
        row(&known(LoadResource::Memory, Some(&FIGURE))).used_p95,
        None
    );
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
    assert_eq!(row(&known).used, Some(300.0 + 50.0));
    let idle = Known {
        ledger: &LEDGER,
        ..known
    };
    assert_eq!(row(&idle).used, Some(80.0 + 50.0));
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
    assert_eq!(row(&unknown).used, None);
    assert_eq!(row(&known(LoadResource::Tx, None)).used, Some(80.0));
    let cpu = Known {
        ledger: &NOTHING,
        ..known(LoadResource::Cpu, None)
    };
    assert_eq!(row(&cpu).used, Some(0.0));
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
    assert_eq!(row(&known).used, Some(0.0));
}
