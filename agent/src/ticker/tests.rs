//! The sampler's task on a paused clock, with a source of made-up samples.

use tokio::time::advance;

use super::*;
use crate::usage::{NodeSample, Untrusted};

/// Gives one core from the second sample on; untrusted once `lies` is reached.
#[derive(Debug, Default)]
struct Steady {
    sample: NodeSample,
    lies: Option<u64>,
    taken: u64,
}

impl Source for Steady {
    fn machine(&self) -> Machine {
        Machine {
            cpus: Some(4),
            ..Machine::default()
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        self.taken += 1;
        let untrusted = Untrusted::CpuLines { stat: 1, online: 2 };
        self.sample = NodeSample {
            taken_at: at,
            interval: at.saturating_sub(self.sample.taken_at),
            cpu_millicores: (self.taken > 1).then_some(1000.0),
            untrusted: self
                .lies
                .filter(|lies| self.taken >= *lies)
                .map(|_| untrusted),
            ..NodeSample::default()
        };
        &self.sample
    }
}

const PERIOD: Duration = Duration::from_secs(1);

/// Costs more CPU time than a tick may, until `cheap_from`.
struct Costly {
    inner: Steady,
    cheap_from: u64,
}

impl Source for Costly {
    fn machine(&self) -> Machine {
        self.inner.machine()
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        let before = thread_cpu();
        let costs = self.inner.taken < self.cheap_from;
        while costs && thread_cpu().saturating_sub(before) < Duration::from_millis(6) {
            std::hint::spin_loop();
        }
        self.inner.sample(at)
    }
}

struct Rig {
    period: watch::Receiver<Duration>,
    feed: watch::Receiver<Option<Arc<Reading>>>,
    metrics: Metrics,
    health: Health,
    clock: Clock,
    shutdown: CancellationToken,
    running: JoinSet<()>,
}

fn running(source: impl Source) -> Rig {
    let clock = Clock::start();
    let outlets = Outlets {
        readings: watch::Sender::new(None),
        machine: watch::Sender::new(Machine::default()),
        period: watch::Sender::new(PERIOD),
        metrics: Metrics::new(),
        health: Health::new(PERIOD),
    };
    let feed = outlets.readings.subscribe();
    let period = outlets.period.subscribe();
    let (metrics, health) = (outlets.metrics.clone(), outlets.health.clone());
    let shutdown = CancellationToken::new();
    let mut running = JoinSet::new();
    running.spawn(Ticker::new(source, PERIOD, clock, outlets).run(shutdown.clone()));
    Rig {
        period,
        feed,
        metrics,
        health,
        clock,
        shutdown,
        running,
    }
}

async fn settle(time: Duration) {
    advance(time).await;
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn the_first_sample_is_taken_and_not_published() {
    let rig = running(Steady::default());
    settle(Duration::ZERO).await;
    assert_eq!(rig.metrics.samples.get(), 1);
    assert!(rig.feed.borrow().is_none());
    settle(PERIOD).await;
    let reading = rig.feed.borrow().clone().unwrap();
    assert_eq!((reading.sequence, reading.usage.taken_at), (2, PERIOD));
}

#[tokio::test(start_paused = true)]
async fn ticks_that_were_missed_are_skipped_and_health_recovers_with_the_next() {
    let rig = running(Steady::default());
    settle(Duration::ZERO).await;
    settle(10 * PERIOD).await;
    assert_eq!(rig.metrics.samples.get(), 2, "no burst of ten");
    assert_eq!(rig.health.check(rig.clock.mono()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_reading_that_is_not_trusted_is_published_without_figures() {
    let rig = running(Steady {
        lies: Some(3),
        ..Steady::default()
    });
    for _ in 0..3 {
        settle(PERIOD).await;
    }
    let reading = rig.feed.borrow().clone().unwrap();
    assert!(reading.usage.untrusted.is_some());
    assert_eq!(reading.usage.figures, []);
}

#[tokio::test(start_paused = true)]
async fn the_ticker_ends_with_shutdown() {
    let mut rig = running(Steady::default());
    rig.shutdown.cancel();
    rig.running.join_next().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dear_sampler_is_asked_half_as_often_until_it_is_cheap_for_a_minute() {
    let source = Costly {
        inner: Steady::default(),
        cheap_from: 3,
    };
    let rig = running(source);
    for _ in 0..3 {
        settle(PERIOD).await;
    }
    assert_eq!(*rig.period.borrow(), 2 * PERIOD);
    assert_eq!(rig.metrics.slow_ticks.get(), 3);
    assert_eq!(rig.metrics.sample_period.get(), 2.0);
    let taken = rig.metrics.samples.get();
    for _ in 0..20 {
        settle(PERIOD).await;
    }
    assert_eq!(rig.metrics.samples.get(), taken + 10, "every second second");
    let late = rig.clock.mono() + 5 * PERIOD;
    assert_eq!(rig.health.check(late), Ok(()), "three longer periods");
    for _ in 0..50 {
        settle(PERIOD).await;
    }
    assert_eq!(*rig.period.borrow(), PERIOD);
}
