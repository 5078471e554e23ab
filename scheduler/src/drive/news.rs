//! What the driver tells now and then: once a period, or once a change.

use std::time::Duration;

use plimsoll_core::{LoadStats, Timing};
use plimsoll_framework::LoadMode;
use tracing::{info, warn};

/// How often it is said that agents speak for unknown nodes.
const STRANGERS_PERIOD: Duration = Duration::from_mins(5);

/// How load was judged when it was last told.
#[derive(Debug, Default)]
pub(crate) struct Mode(LoadMode);

impl Mode {
    /// Tells of a change.
    pub(super) fn tell(&mut self, load: &LoadStats) {
        let before = std::mem::replace(&mut self.0, load.mode);
        if before == load.mode {
            return;
        }
        let nodes = load.census;
        let (reporting, silent) = (nodes.reporting, nodes.silent);
        match load.mode {
            LoadMode::Live => info!(reporting, silent, "load is judged"),
            LoadMode::BrownOut => warn!(
                reporting,
                silent,
                "brown-out: so many agents fell silent at once that no pod is rejected for load"
            ),
            LoadMode::Off => warn!("load is switched off: pods are placed by requests alone"),
        }
    }
}

/// Samples of nodes that the cluster does not have: told of, but not each second.
pub(super) struct Strangers {
    each: Each,
    told: u64,
}

impl Default for Strangers {
    fn default() -> Self {
        Self {
            each: Each::new(STRANGERS_PERIOD),
            told: 0,
        }
    }
}

impl Strangers {
    /// How many came since they were last told of; `None` if there are none, or it is not
    /// time yet.
    pub(super) fn news(&mut self, count: u64, now: Duration) -> Option<u64> {
        let new = count.saturating_sub(self.told);
        if new == 0 || !self.each.is_due(now) {
            return None;
        }
        self.told = count;
        Some(new)
    }
}

/// How often a slow cycle is told; all are counted.
const SLOW_PERIOD: Duration = Duration::from_secs(10);

/// Cycles that kept all other pods waiting.
pub(crate) struct SlowCycles(Each);

impl Default for SlowCycles {
    fn default() -> Self {
        Self(Each::new(SLOW_PERIOD))
    }
}

impl SlowCycles {
    /// Names the pod of a slow cycle, if one has not been named just now.
    pub(super) fn tell(&mut self, timing: &Timing, now: Duration) {
        if let Timing::SlowCycle { pod, took } = timing
            && self.0.is_due(now)
        {
            let milliseconds = took.as_millis();
            warn!(%pod, milliseconds, "one pod kept all others waiting: look at its terms");
        }
    }
}

/// What is done once in each period, however often it is asked about.
pub(super) struct Each {
    period: Duration,
    pub(super) next: Duration,
}

impl Each {
    /// Due at once, and then each `period`.
    pub(super) fn new(period: Duration) -> Self {
        let next = Duration::ZERO;
        Self { period, next }
    }

    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + self.period;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_told_of_at_once_and_then_each_five_minutes() {
        let mut strangers = Strangers::default();
        let at = Duration::from_secs;
        assert_eq!(strangers.news(0, at(1)), None);
        assert_eq!(strangers.news(3, at(2)), Some(3));
        assert_eq!(strangers.news(4, at(3)), None);
        assert_eq!(strangers.news(9, at(400)), Some(6));
    }

    #[test]
    fn what_is_asked_about_without_pause_is_due_once_in_each_period() {
        let mut each = Each::new(Duration::from_millis(250));
        let asked = (0..1000).map(Duration::from_millis);
        let due: Vec<_> = asked.filter(|now| each.is_due(*now)).collect();
        assert_eq!(due, [0, 250, 500, 750].map(Duration::from_millis));
        let late = Duration::from_secs(9);
        assert!(
            each.is_due(late) && !each.is_due(late),
            "missed turns are not made up for"
        );
    }
}
