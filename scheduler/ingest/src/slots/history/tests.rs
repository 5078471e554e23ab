//! The points of a node: how many, how far apart, and from where.

use std::sync::Arc;

use plimsoll_load::{Figure, Machine};

use super::*;

const TAU: Kernel = Kernel::Ewma {
    tau: Duration::from_secs(10),
};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn sample(at: u64, millicores: f64) -> Sample {
    let figure = |kernel, value| Figure {
        meter: Meter::Cpu,
        kernel,
        value,
        window: seconds(60),
        samples: 60,
    };
    let peak = Kernel::Quantile {
        q: 0.95,
        width: seconds(60),
    };
    Sample {
        node: Arc::from("a"),
        start_id: 1,
        sequence: at,
        arrived: seconds(at),
        age: Duration::ZERO,
        period: seconds(1),
        machine: Machine::default(),
        steal: None,
        untrusted: None,
        figures: vec![figure(peak, 9.0), figure(TAU, millicores)],
        pods: Vec::new(),
    }
}

fn replayed(now: u64, ages: &[u64]) -> Vec<Point> {
    let point = |age: &u64| Point::new(seconds(now), seconds(*age), [Some(1.0), None, None, None]);
    ages.iter().map(point).collect()
}

fn ages(history: &History, now: u64) -> Vec<u64> {
    let points = history.read(seconds(now)).into_iter();
    points.map(|point| point.age.as_secs()).collect()
}

#[test]
fn samples_leave_a_point_each_ten_seconds_with_the_judged_figures() {
    let mut history = History::default();
    for at in 100..=130 {
        history.note(&sample(at, at as f64));
    }
    assert_eq!(ages(&history, 130), [30, 20, 10, 0]);
    let last = *history.read(seconds(130)).last().unwrap();
    assert_eq!((last.cpu, last.memory, last.rx), (Some(130.0), None, None));
}

#[test]
fn a_node_has_sixty_points_however_long_it_speaks() {
    let mut history = History::default();
    for at in (0..10_000).step_by(10) {
        history.note(&sample(at, 1.0));
    }
    assert_eq!(history.points.len(), MAX_POINTS);
    assert_eq!(ages(&history, 9_990)[0], 590);
}

#[test]
fn a_replay_reaches_back_before_the_clock_began() {
    let mut history = History::default();
    history.fill(&replayed(3, &[300, 290, 10]));
    history.note(&sample(4, 7.0));
    assert_eq!(ages(&history, 4), [301, 291, 11, 0]);
}

#[test]
fn a_replay_fills_the_gap_of_a_lost_connection_and_repeats_nothing() {
    let mut history = History::default();
    for at in [100, 110, 120] {
        history.note(&sample(at, 5.0));
    }
    history.fill(&replayed(160, &[61, 51, 41, 30, 20, 10]));
    assert_eq!(ages(&history, 160), [60, 50, 40, 30, 20, 10]);
    let own = history.read(seconds(160))[0].cpu;
    assert_eq!(own, Some(5.0));
}

#[test]
fn a_sample_without_figures_leaves_no_point() {
    let mut history = History::default();
    let mut mute = sample(100, 1.0);
    mute.figures.clear();
    history.note(&mute);
    assert_eq!(ages(&history, 100), [0_u64; 0]);
}
