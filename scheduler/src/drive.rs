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
use tracing::{debug, info};

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
        let mut stats_due = Duration::ZERO;
        loop {
            let now = self.clock.mono();
            if now >= stats_due {
                self.metrics.set_stats(&self.engine.stats());
                stats_due = now + STATS_PERIOD;
            }
            let wakeup = self
                .engine
                .next_wakeup()
                .unwrap_or(stats_due)
                .min(stats_due);
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                event = self.events.recv() => event.context("the cluster's events have ended")?,
                () = self.ingest.changed() => Event::Samples(self.ingest.drain()),
                Some(question) = self.questions.recv() => {
                    self.answer(question);
                    continue;
                }
                () = tokio::time::sleep_until(self.clock.at(wakeup)) => Event::Tick,
            };
            self.step(event).await?;
        }
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

fn log(decision: &plimsoll_core::Decision) {
    use plimsoll_core::Outcome;
    let pod = &decision.pod.key;
    match &decision.outcome {
        Outcome::Chosen { node, .. } => {
            info!(%pod, %node, feasible = decision.feasible, nodes = decision.nodes, "node chosen");
        }
        Outcome::Unschedulable { message } => info!(%pod, message, "no node"),
        Outcome::Failed { message } => tracing::warn!(%pod, message, "attempt failed"),
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
