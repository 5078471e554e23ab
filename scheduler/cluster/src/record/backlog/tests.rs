//! Series, overflow and expiry on a clock that the test moves.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use plimsoll_core::{PodEvent, PodRef};
use plimsoll_objects::{ObjectKey, Uid};
use tokio::time::Instant;

use super::{Backlog, FORGET_AFTER, Outgoing, PERIOD, Pushed, QUEUE_MAX, SERIES_MAX, What};

fn event(pod: &str, warning: bool, note: &str) -> PodEvent {
    PodEvent {
        pod: PodRef {
            key: ObjectKey::new("ns", pod),
            uid: Uid(Arc::from(pod)),
        },
        scheduler_name: Arc::from("plimsoll"),
        warning,
        reason: if warning {
            "FailedScheduling"
        } else {
            "Scheduled"
        },
        action: "Scheduling",
        note: note.to_owned(),
    }
}

/// A backlog and its clock.
struct Bench {
    backlog: Backlog,
    start: Instant,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            backlog: Backlog::default(),
            start: now,
            now,
        }
    }

    fn wall(&self) -> Timestamp {
        let passed = (self.now - self.start).as_secs();
        Timestamp::from_second(1_700_000_000 + i64::try_from(passed).unwrap()).unwrap()
    }

    fn warn(&mut self, pod: &str) -> Pushed {
        let wall = self.wall();
        self.backlog
            .push(event(pod, true, "0/1 nodes"), self.now, wall)
    }

    /// Writes everything that waits: `new` or a count for each.
    fn write(&mut self) -> Vec<u32> {
        let mut written = Vec::new();
        while let Some(outgoing) = self.backlog.next() {
            written.push(told(&outgoing));
            self.backlog.written(&outgoing, self.now);
        }
        written
    }
}

/// 1 for a new event, else the count.
fn told(outgoing: &Outgoing) -> u32 {
    match &outgoing.what {
        What::New(_) => 1,
        What::Count(count) => count.times,
    }
}

#[test]
fn the_second_warning_is_counted_at_once_and_later_ones_once_per_period() {
    let mut bench = Bench::new();
    assert!(!bench.warn("a").aggregated);
    assert_eq!(bench.write(), [1]);
    assert!(bench.warn("a").aggregated);
    assert_eq!(bench.write(), [2]);
    for _ in 0..10 {
        bench.warn("a");
    }
    assert_eq!(bench.write(), [0; 0]);
    bench.now += PERIOD;
    bench.warn("a");
    assert_eq!(bench.write(), [13]);
}

#[test]
fn repeats_while_the_first_is_on_its_way_are_one_patch_after_it() {
    let mut bench = Bench::new();
    bench.warn("a");
    let first = bench.backlog.next().unwrap();
    bench.warn("a");
    bench.warn("a");
    assert!(bench.backlog.next().is_none(), "nothing to patch yet");
    bench.backlog.written(&first, bench.now);
    assert_eq!(bench.write(), [3]);
}

#[test]
fn a_count_that_waits_is_written_once_with_the_newest_figure() {
    let mut bench = Bench::new();
    bench.warn("a");
    bench.write();
    bench.warn("a");
    bench.warn("a");
    assert_eq!(bench.write(), [3]);
}

#[test]
fn the_last_count_of_a_series_is_written_by_the_sweep() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        bench.warn("a");
        bench.write();
    }
    bench.warn("a");
    bench.backlog.sweep(bench.now);
    assert_eq!(bench.write(), [0; 0]);
    bench.now += PERIOD;
    bench.backlog.sweep(bench.now);
    assert_eq!(bench.write(), [3]);
    bench.now += PERIOD;
    bench.backlog.sweep(bench.now);
    assert_eq!(bench.write(), [0; 0], "nothing new to tell");
}

#[test]
fn a_series_that_rests_is_forgotten_and_begins_anew() {
    let mut bench = Bench::new();
    bench.warn("a");
    bench.write();
    bench.now += FORGET_AFTER;
    bench.backlog.sweep(bench.now);
    assert!(!bench.warn("a").aggregated);
}

#[test]
fn another_pod_note_or_a_normal_event_is_an_event_of_its_own() {
    let mut bench = Bench::new();
    let wall = bench.wall();
    for (pod, warning, note) in [
        ("a", true, "x"),
        ("b", true, "x"),
        ("a", true, "y"),
        ("a", false, "x"),
        ("a", false, "x"),
    ] {
        let pushed = bench
            .backlog
            .push(event(pod, warning, note), bench.now, wall);
        assert_eq!(pushed, Pushed::default());
    }
    assert_eq!(bench.write(), [1; 5]);
}

#[test]
fn events_of_one_instant_have_names_of_their_own() {
    let mut bench = Bench::new();
    let wall = bench.wall();
    for _ in 0..2 {
        bench.backlog.push(event("a", false, "x"), bench.now, wall);
    }
    let mut name = || match bench.backlog.next().unwrap().what {
        What::New(draft) => draft.name.clone(),
        What::Count(_) => panic!("no series"),
    };
    assert_ne!(name(), name());
}

#[test]
fn a_full_queue_drops_the_oldest() {
    let mut bench = Bench::new();
    let wall = bench.wall();
    bench.warn("oldest");
    for n in 1..QUEUE_MAX {
        let pushed = bench
            .backlog
            .push(event(&n.to_string(), false, ""), bench.now, wall);
        assert!(!pushed.overflowed);
    }
    assert!(bench.warn("newest").overflowed);
    assert_eq!(bench.write().len(), QUEUE_MAX);
    assert!(
        !bench.warn("oldest").aggregated,
        "a dropped event is no series"
    );
}

#[test]
fn a_count_that_was_dropped_is_told_later() {
    let mut bench = Bench::new();
    let wall = bench.wall();
    bench.warn("a");
    bench.write();
    bench.warn("a");
    for n in 0..QUEUE_MAX {
        bench
            .backlog
            .push(event(&n.to_string(), false, ""), bench.now, wall);
    }
    assert!(!bench.write().contains(&2));
    bench.now += PERIOD;
    bench.backlog.sweep(bench.now);
    assert_eq!(bench.write(), [2]);
}

#[test]
fn a_write_that_is_put_back_comes_first_and_knows_its_tries() {
    let mut bench = Bench::new();
    bench.warn("a");
    bench.warn("b");
    let first = bench.backlog.next().unwrap();
    bench.backlog.put_back(Outgoing { tries: 2, ..first });
    let again = bench.backlog.next().unwrap();
    match again.what {
        What::New(draft) => assert_eq!((&*draft.event.pod.key.name, again.tries), ("a", 2)),
        What::Count(_) => panic!("no series"),
    }
}

#[test]
fn a_write_that_was_given_up_leaves_no_series() {
    let mut bench = Bench::new();
    bench.warn("a");
    let first = bench.backlog.next().unwrap();
    bench.backlog.failed(&first);
    assert!(!bench.warn("a").aggregated);
}

#[test]
fn series_are_bounded() {
    let mut bench = Bench::new();
    for n in 0..=SERIES_MAX {
        bench.warn(&n.to_string());
    }
    assert_eq!(bench.backlog.series.len(), SERIES_MAX);
    bench.now += Duration::from_secs(1);
    assert!(bench.warn(&SERIES_MAX.to_string()).aggregated);
}
