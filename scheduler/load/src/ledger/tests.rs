//! The ledger's terms, one by one.

use std::time::Duration;

use plimsoll_framework::{LoadResource, PodEstimate};
use plimsoll_kernel::Kernel;

use super::Ledger;
use crate::figures::Judged;
use crate::moment::Moment;
use crate::options::RAMP;
use crate::pod_entry::PodEntry;
use crate::world::{EWMA, SECOND, at, pod, pod_sample, running};

const TAU: f64 = 10.0;

/// A figure of a long window, taken at second 1,000.
fn figure(value: f64) -> Judged {
    Judged {
        value,
        kernel: EWMA,
        window: 900 * SECOND,
        taken: second(1_000),
    }
}

fn second(second: u32) -> Moment {
    Moment::at(second * SECOND)
}

fn estimate(cpu: f64) -> PodEstimate {
    PodEstimate {
        cpu,
        ..PodEstimate::default()
    }
}

/// A pod expected to use `cpu` that has run since `began`.
fn since(began: u64, cpu: f64) -> PodEntry {
    PodEntry::new(&running(pod("a", 0)), estimate(cpu), at(began))
}

/// The same, reported at second 1,000 to use `rate`.
fn measured(began: u32, cpu: f64, rate: f64) -> PodEntry {
    let mut entry = since(u64::from(began), cpu);
    let age = (1_000 - began) * SECOND;
    entry.report(&pod_sample("a", age, rate), second(1_000), &[Some(EWMA); 4]);
    entry
}

fn reckon(figure: &Judged, pods: &[PodEntry]) -> Ledger {
    Ledger::reckon(LoadResource::Cpu, Some(figure), pods.iter(), RAMP)
}

fn near(one: f64, other: f64) {
    assert!(
        (one - other).abs() < 1e-6 * other.abs().max(1.0),
        "{one} is not {other}"
    );
}

#[test]
fn a_pod_that_came_after_the_sample_is_wholly_in_flight() {
    let assumed = PodEntry::new(&pod("a", 0), estimate(400.0), at(1_001));
    near(reckon(&figure(0.0), &[assumed]).in_flight, 400.0);
    near(
        reckon(&figure(0.0), &[since(1_001, 400.0)]).in_flight,
        400.0,
    );
}

#[test]
fn a_pod_that_has_not_begun_stays_in_flight_however_long_it_takes() {
    let pulling = PodEntry::new(&pod("a", 0), estimate(400.0), at(500));
    near(reckon(&figure(0.0), &[pulling]).in_flight, 400.0);
}

#[test]
fn an_unmeasured_pod_drains_as_the_figure_comes_to_show_it() {
    let ledger = reckon(&figure(0.0), &[since(995, 400.0)]);
    near(ledger.in_flight, 400.0 * (-5.0 / TAU).exp());
    near(ledger.shown + ledger.in_flight, 400.0);
    near(reckon(&figure(0.0), &[since(100, 400.0)]).in_flight, 0.0);
}

#[test]
fn a_measured_pod_is_trusted_more_the_older_it_is() {
    let ledger = reckon(&figure(0.0), &[measured(970, 400.0, 100.0)]);
    let (trust, shown) = ((-30.0_f64 / 60.0).exp(), 1.0 - (-30.0 / TAU).exp());
    near(ledger.targets, 400.0 * trust + 100.0 * (1.0 - trust));
    near(ledger.in_flight, ledger.targets - 100.0 * shown);
    assert!(reckon(&figure(0.0), &[measured(1, 400.0, 100.0)]).in_flight < 1e-3);
}

#[test]
fn a_pod_that_uses_more_than_expected_is_not_taken_off() {
    let ledger = reckon(&figure(900.0), &[measured(970, 100.0, 900.0)]);
    assert!(ledger.in_flight >= 0.0 && ledger.departing == 0.0);
}

#[test]
fn a_restarted_agent_shows_every_running_pod_in_full() {
    let young = Judged {
        window: 2 * SECOND,
        ..figure(400.0)
    };
    let ledger = reckon(&young, &[since(995, 400.0)]);
    near(ledger.in_flight, 0.0);
    near(ledger.shown, 400.0);
}

#[test]
fn what_left_after_the_sample_is_taken_off_in_full() {
    let mut entry = measured(100, 400.0, 300.0);
    entry.remove(second(1_001));
    let ledger = reckon(&figure(1_000.0), &[entry]);
    near(ledger.departing, 300.0);
    near(ledger.overhead, 700.0);
    near(ledger.estimates, 0.0);
}

#[test]
fn what_left_before_the_sample_is_taken_off_as_far_as_it_shows() {
    let mut entry = measured(100, 400.0, 300.0);
    entry.remove(second(990));
    near(
        reckon(&figure(1_000.0), &[entry]).departing,
        300.0 * (-10.0 / TAU).exp(),
    );
}

#[test]
fn memory_is_free_at_the_first_sample_without_the_pod() {
    let instant = Judged {
        kernel: Kernel::Instant,
        ..figure(700.0)
    };
    let mut entry = since(100, 300.0);
    entry.remove(second(999));
    near(reckon(&instant, &[entry]).departing, 0.0);
}

#[test]
fn an_unmeasured_departed_pod_is_taken_off_by_its_estimate() {
    let mut entry = since(100, 300.0);
    entry.remove(second(1_001));
    near(reckon(&figure(1_000.0), &[entry]).departing, 300.0);
}

#[test]
fn requests_far_above_use_do_not_make_a_node_look_idle() {
    // Four pods request 1,000 each and use 100; one of them leaves.
    let mut pods = vec![since(100, 1_000.0); 4];
    pods[0].remove(second(1_001));
    let ledger = reckon(&figure(400.0), &pods);
    near(ledger.departing, 100.0);
}

#[test]
fn what_measured_pods_use_is_not_claimed_by_others() {
    let mut guess = since(100, 1_000.0);
    guess.remove(second(1_001));
    let ledger = reckon(&figure(500.0), &[measured(100, 0.0, 450.0), guess]);
    near(ledger.departing, 50.0);
    near(ledger.overhead, 0.0);
}

#[test]
fn no_more_is_taken_off_than_was_measured() {
    let mut entry = measured(100, 0.0, 900.0);
    entry.remove(second(1_001));
    near(reckon(&figure(200.0), &[entry]).departing, 200.0);
}

#[test]
fn without_a_figure_everything_is_only_expected() {
    let mut gone = since(100, 50.0);
    gone.remove(second(200));
    let pods = [since(995, 400.0), gone];
    let ledger = Ledger::reckon(LoadResource::Cpu, None, pods.iter(), RAMP);
    near(ledger.estimates, 400.0);
    assert_eq!((ledger.in_flight, ledger.departing), (0.0, 0.0));
}

#[test]
fn a_deleted_pod_that_lingers_is_neither_added_nor_taken_off() {
    let mut entry = since(990, 400.0);
    entry.remove(second(992));
    entry.report(
        &pod_sample("a", 10 * SECOND, 300.0),
        second(1_000),
        &[Some(EWMA); 4],
    );
    let ledger = reckon(&figure(1_000.0), &[entry]);
    assert_eq!((ledger.in_flight, ledger.departing), (0.0, 0.0));
}

#[test]
fn durations_at_the_ends_of_time_do_no_harm() {
    let mut entry = measured(0, 1.0, 1.0);
    let ancient = pod_sample("a", Duration::MAX, 1.0);
    entry.report(&ancient, Moment::at(Duration::MAX), &[None; 4]);
    let ledger = reckon(&figure(1.0), &[entry]);
    assert!(ledger.in_flight.is_finite() && ledger.departing.is_finite());
}
