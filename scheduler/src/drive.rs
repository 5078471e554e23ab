//! Drives the engine: hands it events and time, hands out its commands.
//!
//! One thread owns the engine. Takes events of the cluster and samples of the telemetry
//! server; gives commands to the cluster and decisions to metrics and people.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::{Command, Engine, Event};
use plimsoll_ingest::Ingest;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::inspect::Question;
use crate::metrics::Metrics;

/// What the driver owns and what it is connected to.
pub(crate) struct Driver {
    pub(crate) engine: Engine,
    pub(crate) clock: Clock,
    pub(crate) events: Receiver<Event>,
    pub(crate) ingest: Arc<Ingest>,
    pub(crate) commands: Sender<Command>,
    pub(crate) decisions: Decisions,
    pub(crate) metrics: Metrics,
    pub(crate) questions: Receiver<Question>,
}

/// How often the engine's figures go to the metrics.
const STATS_PERIOD: Duration = Duration::from_secs(1);
/// How often it is said that agents speak for unknown nodes.
const STRANGERS_PERIOD: Duration = Duration::from_mins(5);
/// How long samples wait at most while events never end: a quarter of the time between two
/// samples of a node, so that a busy engine does not judge by old load.
const SAMPLES_WITHIN: Duration = Duration::from_millis(250);

// === impl Driver ===

impl Driver {
    /// Runs on the calling thread until `stop` is cancelled.
    ///
    /// # Errors
    /// The thread's runtime cannot be made, or the other end of a channel is gone.
    pub(crate) fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .context("the engine's runtime cannot be made")?;
        runtime.block_on(self.drive(stop))
    }

    async fn drive(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut stats = Each::new(STATS_PERIOD);
        let mut samples = Each::new(SAMPLES_WITHIN);
        let mut strangers = Strangers::default();
        loop {
            let now = self.clock.mono();
            if stats.is_due(now) {
                self.tell_stats(&mut strangers, now);
            }
            if samples.is_due(now) {
                self.take_samples().await?;
            }
            let wakeup = self
                .engine
                .next_wakeup()
                .unwrap_or(stats.next)
                .min(stats.next);
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                // Few and cheap, and not to be kept waiting by events that never end.
                Some(question) = self.questions.recv() => {
                    self.answer(question);
                    continue;
                }
                event = self.events.recv() => event.context("the cluster's events have ended")?,
                () = self.ingest.changed() => Event::Samples(self.ingest.drain()),
                () = tokio::time::sleep_until(self.clock.at(wakeup)) => Event::Tick,
            };
            self.step(event).await?;
        }
    }

    fn tell_stats(&self, strangers: &mut Strangers, now: Duration) {
        let stats = self.engine.stats();
        self.metrics.set_stats(&stats);
        let unknown = stats.counters.samples_unknown_node;
        if let Some(new) = strangers.news(unknown, now) {
            warn!(
                samples = new,
                "agents speak for nodes that the cluster does not have: check their --node-name"
            );
        }
    }

    /// Takes what samples there are, also where the events leave no room for their turn.
    async fn take_samples(&mut self) -> anyhow::Result<()> {
        let samples = self.ingest.drain();
        if samples.is_empty() {
            return Ok(());
        }
        self.step(Event::Samples(samples)).await
    }

    fn answer(&mut self, question: Question) {
        let load = self.engine.node_load(self.clock.now(), &question.node);
        // Who asked may have gone meanwhile: then nobody needs the answer.
        let _: Result<(), _> = question.answer.send(load);
    }

    async fn step(&mut self, event: Event) -> anyhow::Result<()> {
        let now = self.clock.now();
        let commands = self.engine.step(now, event);
        let took = self.clock.mono().saturating_sub(now.mono);
        for command in commands {
            match command {
                Command::Decided(decision) => self.decided(Arc::new(*decision), took),
                command @ (Command::Bind { .. }
                | Command::PatchStatus { .. }
                | Command::Apply { .. }
                | Command::RecordEvent(_)) => {
                    self.commands
                        .send(command)
                        .await
                        .context("the cluster takes no commands")?;
                }
            }
        }
        Ok(())
    }

    fn decided(&self, decision: Arc<plimsoll_core::Decision>, took: Duration) {
        self.metrics.decided(&decision, took);
        log(&decision);
        self.decisions.push(decision);
    }
}

/// Samples of nodes that the cluster does not have: told of, but not each second.
struct Strangers {
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
    fn news(&mut self, count: u64, now: Duration) -> Option<u64> {
        let new = count.saturating_sub(self.told);
        if new == 0 || !self.each.is_due(now) {
            return None;
        }
        self.told = count;
        Some(new)
    }
}

/// What is done once in each period, however often it is asked about.
struct Each {
    period: Duration,
    next: Duration,
}

impl Each {
    /// Due at once, and then each `period`.
    fn new(period: Duration) -> Self {
        let next = Duration::ZERO;
        Self { period, next }
    }

    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + self.period;
        }
        is_due
    }
}

fn log(decision: &plimsoll_core::Decision) {
    use plimsoll_core::Outcome;
    let pod = &decision.pod.key;
    match &decision.outcome {
        Outcome::Chosen { node, .. } => {
            info!(%pod, %node, feasible = decision.feasible, nodes = decision.nodes, "node chosen");
        }
        Outcome::Unschedulable { message } => info!(%pod, reason = message, "no node"),
        Outcome::Failed { message } => warn!(%pod, reason = message, "attempt failed"),
    }
    for candidate in &decision.candidates {
        for score in &candidate.scores {
            debug!(
                %pod,
                node = %candidate.node,
                plugin = score.plugin,
                weight = score.weight,
                raw = score.raw,
                score = score.normalized,
                total = candidate.total,
                "plugin scored node"
            );
        }
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
        let mut each = Each::new(SAMPLES_WITHIN);
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
