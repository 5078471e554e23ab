//! Drives the engine: hands it events and time, hands out its commands.
//!
//! One thread owns the engine. Takes events of the cluster and samples of the telemetry
//! server; gives commands to the cluster and decisions to metrics and people.

mod news;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plimsoll_cluster::Leadership;
use plimsoll_core::{Command, Engine, Event};
use plimsoll_ingest::Ingest;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use self::news::{Each, Strangers};
use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::inspect::{LoadAnswer, Question};
use crate::metrics::Metrics;

pub(crate) use self::news::{Mode, SlowCycles};

/// What the driver owns and what it is connected to.
pub(crate) struct Driver {
    pub(crate) engine: Engine,
    pub(crate) clock: Clock,
    pub(crate) leadership: Leadership,
    /// Whether the engine knows that it leads.
    pub(crate) leads: bool,
    pub(crate) events: Receiver<Event>,
    pub(crate) ingest: Arc<Ingest>,
    pub(crate) commands: Sender<Command>,
    pub(crate) decisions: Decisions,
    pub(crate) metrics: Metrics,
    pub(crate) questions: Receiver<Question>,
    /// How load was judged when it was last told.
    pub(crate) mode: Mode,
    /// When a slow cycle was last told.
    pub(crate) slow: SlowCycles,
}

/// How often the engine's figures go to the metrics.
const STATS_PERIOD: Duration = Duration::from_secs(1);
/// How often the load of all nodes goes to the metrics, where it is wanted.
const ROWS_PERIOD: Duration = Duration::from_secs(10);
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
        let mut rows = Each::new(ROWS_PERIOD);
        let mut strangers = Strangers::default();
        loop {
            let now = self.clock.mono();
            if stats.is_due(now) {
                self.tell_stats(&mut strangers, now);
            }
            if self.metrics.wants_rows() && rows.is_due(now) {
                self.metrics
                    .set_rows(self.engine.snapshot(self.clock.now()));
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
                    self.answer(question).await?;
                    continue;
                }
                () = self.leadership.begins(), if !self.leads => {
                    self.leads = true;
                    Event::LeadingBegan
                }
                event = self.events.recv() => event.context("the cluster's events have ended")?,
                () = self.ingest.changed() => Event::Samples(self.ingest.drain()),
                () = tokio::time::sleep_until(self.clock.at(wakeup)) => Event::Tick,
            };
            self.step(event).await?;
        }
    }

    fn tell_stats(&mut self, strangers: &mut Strangers, now: Duration) {
        let stats = self.engine.stats();
        self.metrics.set_stats(&stats);
        self.metrics.set_evaluations(&self.engine.evaluations());
        let load = self.engine.load_stats(self.clock.now());
        self.metrics.set_load(&load);
        self.mode.tell(&load);
        let unknown = stats.counters.samples_unknown_node;
        if let Some(new) = strangers.news(unknown, now) {
            warn!(
                samples = new,
                node = stats.unknown_node.as_deref().unwrap_or_default(),
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

    async fn answer(&mut self, question: Question) -> anyhow::Result<()> {
        // Who asked may have gone meanwhile: then nobody needs the answer.
        match question {
            Question::NodeLoad { node, answer } => {
                let load = self.engine.node_load(self.clock.now(), &node);
                let _: Result<(), _> = answer.send(load);
            }
            Question::Dump { answer } => {
                drop(answer.send(self.engine.dump()));
            }
            Question::Load { switch, answer } => {
                if let Some(on) = switch {
                    self.step(Event::LoadSwitched(on)).await?;
                }
                let now = self.clock.now();
                let stats = self.engine.load_stats(now);
                let lasted = now.mono.saturating_sub(stats.since);
                let _: Result<(), _> = answer.send(LoadAnswer { stats, lasted });
            }
        }
        Ok(())
    }

    async fn step(&mut self, event: Event) -> anyhow::Result<()> {
        let commands = self.engine.step(self.clock.now(), event);
        let metrics = &self.metrics;
        let slow = &mut self.slow;
        let now = self.clock.mono();
        self.engine.drain_timings(|timing| {
            slow.tell(&timing, now);
            metrics.timed(&timing);
        });
        for command in commands {
            match command {
                Command::Decided(decision) => self.decided(Arc::new(*decision)),
                command @ (Command::Bind { .. }
                | Command::PatchStatus { .. }
                | Command::Apply { .. }
                | Command::Evict { .. }
                | Command::AskExtender { .. }
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

    fn decided(&self, decision: Arc<plimsoll_core::Decision>) {
        self.metrics.decided(&decision);
        log(&decision);
        self.decisions.push(decision);
    }
}

fn log(decision: &plimsoll_core::Decision) {
    use plimsoll_core::Outcome;
    let pod = &decision.pod.key;
    match &decision.outcome {
        Outcome::Chosen { node, .. } => {
            let (feasible, nodes) = (decision.feasible, decision.nodes);
            let evaluated = decision.evaluated;
            let sample_age = decision.sample_age().map(|age| age.as_secs());
            match &decision.over {
                None => info!(%pod, %node, feasible, evaluated, nodes, sample_age, "node chosen"),
                Some(over) => info!(
                    %pod,
                    %node,
                    feasible,
                    evaluated,
                    nodes,
                    sample_age,
                    over = %over.reason,
                    figures = over.detail.as_ref().map(tracing::field::display),
                    "node chosen over its soft cap"
                ),
            }
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
