//! Events for people (events.k8s.io/v1).
//!
//! Takes pod events from the engine, writes them in a lane of their own: few at a time, at
//! a bounded rate, after the bindings. Repeats of a warning become a series. Under pressure
//! the oldest are dropped and counted; nobody ever waits for an event.

mod backlog;
mod body;
mod pace;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_core::{Failure, FailureKind, PodEvent};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use self::backlog::{Backlog, Outgoing, What};
pub(crate) use self::body::event_name;
use self::turn::Turn;
use crate::backoff::Backoff;
use crate::call::Api;
use crate::clock::wall;
use crate::cluster::TaskError;
use crate::metrics::{EventResult, Metrics};

/// Events being written at once. Four keep up the rate at 40 ms per write.
const LANE: usize = 4;
/// How often one event is tried.
const TRIES: u32 = 3;
/// Least and longest pause after a write that failed.
const WAIT_LEAST: Duration = Duration::from_millis(200);
const WAIT_MOST: Duration = Duration::from_secs(10);
/// Pause after a 429 that names no time, and the longest that is kept where it names one.
const REST: Duration = Duration::from_secs(1);
const REST_MOST: Duration = Duration::from_secs(30);
/// How often series are looked over.
const SWEEP_EVERY: Duration = Duration::from_mins(1);
/// Time for the last events after the commands have ended.
const FLUSH: Duration = Duration::from_secs(2);

/// Takes events. Cheap to clone; never blocks and never fails.
#[derive(Clone)]
pub(crate) struct Recorder {
    backlog: Arc<Mutex<Backlog>>,
    wake: Arc<Notify>,
    instance: Arc<str>,
    metrics: Metrics,
}

/// Writes what the recorder took.
pub(crate) struct Scribe {
    recorder: Recorder,
    api: Api,
    turn: Turn,
    running: JoinSet<(Outgoing, Result<(), Failure>)>,
    backoff: Backoff,
    /// Whether the last write was refused: said once, not for each event.
    refused: bool,
}

// === impl Recorder ===

impl Recorder {
    /// Takes events in the name of this replica.
    pub(crate) fn new(instance: String, metrics: Metrics) -> Self {
        Self {
            backlog: Arc::default(),
            wake: Arc::default(),
            instance: instance.into(),
            metrics,
        }
    }

    /// Takes one event.
    pub(crate) fn push(&self, event: PodEvent) {
        let pushed = self.backlog.lock().push(event, Instant::now(), wall());
        if pushed.aggregated {
            self.metrics.event(EventResult::Aggregated);
        }
        if pushed.overflowed {
            self.metrics.event(EventResult::Overflowed);
        }
        self.wake.notify_one();
    }

    /// Waits until there is something to write.
    async fn wait(&self) {
        loop {
            let woken = self.wake.notified();
            if !self.backlog.lock().is_empty() {
                return;
            }
            woken.await;
        }
    }
}

// === impl Scribe ===

impl Scribe {
    /// Writes at most `per_second`, and lets pass what `yields_to` says is in need.
    pub(crate) fn new(
        recorder: Recorder,
        api: Api,
        per_second: u32,
        yields_to: watch::Receiver<bool>,
    ) -> Self {
        let turn = Turn::new(recorder.clone(), per_second, yields_to);
        let backoff = Backoff::new(WAIT_LEAST, WAIT_MOST);
        Self {
            recorder,
            api,
            turn,
            running: JoinSet::new(),
            backoff,
            refused: false,
        }
    }

    /// Runs until `stop`, and then for a moment to write what is left.
    ///
    /// # Errors
    /// None: events are never worth a scheduler.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Result<(), TaskError> {
        let mut deadline: Option<Instant> = None;
        let mut sweep = interval_at(Instant::now() + SWEEP_EVERY, SWEEP_EVERY);
        while deadline.is_none() || self.has_work() {
            tokio::select! {
                Some(ended) = self.running.join_next() => match ended {
                    Ok((sent, outcome)) => self.end(sent, outcome),
                    Err(broken) => error!(error = %broken, "the task of an event broke"),
                },
                () = self.turn.come(), if self.running.len() < LANE => self.start(),
                _ = sweep.tick() => self.recorder.backlog.lock().sweep(Instant::now()),
                () = stop.cancelled(), if deadline.is_none() => deadline = Some(Instant::now() + FLUSH),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => break,
            }
        }
        Ok(())
    }

    fn has_work(&self) -> bool {
        !self.running.is_empty() || !self.recorder.backlog.lock().is_empty()
    }

    fn start(&mut self) {
        let Some(outgoing) = self.recorder.backlog.lock().next() else {
            return;
        };
        let (api, instance) = (self.api.clone(), Arc::clone(&self.recorder.instance));
        self.running.spawn(async move {
            let outcome = body::send(&api, &outgoing.what, &instance).await;
            (outgoing, outcome)
        });
    }

    fn end(&mut self, sent: Outgoing, outcome: Result<(), Failure>) {
        let now = Instant::now();
        let Err(failure) = outcome else {
            self.backoff.reset();
            self.refused = false;
            return self.written(&sent);
        };
        let is_new = matches!(sent.what, What::New(_));
        match failure.kind {
            // An earlier try of ours was carried out.
            FailureKind::Conflict if is_new => self.written(&sent),
            FailureKind::TooManyRequests { retry_after } => {
                self.turn
                    .pause(now + retry_after.unwrap_or(REST).min(REST_MOST));
                self.put_back(sent);
            }
            FailureKind::Unavailable | FailureKind::Unknown | FailureKind::Conflict
                if sent.tries + 1 < TRIES =>
            {
                self.turn.pause(now + self.backoff.next());
                self.put_back(Outgoing {
                    tries: sent.tries + 1,
                    ..sent
                });
            }
            // A series whose event has expired: the next repeat is an event of its own.
            FailureKind::NotFound if !is_new => self.recorder.backlog.lock().failed(&sent),
            _ => self.failed(&sent, &failure),
        }
    }

    fn written(&self, sent: &Outgoing) {
        if matches!(sent.what, What::New(_)) {
            self.recorder.metrics.event(EventResult::Written);
        }
        self.recorder.backlog.lock().written(sent, Instant::now());
    }

    fn put_back(&self, sent: Outgoing) {
        self.recorder.backlog.lock().put_back(sent);
        self.recorder.wake.notify_one();
    }

    fn failed(&mut self, sent: &Outgoing, failure: &Failure) {
        if !std::mem::replace(&mut self.refused, true) {
            warn!(error = failure.message, kind = ?failure.kind, "event not written");
        }
        self.recorder.metrics.event(EventResult::Failed);
        self.recorder.backlog.lock().failed(sent);
    }
}

#[cfg(test)]
mod tests;
