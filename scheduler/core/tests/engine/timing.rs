//! What is measured for metrics, and that it decides nothing.

use std::time::Duration;

use plimsoll_core::{EngineOptions, Stopwatch, Timing};
use plimsoll_framework::test_util::{node, pod};

use crate::harness::{Harness, NO_RESCUE};

fn with_stopwatch(stopwatch: Option<Stopwatch>) -> Harness {
    let options = EngineOptions {
        stopwatch,
        ..EngineOptions::default()
    };
    let nodes = [node("a").cpu("4"), node("b").cpu("4")];
    let mut harness = Harness::with_options(NO_RESCUE, "", options).started(&nodes);
    for name in ["p", "q", "r"] {
        harness.set_pod(&pod(name).cpu("1"));
    }
    harness.set_pod(&pod("huge").cpu("9"));
    harness.pass_seconds(2);
    harness.answer_bind("p", Ok(()));
    harness
}

fn timings(harness: &Harness) -> Vec<Timing> {
    let mut timings = Vec::new();
    harness.engine.drain_timings(|timing| timings.push(timing));
    timings
}

#[test]
fn a_stopwatch_changes_nothing_that_is_decided() {
    let stands_still = Some(Stopwatch(|| Duration::ZERO));
    assert_eq!(with_stopwatch(None).said, with_stopwatch(stands_still).said);
}

#[test]
fn an_attempt_is_timed_from_its_cycle_to_its_end_point_by_point() {
    let harness = with_stopwatch(Some(Stopwatch(|| Duration::ZERO)));
    let timings = timings(&harness);
    let results: Vec<_> = timings
        .iter()
        .filter_map(|timing| match timing {
            Timing::Attempt { result, .. } => Some(*result),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["unschedulable", "scheduled"]);
    let waited = Duration::from_secs(2);
    let scheduled = Timing::Scheduled {
        attempts: 1,
        waited,
    };
    assert!(timings.contains(&scheduled), "{timings:?}");
    for (point, times) in [("PreFilter", 4), ("Filter", 4), ("Reserve", 3), ("Bind", 1)] {
        let is_it =
            |timing: &&Timing| matches!(timing, Timing::Point { point: it, .. } if *it == point);
        assert_eq!(timings.iter().filter(is_it).count(), times, "{point}");
    }
}

#[test]
fn a_filter_is_counted_for_each_node_that_no_earlier_one_rejected() {
    let harness = with_stopwatch(None);
    assert!(timings(&harness).is_empty(), "nobody asked");
    let asked = |plugin: &str| {
        let rows = harness.engine.evaluations();
        let filters = rows.iter().filter(|row| row.point == "Filter");
        let of_plugin = filters.filter(|row| row.plugin == plugin);
        of_plugin.map(|row| row.count).sum::<u64>()
    };
    // Four pods on two nodes; `Fit` rejects both for the huge one, before `Odd` is asked.
    assert_eq!((asked("Fit"), asked("Odd")), (8, 6));
}
