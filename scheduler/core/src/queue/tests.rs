//! The queue held against a naive model of the contract, and what that found.

mod compare;
mod entry;
mod fakes;
mod groups;
mod model;
mod news;
mod run;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::Catalog;
use plimsoll_framework::test_util::{PodBuilder, pod};

use super::item::Place;
use super::{Happening, Moment, Queue, Queued, Scope, Setback};
use crate::plugin_set::PluginSet;
use crate::profile::Profiles;

const INITIAL: Duration = Duration::from_secs(1);
const MAX: Duration = Duration::from_secs(10);

/// A queue of the fakes, with nothing else of an engine.
struct Bench {
    profiles: Arc<Profiles>,
    queue: Queue,
    catalog: Catalog,
    now: Duration,
}

impl Bench {
    fn new() -> Self {
        Self::of(fakes::profiles(false))
    }

    fn of(profiles: Profiles) -> Self {
        let profiles = Arc::new(profiles);
        Self {
            queue: Queue::new(Arc::clone(&profiles), INITIAL, MAX),
            profiles,
            catalog: Catalog::default(),
            now: Duration::from_mins(10),
        }
    }

    fn add(&mut self, pod: &PodBuilder) {
        let pod = pod.arc();
        let profile = self.profiles.index_of(&pod.spec.scheduler_name);
        let profile = profile.expect("one of the fakes' profiles");
        let at = Moment {
            now: self.now,
            catalog: &self.catalog,
        };
        self.queue.add(pod, profile, at);
    }

    fn with<T>(&mut self, change: impl FnOnce(&mut Queue, Moment<'_>) -> T) -> T {
        let at = Moment {
            now: self.now,
            catalog: &self.catalog,
        };
        change(&mut self.queue, at)
    }

    /// The next pod is tried, and turned down by these plugins of the first profile.
    fn fail_next(&mut self, rejectors: &[&str], pending: &[&str]) {
        let item = self.queue.pop().expect("one to try");
        let setback = Setback {
            rejectors: fakes::set(&self.profiles, item.profile, rejectors),
            pending: fakes::set(&self.profiles, item.profile, pending),
            retry_at: None,
        };
        self.with(|queue, at| queue.requeue(item, setback, at));
    }

    fn announce(&mut self, happening: &Happening) {
        self.with(|queue, at| queue.announce(happening, at));
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.with(Queue::flush);
    }

    fn item(&self, name: &str) -> &Queued {
        let mut items = self.queue.items.iter().flatten();
        let found = items.find(|item| &*item.pods()[0].pod.key().name == name);
        found.expect("the pod waits")
    }

    fn incoming(&self, queue: &str, event: &str) -> u64 {
        let rows = self.queue.incoming();
        let mut rows = rows
            .iter()
            .filter(|row| (row.queue, &*row.event) == (queue, event));
        rows.next().map_or(0, |row| row.count)
    }
}

#[test]
fn a_gated_pod_counts_for_the_plugin_that_holds_it() {
    let mut bench = Bench::new();
    bench.add(&pod("p").label("a", ""));
    let rows = bench.queue.unschedulable_by_plugin();
    let rows: Vec<_> = rows.iter().map(|row| (row.plugin, row.pods)).collect();
    assert_eq!(rows, [("GateA", 1)]);
    assert_eq!(bench.queue.sizes().gated, 1);
    assert_eq!(bench.incoming("unschedulable", "UnscheduledPodAdd"), 1);
}

#[test]
fn a_pod_whose_own_change_does_not_free_it_has_not_moved() {
    let mut bench = Bench::new();
    let (old, new) = (pod("p").label("a", ""), pod("p").label("a", "1"));
    let new = new.label("wakes", "A").arc();
    bench.add(&old);
    bench.with(|queue, at| queue.update(Some(&old.arc()), &new, at));
    assert_eq!(bench.item("p").place, Place::Gated);
    assert_eq!(
        bench.incoming("unschedulable", "TargetPodUpdatePodLabel"),
        0
    );
}

#[test]
fn a_gated_pod_is_flushed_once_in_five_minutes_not_with_every_flush() {
    let mut bench = Bench::new();
    bench.add(&pod("p").label("a", ""));
    bench.pass(Duration::from_mins(5));
    assert_eq!(bench.incoming("unschedulable", "UnschedulableTimeout"), 0);
    for _ in 0..10 {
        bench.pass(Duration::from_secs(30));
    }
    assert_eq!(bench.incoming("unschedulable", "UnschedulableTimeout"), 1);
    bench.pass(Duration::from_secs(30));
    bench.pass(Duration::from_secs(30));
    assert_eq!(bench.incoming("unschedulable", "UnschedulableTimeout"), 2);
}

#[test]
fn a_pod_held_back_after_an_error_may_be_popped_early_once_it_is_let_go() {
    let mut bench = Bench::new();
    bench.add(&pod("p"));
    let old = pod("p").arc();
    let item = bench.queue.pop().expect("the pod");
    bench.with(|queue, at| queue.requeue(item, Setback::default(), at));
    assert_eq!(bench.item("p").place, Place::FullBackoff);
    // While it rests it is taken for a gate's, and let go.
    let held = pod("p").label("a", "").arc();
    bench.with(|queue, at| queue.update(Some(&old), &held, at));
    bench.pass(Duration::from_secs(2));
    let item = bench.queue.pop().expect("the rest is over");
    bench.with(|queue, at| queue.requeue(item, Setback::default(), at));
    assert_eq!(bench.item("p").place, Place::Gated);
    let free = pod("p").label("wakes", "A").arc();
    bench.with(|queue, at| queue.update(Some(&held), &free, at));
    assert_eq!(bench.item("p").place, Place::Backoff);
}

#[test]
fn an_activation_of_one_pod_looks_at_no_other_and_has_its_name() {
    let mut bench = Bench::new();
    for name in ["p", "q"] {
        bench.add(&pod(name));
        bench.fail_next(&["One"], &[]);
    }
    let only = Scope::Only(pod("q").build().uid().clone());
    bench.announce(&Happening::wildcard().within(only));
    assert_eq!(bench.item("p").place, Place::Unschedulable);
    assert_eq!(bench.item("q").place, Place::Backoff);
    assert_eq!(bench.incoming("backoff", "ForceActivate"), 1);
}

#[test]
fn a_change_that_no_plugin_listens_to_is_not_kept_for_pods_that_are_out() {
    let mut bench = Bench::new();
    bench.add(&pod("p").scheduler("deaf"));
    let item = bench.queue.pop().expect("the pod");
    bench.announce(&fakes::node_news("", true));
    bench.announce(&fakes::nobodys_news());
    let kept = bench.queue.in_flight_events();
    assert_eq!(kept, [("NodeAdd".into(), 1), ("PodPopped".into(), 1)]);
    bench.with(|queue, at| queue.requeue(item, Setback::default(), at));
}

#[test]
fn a_plugin_that_waits_for_something_outside_counts_at_once_though_another_holds_the_pod() {
    let mut bench = Bench::new();
    bench.add(&pod("p"));
    let item = bench.queue.pop().expect("the pod");
    let setback = Setback {
        rejectors: PluginSet::EMPTY,
        pending: fakes::set(&bench.profiles, item.profile, &["One"]),
        retry_at: None,
    };
    bench.with(|queue, at| queue.requeue(item, setback, at));
    // Woken while a gate holds it.
    let held = pod("p").label("a", "").label("wakes", "1").arc();
    bench.with(|queue, at| queue.update(Some(&pod("p").arc()), &held, at));
    assert_eq!(bench.item("p").place, Place::Gated);
    let free = pod("p").label("wakes", "A1").arc();
    bench.with(|queue, at| queue.update(Some(&held), &free, at));
    assert_eq!(bench.item("p").place, Place::Active, "without a rest");
}

#[test]
fn of_ten_thousand_pods_that_wait_only_those_an_event_may_help_are_asked_about() {
    const PODS: usize = 10_000;
    let mut bench = Bench::new();
    for number in 0..PODS {
        bench.add(&pod(&format!("p{number}")));
        let plugin = if number == 0 { "Two" } else { "One" };
        bench.fail_next(&[plugin], &[]);
    }
    assert_eq!(bench.queue.sizes().unschedulable, PODS);
    assert_eq!(fakes::asked(), 0);
    let mut woken = |happening: &Happening| {
        let before = bench.queue.sizes().unschedulable;
        bench.announce(happening);
        (before - bench.queue.sizes().unschedulable, fakes::asked())
    };
    assert_eq!(woken(&fakes::node_news("", false)), (0, PODS - 1));
    assert_eq!(woken(&fakes::pod_news("2")), (1, 1), "one waits for it");
    let only = Scope::Only(pod("p7").build().uid().clone());
    assert_eq!(woken(&Happening::wildcard().within(only)), (1, 0));
    assert_eq!(woken(&fakes::nobodys_news()), (0, 0));
    let (old, new) = (pod("p9").arc(), pod("p9").label("wakes", "1").arc());
    bench.with(|queue, at| queue.update(Some(&old), &new, at));
    assert_eq!(fakes::asked(), 1, "a pod's own change is its own");
    assert_eq!(bench.queue.sizes().unschedulable, PODS - 3);
}
