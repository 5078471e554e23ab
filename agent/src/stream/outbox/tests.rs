//! The rules of the outgoing half, on a paused clock: newest only, credit, pace, age.

use std::collections::VecDeque;

use plimsoll_proto::telemetry::v1::Report;
use tokio::time::{advance, timeout};
use tokio_stream::StreamExt;

use super::*;
use crate::report::{Identity, Moment, hello};
use crate::usage::{Machine, NodeUsage, PodTable};

struct Rig {
    clock: Clock,
    feed: watch::Sender<Option<Arc<Reading>>>,
    grants: watch::Sender<Grant>,
    shared: Shared,
    outbox: Outbox,
}

/// A stream that was just opened; its `Hello` is still to come.
fn opened() -> Rig {
    let clock = Clock::start();
    let shared = Shared {
        clock,
        last_sent: Arc::default(),
        reports_sent: Counter::default(),
        past: watch::Sender::new(VecDeque::new()).subscribe(),
    };
    let feed = watch::Sender::new(None);
    reopened(clock, feed, shared)
}

fn reopened(clock: Clock, feed: watch::Sender<Option<Arc<Reading>>>, shared: Shared) -> Rig {
    let grants = watch::Sender::new(Grant::default());
    let identity = Identity {
        node_name: "a".to_owned(),
        start_id: 1,
        period: Duration::from_secs(1),
    };
    let machine = Machine {
        link_bytes_per_second: Some(1000),
        ..Machine::default()
    };
    let hello = hello(&identity, machine);
    let outbox = Outbox::new(hello, feed.subscribe(), grants.subscribe(), shared.clone());
    Rig {
        clock,
        feed,
        grants,
        shared,
        outbox,
    }
}

/// A stream whose `Hello` was answered.
async fn welcomed() -> Rig {
    let mut rig = opened();
    rig.next().await;
    rig.grant(|grant| grant.welcomed = true);
    rig
}

impl Rig {
    async fn next(&mut self) -> Option<AgentMessage> {
        // A paused clock jumps to the end of the wait once nothing else can happen.
        timeout(Duration::from_millis(1), self.outbox.next())
            .await
            .unwrap_or_default()
    }

    async fn next_report(&mut self) -> Option<Report> {
        match self.next().await?.body? {
            Body::Report(report) => Some(report),
            other => panic!("{other:?}"),
        }
    }

    fn read(&self, sequence: u64) {
        self.read_link(sequence, None);
    }

    fn read_link(&self, sequence: u64, link_bytes_per_second: Option<u64>) {
        let usage = NodeUsage {
            taken_at: self.clock.mono(),
            link_bytes_per_second,
            ..NodeUsage::default()
        };
        self.feed.send_replace(Some(Arc::new(Reading {
            sequence,
            usage,
            pods: PodTable::default(),
        })));
    }

    fn grant(&self, change: impl FnOnce(&mut Grant)) {
        self.grants.send_modify(change);
    }
}

#[tokio::test(start_paused = true)]
async fn hello_comes_first_and_no_report_before_the_welcome() {
    let mut rig = opened();
    rig.read(1);
    assert!(matches!(
        rig.next().await.unwrap().body,
        Some(Body::Hello(_))
    ));
    assert_eq!(rig.next().await, None);
    rig.grant(|grant| grant.welcomed = true);
    assert_eq!(rig.next_report().await.unwrap().sequence, 1);
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_was_stalled_gets_the_newest_reading_and_no_backlog() {
    let mut rig = welcomed().await;
    for sequence in 1..=8 {
        rig.read(sequence);
        advance(Duration::from_secs(1)).await;
    }
    let report = rig.next_report().await.unwrap();
    assert_eq!((report.sequence, report.age_ms), (8, 1000));
    assert_eq!(rig.next_report().await, None);
}

#[tokio::test(start_paused = true)]
async fn with_sixteen_reports_unacknowledged_nothing_is_sent_until_an_answer_comes() {
    let mut rig = welcomed().await;
    for sequence in 1..=16 {
        rig.read(sequence);
        assert_eq!(rig.next_report().await.unwrap().sequence, sequence);
    }
    for sequence in 17..=30 {
        rig.read(sequence);
        assert_eq!(rig.next_report().await, None, "reading {sequence}");
    }
    rig.grant(|grant| grant.acked = 8);
    assert_eq!(
        rig.next_report().await.unwrap().sequence,
        30,
        "the newest, not the 17th"
    );
    assert_eq!(rig.shared.reports_sent.get(), 17);
}

#[tokio::test(start_paused = true)]
async fn the_interval_that_the_scheduler_wants_is_kept() {
    let mut rig = welcomed().await;
    rig.grant(|grant| grant.interval = Duration::from_secs(5));
    rig.read(1);
    assert_eq!(rig.next_report().await.unwrap().sequence, 1);
    advance(Duration::from_secs(4)).await;
    rig.read(2);
    assert_eq!(rig.next_report().await, None);
    advance(Duration::from_secs(1)).await;
    assert_eq!(rig.next_report().await.unwrap().sequence, 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_stream_does_not_repeat_what_the_last_one_sent() {
    let mut first = welcomed().await;
    first.read(1);
    assert_eq!(first.next_report().await.unwrap().sequence, 1);

    let mut second = reopened(first.clock, first.feed, first.shared);
    second.next().await;
    second.grant(|grant| grant.welcomed = true);
    assert_eq!(second.next_report().await, None);
    second.read(2);
    assert_eq!(second.next_report().await.unwrap().sequence, 2);
}

#[tokio::test(start_paused = true)]
async fn the_links_speed_travels_when_it_differs_from_what_was_told() {
    let mut rig = welcomed().await;
    let speeds = [Some(1000), Some(2000), Some(2000), None, Some(1000)];
    let mut told = Vec::new();
    for (sequence, speed) in (1..).zip(speeds) {
        rig.read_link(sequence, speed);
        told.push(rig.next_report().await.unwrap().link_bytes_per_second);
    }
    assert_eq!(told, [None, Some(2000), None, None, Some(1000)]);
}

#[tokio::test(start_paused = true)]
async fn the_outgoing_half_ends_with_its_session() {
    let Rig {
        grants, mut outbox, ..
    } = welcomed().await;
    drop(grants);
    assert_eq!(outbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn what_was_before_comes_once_between_the_welcome_and_the_first_report() {
    let first = welcomed().await;
    let moment = |seconds| Moment {
        at: Duration::from_secs(seconds),
        cpu: Some(seconds as f64),
        memory: None,
        rx: None,
        tx: None,
    };
    let past = watch::Sender::new(VecDeque::from([moment(0), moment(10)]));
    let shared = Shared {
        past: past.subscribe(),
        ..first.shared
    };
    advance(Duration::from_secs(20)).await;
    let mut rig = reopened(first.clock, first.feed, shared);
    rig.next().await;
    rig.read(1);
    assert_eq!(rig.next().await, None);
    rig.grant(|grant| grant.welcomed = true);
    let Some(Body::History(history)) = rig.next().await.unwrap().body else {
        panic!("no history")
    };
    let ages: Vec<_> = history
        .points
        .iter()
        .map(|point| point.age_ms / 1000)
        .collect();
    assert_eq!(ages, [20, 10]);
    assert_eq!(rig.next_report().await.unwrap().sequence, 1);
}
