//! When pods are bound: takes a watch of all pods, gives the time at which each was first
//! seen with a node.
//!
//! The API server ends watches of slow readers: it is watched again from where it ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use parking_lot::{Condvar, Mutex};
use plimsoll_tests::controlplane::{Api, Stopwatch};
use serde_json::Value;

use super::crowd::PODS;

/// Time between two tries to watch.
const AGAIN: Duration = Duration::from_millis(20);

/// Pods seen bound, by name.
#[derive(Debug)]
pub(crate) struct Bindings {
    clock: Stopwatch,
    seen: Arc<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    at: Mutex<BTreeMap<String, Duration>>,
    news: Condvar,
}

// === impl Bindings ===

impl Bindings {
    /// Watches from now on, by this clock.
    pub(crate) fn watch(api: &Api, clock: Stopwatch) -> anyhow::Result<Self> {
        let list = api.get(&format!("{PODS}?limit=1"))?;
        let version = list["metadata"]["resourceVersion"].as_str();
        let version = version.context("a list without a version")?.to_owned();
        let seen = Arc::<Seen>::default();
        let (api, held) = (api.clone(), Arc::clone(&seen));
        // Ends when nobody else holds what is seen, and the API server with its connection.
        thread::spawn(move || follow(&api, clock, &held, version));
        Ok(Self { clock, seen })
    }

    /// Now, by its clock.
    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Waits until so many pods are bound; gives how many are.
    pub(crate) fn until(&self, count: usize, bound: Duration) -> usize {
        let end = self.now() + bound;
        let mut at = self.seen.at.lock();
        while at.len() < count {
            let left = end.saturating_sub(self.now());
            if left.is_zero() || self.seen.news.wait_for(&mut at, left).timed_out() {
                break;
            }
        }
        at.len()
    }

    /// When a pod was bound, waiting for it.
    pub(crate) fn bound(&self, pod: &str, bound: Duration) -> Option<Duration> {
        let end = self.now() + bound;
        let mut at = self.seen.at.lock();
        loop {
            if let Some(found) = at.get(pod) {
                return Some(*found);
            }
            let left = end.saturating_sub(self.now());
            if left.is_zero() {
                return None;
            }
            self.seen.news.wait_for(&mut at, left);
        }
    }

    /// The first and the last so far.
    pub(crate) fn span(&self) -> Option<(Duration, Duration)> {
        let at = self.seen.at.lock();
        Some((*at.values().min()?, *at.values().max()?))
    }
}

fn follow(api: &Api, clock: Stopwatch, seen: &Arc<Seen>, mut version: String) {
    while Arc::strong_count(seen) > 1 {
        let path = format!("{PODS}?watch=true&resourceVersion={version}");
        for change in api.watch(&path).into_iter().flatten() {
            let now = clock.elapsed();
            if change["type"] == "ERROR" {
                break;
            }
            let pod = &change["object"];
            if let Some(next) = text(&pod["metadata"]["resourceVersion"]) {
                version = next;
            }
            if let (Some(name), Some(_)) = (
                text(&pod["metadata"]["name"]),
                text(&pod["spec"]["nodeName"]),
            ) {
                seen.at.lock().entry(name).or_insert(now);
                seen.news.notify_all();
            }
        }
        thread::sleep(AGAIN);
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
