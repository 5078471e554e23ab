//! One pod of the naive model, and what it says to things that happen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::Pod;

use super::fakes::PLUGINS;
use super::{INITIAL, MAX};

/// Where an entry is. `Out`: popped, and being tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Active,
    Backoff,
    ErrorBackoff,
    Unschedulable,
    Gated,
    Out,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) pod: Arc<Pod>,
    pub(super) part: Part,
    /// Plugins of the pod's profile.
    pub(super) plugins: Vec<&'static str>,
    pub(super) attempts: u32,
    pub(super) since: Duration,
    pub(super) order: u64,
    pub(super) errors: u32,
    pub(super) rejections: u32,
    pub(super) rejectors: BTreeSet<&'static str>,
    pub(super) pending: BTreeSet<&'static str>,
    pub(super) gate: Option<&'static str>,
    pub(super) retry_at: Option<Duration>,
    pub(super) flushed_at: Duration,
    pub(super) missed: Vec<News>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct News {
    /// The event's name in metrics.
    pub(super) label: &'static str,
    /// Plugins that named the event.
    pub(super) heard_by: &'static [&'static str],
    /// The letters that the changed object has; `None` if there is no object.
    pub(super) wakes: Option<String>,
    /// Whom it concerns.
    pub(super) most_priority: Option<i32>,
    pub(super) only: Option<String>,
    pub(super) for_everybody: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    Nothing,
    AfterBackoff,
    AtOnce,
}

// === impl Entry ===

impl Entry {
    pub(super) fn turned_down_by(&self) -> BTreeSet<&'static str> {
        self.rejectors.union(&self.pending).copied().collect()
    }

    fn rest(&self) -> Duration {
        let count = if self.errors > 0 {
            self.errors
        } else {
            self.rejections
        };
        match count {
            0 => Duration::ZERO,
            1..=10 => MAX.min(INITIAL * 2_u32.pow(count - 1)),
            _ => MAX,
        }
    }

    pub(super) fn expiry(&self) -> u64 {
        (self.since + self.rest()).as_secs()
    }

    pub(super) fn rests(&self, now: Duration) -> bool {
        self.rest() > Duration::ZERO && self.expiry() >= now.as_secs()
    }

    pub(super) fn in_pool(&self) -> bool {
        matches!(self.part, Part::Unschedulable | Part::Gated)
    }

    /// The order of the active queue.
    pub(super) fn rank(&self) -> (i32, Duration, u64) {
        (-self.pod.spec.priority, self.since, self.order)
    }

    pub(super) fn worth(&self, news: &News) -> Worth {
        let uid = &*self.pod.uid().0;
        if news.only.as_ref().is_some_and(|only| only != uid)
            || news
                .most_priority
                .is_some_and(|most| self.pod.spec.priority > most)
        {
            return Worth::Nothing;
        }
        if self.turned_down_by().is_empty() || news.for_everybody {
            return Worth::AfterBackoff;
        }
        let hears = |name: &&str| *name == "All" || news.heard_by.contains(name);
        if self.part == Part::Gated && !self.gate.is_some_and(|gate| hears(&gate)) {
            return Worth::Nothing;
        }
        let helps = |name: &&str| {
            let letter = letter(name).to_ascii_uppercase();
            let wakes = news.wakes.as_ref();
            *name == "All" || wakes.is_none_or(|letters| letters.contains(letter))
        };
        let woken_by = |set: &BTreeSet<&str>| set.iter().any(|name| hears(name) && helps(name));
        if woken_by(&self.pending) {
            Worth::AtOnce
        } else if woken_by(&self.rejectors) {
            Worth::AfterBackoff
        } else {
            Worth::Nothing
        }
    }

    /// The plugin that holds the pod back: the last one is asked first.
    pub(super) fn held_by(&self) -> Option<&'static str> {
        let holds = |name: &&str| {
            let letter = letter(name).to_string();
            name.starts_with("Gate") && self.pod.meta.labels.contains_key(&*letter)
        };
        let others = self.plugins.iter().copied();
        self.gate.into_iter().chain(others).find(holds)
    }
}

fn letter(name: &str) -> char {
    let plugin = PLUGINS.iter().find(|plugin| plugin.0 == name);
    plugin.expect("a plugin of the fakes").1
}
