//! Takes the time of plugins and attempts, and counts how often plugins are asked.
//!
//! Handed by reference to all that run hooks. Without a stopwatch it does nothing but
//! count; what it keeps is bounded, and the driver takes it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{Point, Rejection};

use crate::plugin_set::{MAX_PLUGINS, PluginIx};
use crate::timing::{Stopwatch, Timing, label};

/// One cycle in so many has its plugins timed (kube-scheduler `pluginMetricsSamplePercent`).
const SAMPLED_ONE_IN: u32 = 10;
/// Nodes of a sampled cycle on which filters and scores are timed. `Differs:` kube-scheduler
/// times all of them; here two looks at a clock cost more than most filters.
pub(crate) const SAMPLED_NODES: u32 = 8;
/// Most measurements kept for a driver that does not take them: some 30 cycles' worth.
const KEPT: usize = 4_096;
/// The points at which evaluations are counted.
const COUNTED: [Point; 4] = [
    Point::PreFilter,
    Point::Filter,
    Point::PreScore,
    Point::Score,
];

/// The status of a hook that had nothing against the pod.
pub(crate) const SUCCESS: &str = "Success";
/// The status of one that failed inside.
pub(crate) const ERROR: &str = "Error";

#[derive(Debug, Default)]
pub(crate) struct Probe {
    stopwatch: Option<Stopwatch>,
    cycles: Cell<u32>,
    /// Nodes of this cycle on which plugins are still to be timed; `None`: not sampled.
    nodes_left: Cell<Option<u32>>,
    timings: RefCell<Vec<Timing>>,
    /// By profile, point and plugin.
    evaluations: RefCell<Vec<u64>>,
}

/// A measurement that has begun; empty if there is nothing to measure with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Begun(Option<Duration>);

// === impl Probe ===

impl Probe {
    pub(crate) fn new(stopwatch: Option<Stopwatch>, profiles: usize) -> Self {
        Self {
            stopwatch,
            evaluations: RefCell::new(vec![0; profiles * COUNTED.len() * MAX_PLUGINS]),
            ..Self::default()
        }
    }

    /// A cycle begins: whether its plugins are timed is settled here.
    pub(crate) fn begin_cycle(&self) -> Begun {
        let cycle = self.cycles.get();
        self.cycles.set(cycle.wrapping_add(1));
        let sampled = self.stopwatch.is_some() && cycle.is_multiple_of(SAMPLED_ONE_IN);
        self.nodes_left.set(sampled.then_some(SAMPLED_NODES));
        self.begin()
    }

    /// Begins to measure.
    pub(crate) fn begin(&self) -> Begun {
        Begun(self.stopwatch.map(|stopwatch| (stopwatch.0)()))
    }

    /// Begins to measure, if wanted.
    pub(crate) fn begin_if(&self, wanted: bool) -> Begun {
        if wanted { self.begin() } else { Begun(None) }
    }

    /// Runs one plugin at a point that is not asked per node; timed if this cycle is sampled.
    pub(crate) fn around<T>(
        &self,
        plugin: &'static str,
        point: Point,
        run: impl FnOnce() -> Result<T, Rejection>,
    ) -> Result<T, Rejection> {
        let begun = self.begin_if(self.is_sampled());
        let outcome = run();
        self.plugin(begun, plugin, label(point), status_of(&outcome));
        outcome
    }

    /// Whether this cycle has its plugins timed.
    pub(crate) fn is_sampled(&self) -> bool {
        self.nodes_left.get().is_some()
    }

    /// Whether plugins are to be timed on one more node.
    pub(crate) fn samples_node(&self) -> bool {
        let left = self.nodes_left.get().filter(|left| *left > 0);
        if let Some(left) = left {
            self.nodes_left.set(Some(left - 1));
        }
        left.is_some()
    }

    /// One plugin's scores begin: it is timed on as many nodes.
    pub(crate) fn begin_nodes(&self) {
        if self.is_sampled() {
            self.nodes_left.set(Some(SAMPLED_NODES));
        }
    }

    /// Time since `begun`.
    pub(crate) fn took(&self, begun: Begun) -> Option<Duration> {
        let Begun(end) = self.begin();
        Some(end?.saturating_sub(begun.0?))
    }

    pub(crate) fn point(
        &self,
        begun: Begun,
        profile: &Arc<str>,
        point: Point,
        status: &'static str,
    ) {
        if let Some(took) = self.took(begun) {
            self.keep(Timing::Point {
                profile: Arc::clone(profile),
                point: label(point),
                status,
                took,
            });
        }
    }

    pub(crate) fn plugin(
        &self,
        begun: Begun,
        plugin: &'static str,
        point: &'static str,
        status: &'static str,
    ) {
        if let Some(took) = self.took(begun) {
            self.keep(Timing::Plugin {
                plugin,
                point,
                status,
                took,
            });
        }
    }

    /// Keeps a measurement, if anybody wants any.
    pub(crate) fn keep(&self, timing: Timing) {
        let mut timings = self.timings.borrow_mut();
        if self.stopwatch.is_some() && timings.len() < KEPT {
            timings.push(timing);
        }
    }

    /// Gives all measurements since the last call.
    pub(crate) fn drain(&self, mut take: impl FnMut(Timing)) {
        for timing in self.timings.borrow_mut().drain(..) {
            take(timing);
        }
    }

    /// `plugin` was asked `count` times.
    pub(crate) fn evaluated(&self, profile: usize, point: Point, plugin: PluginIx, count: usize) {
        let Some(index) = index_of(profile, point, plugin) else {
            return;
        };
        if let Some(slot) = self.evaluations.borrow_mut().get_mut(index) {
            *slot += count as u64;
        }
    }

    /// All plugins of `profile` that were asked: point, plugin, how often.
    pub(crate) fn evaluations(&self, profile: usize) -> Vec<(Point, PluginIx, u64)> {
        let counts = self.evaluations.borrow();
        let plugins = 0..MAX_PLUGINS as u8;
        let all = COUNTED
            .into_iter()
            .flat_map(|point| plugins.clone().map(move |plugin| (point, PluginIx(plugin))));
        all.filter_map(|(point, plugin)| {
            let count = *counts.get(index_of(profile, point, plugin)?)?;
            (count > 0).then_some((point, plugin, count))
        })
        .collect()
    }
}

/// The status of what came out of a hook.
pub(crate) fn status_of<T>(outcome: &Result<T, Rejection>) -> &'static str {
    match outcome {
        Ok(_) => SUCCESS,
        Err(rejection) => rejection.code.as_str(),
    }
}

fn index_of(profile: usize, point: Point, plugin: PluginIx) -> Option<usize> {
    let row = COUNTED.iter().position(|counted| *counted == point)?;
    Some((profile * COUNTED.len() + row) * MAX_PLUGINS + usize::from(plugin.0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::Point;

    use super::{KEPT, Probe, SAMPLED_NODES};
    use crate::plugin_set::PluginIx;
    use crate::timing::{Stopwatch, Timing};

    fn timed() -> Probe {
        Probe::new(Some(Stopwatch(|| Duration::from_secs(1))), 2)
    }

    #[test]
    fn without_a_stopwatch_nothing_is_kept() {
        let probe = Probe::new(None, 1);
        let begun = probe.begin_cycle();
        assert!(!probe.samples_node());
        assert_eq!(probe.took(begun), None);
        probe.keep(Timing::Victims(1));
        probe.drain(|timing| panic!("{timing:?}"));
    }

    #[test]
    fn one_cycle_in_ten_has_its_plugins_timed_on_a_few_nodes() {
        let probe = timed();
        let mut sampled = Vec::new();
        for cycle in 0..30 {
            probe.begin_cycle();
            let nodes = (0..100).filter(|_| probe.samples_node()).count();
            if nodes > 0 {
                sampled.push((cycle, nodes));
            }
        }
        let nodes = SAMPLED_NODES as usize;
        assert_eq!(sampled, [(0, nodes), (10, nodes), (20, nodes)]);
    }

    #[test]
    fn a_driver_that_takes_nothing_costs_no_more_than_a_bound() {
        let probe = timed();
        for _ in 0..2 * KEPT {
            probe.keep(Timing::Victims(1));
        }
        let mut count = 0;
        probe.drain(|_| count += 1);
        assert_eq!(count, KEPT);
        probe.keep(Timing::Victims(2));
        probe.drain(|timing| assert_eq!(timing, Timing::Victims(2)));
    }

    #[test]
    fn evaluations_are_counted_by_profile_point_and_plugin() {
        let probe = timed();
        probe.evaluated(1, Point::Filter, PluginIx(3), 5);
        probe.evaluated(1, Point::Filter, PluginIx(3), 2);
        probe.evaluated(1, Point::Reserve, PluginIx(3), 2);
        assert_eq!(probe.evaluations(0), []);
        assert_eq!(probe.evaluations(1), [(Point::Filter, PluginIx(3), 7)]);
    }
}
