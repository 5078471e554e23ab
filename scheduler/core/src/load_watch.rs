//! The engine's look at load between cycles: the switch, and pods that wait for load to
//! fall.
//!
//! Rows are brought up to date at the start of a cycle. A pod that was rejected for load
//! waits without one, so while any does the rows are looked at on their own, and the nodes
//! whose load fell are announced. Costs nothing while none waits.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{LoadMode, Now};

use crate::engine::Engine;
use crate::queue::{Fallen, Happening};
use crate::stats::LoadStats;

/// Time between two looks: a pod is tried again within a second of the fall, and half of
/// that is left for its cycle.
const LOOK_PERIOD: Duration = Duration::from_millis(500);

impl Engine {
    /// Whether load is judged, by how many nodes report: as of `now`.
    pub fn load_stats(&mut self, now: Now) -> LoadStats {
        self.cache.update_snapshot(&mut self.snapshot, now);
        self.cache.load_stats()
    }

    /// A person turns the judgement of load on or off: every row changes at once, and who
    /// was rejected for load is told.
    pub(crate) fn load_switched(&mut self, on: bool) {
        self.cache.set_load_on(on);
        self.refresh();
    }

    /// Brings the snapshot up to date, and tells of nodes whose load fell meanwhile.
    pub(crate) fn refresh(&mut self) {
        self.cache.update_snapshot(&mut self.snapshot, self.now);
        let fell = self.cache.take_falls();
        if fell.is_empty() || !self.queue.waits_for_load() {
            return;
        }
        if self.snapshot.load_mode() != LoadMode::Live {
            self.announce(&Happening::load_unjudged());
            return;
        }
        let fallen = fell.iter().filter_map(|id| {
            Some(Fallen {
                node: Arc::clone(&self.snapshot.get(*id)?.node),
                load: *self.snapshot.load_row(*id)?,
            })
        });
        let fallen: Arc<[Fallen]> = fallen.collect();
        self.announce(&Happening::load(fallen));
    }

    /// Looks at load on its own, if a pod waits for it and it is time.
    pub(crate) fn look_at_load(&mut self) {
        let is_due = |at| at <= self.now.mono;
        if self.next_load_look().is_some_and(is_due) {
            self.load_looked_at = self.now.mono;
            self.refresh();
        }
    }

    /// When load is to be looked at next; `None` while no pod waits for it.
    pub(crate) fn next_load_look(&self) -> Option<Duration> {
        let next = self.load_looked_at.saturating_add(LOOK_PERIOD);
        self.queue.waits_for_load().then_some(next)
    }
}
