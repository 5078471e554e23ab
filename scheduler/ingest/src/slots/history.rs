//! What a node carried lately: one point each ten seconds, from its samples and from what its
//! agent replays to a scheduler that just came. For people to look at; judges nothing.

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_kernel::Kernel;
use plimsoll_load::{Meter, Sample};

/// Most points of a node: ten minutes, in 2.4 KB.
pub(crate) const MAX_POINTS: usize = 60;
/// Time between two points, less what samples come early.
const EACH_MS: i64 = 9_500;
/// A replayed point so near to one of our own is the same.
const SAME_MS: i64 = 5_000;

/// A node's judged figures at one instant of the past; `None` where not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryPoint {
    /// Time from then to the question.
    pub age: Duration,
    /// Millicores.
    pub cpu: Option<f64>,
    /// Bytes.
    pub memory: Option<f64>,
    /// Bytes per second received.
    pub rx: Option<f64>,
    /// Bytes per second sent.
    pub tx: Option<f64>,
}

/// One kept point. Seven digits are enough for a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// On the engine's clock; below zero for what was before its start.
    at_ms: i64,
    /// CPU, memory, rx, tx.
    figures: [Option<f32>; 4],
}

/// The points of one node, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    points: VecDeque<Point>,
}

// === impl Point ===

impl Point {
    /// Figures (CPU, memory, rx, tx) that were `age` old at `now`.
    pub(crate) fn new(now: Duration, age: Duration, figures: [Option<f64>; 4]) -> Self {
        Self {
            at_ms: ms(now) - ms(age),
            figures: figures.map(|value| value.map(|value| value as f32)),
        }
    }

    fn of(sample: &Sample) -> Self {
        let smooth = |kernel: &Kernel| matches!(kernel, Kernel::Ewma { .. });
        let last = |kernel: &Kernel| matches!(kernel, Kernel::Instant);
        let figure = |meter, is_judged: fn(&Kernel) -> bool| {
            let mut figures = sample.figures.iter();
            let found = figures.find(|it| it.meter == meter && is_judged(&it.kernel));
            found.map(|figure| figure.value)
        };
        let figures = [
            figure(Meter::Cpu, smooth),
            figure(Meter::Memory, last),
            figure(Meter::Rx, smooth),
            figure(Meter::Tx, smooth),
        ];
        Self::new(sample.arrived, sample.age, figures)
    }

    fn is_empty(&self) -> bool {
        self.figures.iter().all(Option::is_none)
    }

    fn at(&self, now: Duration) -> HistoryPoint {
        let [cpu, memory, rx, tx] = self.figures.map(|value| value.map(f64::from));
        let age = u64::try_from(ms(now) - self.at_ms).unwrap_or(0);
        HistoryPoint {
            age: Duration::from_millis(age),
            cpu,
            memory,
            rx,
            tx,
        }
    }
}

// === impl History ===

impl History {
    /// Keeps a point of `sample` if the last is long enough ago.
    pub(super) fn note(&mut self, sample: &Sample) {
        let taken_ms = ms(sample.arrived) - ms(sample.age);
        let last = self.points.back().map(|point| point.at_ms);
        if last.is_some_and(|last| taken_ms - last < EACH_MS) {
            return;
        }
        let point = Point::of(sample);
        if point.is_empty() {
            return;
        }
        if self.points.len() == MAX_POINTS {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// Puts replayed points where there are none of our own.
    pub(super) fn fill(&mut self, replayed: &[Point]) {
        let own = self.points.clone();
        let is_new = |point: &Point| {
            let near = |other: &Point| (other.at_ms - point.at_ms).abs() < SAME_MS;
            !point.is_empty() && !own.iter().any(near)
        };
        self.points
            .extend(replayed.iter().filter(|point| is_new(point)));
        self.points
            .make_contiguous()
            .sort_by_key(|point| point.at_ms);
        let too_many = self.points.len().saturating_sub(MAX_POINTS);
        self.points.drain(..too_many);
    }

    /// Gives the points, oldest first.
    pub(super) fn read(&self, now: Duration) -> Vec<HistoryPoint> {
        self.points.iter().map(|point| point.at(now)).collect()
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}

#[cfg(test)]
mod tests;
