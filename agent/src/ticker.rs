//! The sampler's task: one tick per period. Takes a source of samples, gives the newest
//! reading to all streams, a sign of life to the health check, and runs due surveys beside
//! the tick. Ticks that cost too much come more rarely.

mod throttle;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::clock::{Clock, thread_cpu};
use crate::health::Health;
use crate::metrics::Metrics;
use crate::report::Reading;
use crate::usage::{Inventory, Machine, PodTable, Source};
use crate::window::Window;
use throttle::Throttle;

/// Where a tick's results go.
#[derive(Debug)]
pub(crate) struct Outlets {
    pub(crate) readings: watch::Sender<Option<Arc<Reading>>>,
    pub(crate) machine: watch::Sender<Machine>,
    /// Time between two samples, as it is at present.
    pub(crate) period: watch::Sender<Duration>,
    pub(crate) metrics: Metrics,
    pub(crate) health: Health,
}

/// Samples one source at a fixed pace.
#[derive(Debug)]
pub(crate) struct Ticker<S> {
    source: S,
    window: Window,
    throttle: Throttle,
    clock: Clock,
    outlets: Outlets,
    sequence: u64,
    pods: PodTable,
    untrusted: bool,
}

impl<S: Source> Ticker<S> {
    pub(crate) fn new(mut source: S, period: Duration, clock: Clock, outlets: Outlets) -> Self {
        source.set_period(period);
        outlets.metrics.sample_period.set(period.as_secs_f64());
        Self {
            source,
            window: Window::new(period),
            throttle: Throttle::new(period),
            clock,
            outlets,
            sequence: 0,
            pods: PodTable::default(),
            untrusted: false,
        }
    }

    /// Ticks until `shutdown`. A tick that was missed is skipped, never made up for.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) {
        let mut ticks = ticks(self.throttle.period());
        let mut surveys = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                Some(done) = surveys.join_next() => self.end_survey(done),
                _ = ticks.tick() => {
                    let before = thread_cpu();
                    self.tick();
                    let cost = thread_cpu().saturating_sub(before);
                    if let Some(period) = self.judge(cost) {
                        ticks = self::ticks(period);
                        ticks.reset();
                    }
                    self.begin_survey(&mut surveys);
                }
            }
        }
    }

    /// Gives the new time between two ticks, if the cost of this one changes it.
    fn judge(&mut self, cost: Duration) -> Option<Duration> {
        let verdict = self.throttle.take(self.clock.mono(), cost);
        let outlets = &self.outlets;
        outlets
            .metrics
            .slow_ticks
            .inc_by(u64::from(verdict.is_dear));
        let period = verdict.period?;
        self.source.set_period(period);
        self.window.set_period(period);
        outlets.health.set_period(period);
        outlets.metrics.sample_period.set(period.as_secs_f64());
        outlets.period.send_replace(period);
        let (period_ms, cost_us) = (period.as_millis() as u64, cost.as_micros() as u64);
        if verdict.is_dear {
            warn!(
                cost_us,
                period_ms, "sampling costs too much, it goes on slower"
            );
        } else {
            info!(
                period_ms,
                "sampling is cheap again, it goes on at its normal pace"
            );
        }
        Some(period)
    }

    fn tick(&mut self) {
        let at = self.clock.mono();
        let sample = self.source.sample(at);
        let usage = self.window.push(sample).clone();
        self.sequence += 1;
        if let Some(pods) = self.source.pods(at) {
            self.pods = pods;
        }

        let outlets = &self.outlets;
        outlets.metrics.samples.inc();
        outlets
            .metrics
            .sample_duration
            .observe(self.clock.mono().saturating_sub(at).as_secs_f64());
        outlets
            .metrics
            .counters
            .send_replace(self.source.counters());
        outlets.health.tick(at);
        let machine = self.source.machine();
        outlets
            .machine
            .send_if_modified(|known| std::mem::replace(known, machine) != machine);

        self.tell_trust(usage.untrusted.as_ref());
        // The first sample gives no rates yet: there is nothing to say.
        if !usage.figures.is_empty() || usage.untrusted.is_some() {
            let reading = Reading {
                sequence: self.sequence,
                usage,
                pods: Arc::clone(&self.pods),
            };
            self.outlets.readings.send_replace(Some(Arc::new(reading)));
        }
    }

    /// Logs when trust in the figures is lost or comes back, not at each tick.
    fn tell_trust(&mut self, untrusted: Option<&impl std::fmt::Display>) {
        match untrusted {
            Some(reason) if !self.untrusted => warn!(%reason, "figures are not trusted"),
            None if self.untrusted => info!("figures are trusted again"),
            _ => {}
        }
        self.untrusted = untrusted.is_some();
    }

    /// Starts the slow part of the work where it is due, one at a time: a directory walk
    /// that hangs must not be joined by a second.
    fn begin_survey(&mut self, surveys: &mut JoinSet<Inventory>) {
        if !surveys.is_empty() {
            return;
        }
        if let Some(survey) = self.source.survey(self.clock.mono()) {
            surveys.spawn_blocking(move || survey.run());
        }
    }

    fn end_survey(&mut self, done: Result<Inventory, JoinError>) {
        match done {
            Ok(inventory) => self.source.apply(inventory),
            Err(error) => warn!(%error, "survey of the machine broke"),
        }
    }
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

#[cfg(test)]
mod tests;
