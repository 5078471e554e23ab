//! Carries commands out.
//!
//! Takes the engine's commands, gives one `Completed` for each that has an id. It never
//! stops taking: commands wait here, in bounded lanes, so that the engine is never blocked
//! by a slow API server and this task never by a busy engine.

mod lanes;
mod work;

use std::collections::VecDeque;
use std::time::Duration;

use indexmap::IndexMap;
use plimsoll_core::{Command, CommandId, Event, Failure, FailureKind};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{OwnedPermit, Receiver, Sender};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{error, info, warn};

use self::lanes::{Job, Lanes, Ticket};
pub(crate) use self::work::Writer;
use crate::cluster::{DecisionSink, TaskError};
use crate::consult::Ask;
use crate::record::Recorder;
use crate::status::{Nomination, StatusPatch};

/// Commands that wait at most. The engine pauses at 64 decided pods; the rest is room for
/// the status of every pod of a full queue (5,000 pods failing at once, three times).
const WAITING_MAX: usize = 16_384;

/// Where commands come from and where their outcome goes.
pub(crate) struct Ports {
    pub(crate) commands: Receiver<Command>,
    /// Takes questions to extenders.
    pub(crate) asks: Sender<Ask>,
    pub(crate) events: Sender<Event>,
    pub(crate) decided: DecisionSink,
    pub(crate) recorder: Recorder,
}

/// Carries out the commands of one engine.
pub(crate) struct Carrier {
    writer: Writer,
    ports: Ports,
    lanes: Lanes,
    running: JoinSet<Result<(), Failure>>,
    tickets: IndexMap<Id, Ticket>,
    outcomes: VecDeque<Event>,
    /// Whether bindings wait or fill their lane: what is less urgent yields.
    busy: watch::Sender<bool>,
    commands_open: bool,
    engine_gone: bool,
}

// === impl Carrier ===

impl Carrier {
    pub(crate) fn new(
        writer: Writer,
        ports: Ports,
        lanes: (usize, usize),
        busy: watch::Sender<bool>,
    ) -> Self {
        Self {
            writer,
            ports,
            lanes: Lanes::new(lanes.0, lanes.1),
            running: JoinSet::new(),
            tickets: IndexMap::new(),
            outcomes: VecDeque::new(),
            busy,
            commands_open: true,
            engine_gone: false,
        }
    }

    /// Runs until the engine has dropped its end and everything is carried out, or until
    /// `grace` after `stop`. Tells `done` in every case: who writes events may end then.
    ///
    /// # Errors
    /// The engine takes no more events, and nobody said stop.
    pub(crate) async fn run(
        mut self,
        stop: CancellationToken,
        grace: Duration,
        done: DropGuard,
    ) -> Result<(), TaskError> {
        let _done = done;
        let mut deadline: Option<Instant> = None;
        while self.commands_open || self.lanes.are_busy() || !self.outcomes.is_empty() {
            self.start_jobs();
            tokio::select! {
                Some(ended) = self.running.join_next_with_id() => self.end_job(ended),
                command = self.ports.commands.recv(), if self.commands_open => self.take(command),
                permit = self.ports.events.clone().reserve_owned(), if !self.outcomes.is_empty() => {
                    self.deliver(permit.ok());
                }
                () = stop.cancelled(), if deadline.is_none() => deadline = Some(Instant::now() + grace),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    warn!(unfinished = self.lanes.len(), "out of time, commands left undone");
                    break;
                }
            }
        }
        info!("commands ended");
        if self.engine_gone && !stop.is_cancelled() {
            return Err(TaskError::EngineGone);
        }
        Ok(())
    }

    fn take(&mut self, command: Option<Command>) {
        match command {
            None => self.commands_open = false,
            Some(Command::RecordEvent(event)) => self.ports.recorder.push(event),
            Some(Command::Decided(decision)) => (self.ports.decided)(decision),
            Some(Command::Bind { id, pod, node }) => self.queue(Job::bind(id, pod, node)),
            Some(Command::PatchStatus {
                id,
                pod,
                condition,
                nominated_node,
            }) => {
                let nomination = match nominated_node {
                    None => Nomination::Keep,
                    Some(None) => Nomination::Clear,
                    Some(Some(node)) => Nomination::Set(node),
                };
                self.queue(Job::patch_status(
                    id,
                    pod,
                    StatusPatch {
                        condition,
                        nomination,
                    },
                ));
            }
            Some(Command::AskExtender {
                id,
                extender,
                pod,
                question,
            }) => self.ask(Ask {
                id,
                extender,
                pod,
                question,
            }),
            Some(Command::Evict { id, pod, message }) => self.queue(Job::evict(id, pod, message)),
            Some(Command::Apply { id, pod, effect }) => self.queue(Job::apply(id, pod, effect)),
        }
    }

    fn ask(&mut self, ask: Ask) {
        if let Err(TrySendError::Full(ask) | TrySendError::Closed(ask)) =
            self.ports.asks.try_send(ask)
        {
            warn!(pod = %ask.pod.key, "too many questions wait for extenders, one is given back");
            let reply = Err("too many questions wait for extenders".to_owned());
            if !self.engine_gone {
                let id = ask.id;
                self.outcomes
                    .push_back(Event::ExtenderAnswered { id, reply });
            }
        }
    }

    fn queue(&mut self, job: Job) {
        if self.lanes.len() < WAITING_MAX {
            self.lanes.push(job);
            return;
        }
        warn!(pod = %job.pod.key, "too many commands wait, one is given back");
        let message = "too many commands wait for the API server".to_owned();
        self.answer(
            job.id,
            Err(Failure {
                kind: FailureKind::Unavailable,
                message,
            }),
        );
    }

    fn start_jobs(&mut self) {
        while let Some((job, ticket)) = self.lanes.pop() {
            let writer = self.writer.clone();
            let handle = self
                .running
                .spawn(async move { writer.carry_out(&job).await });
            self.tickets.insert(handle.id(), ticket);
        }
        let busy = self.lanes.is_binding_busy();
        self.busy
            .send_if_modified(|was| std::mem::replace(was, busy) != busy);
    }

    fn end_job(&mut self, ended: Result<(Id, Result<(), Failure>), JoinError>) {
        let (task, outcome) = match ended {
            Ok((task, outcome)) => (task, outcome),
            Err(broken) => {
                error!(error = %broken, "the task of a command broke");
                let message = format!("internal error: {broken}");
                (
                    broken.id(),
                    Err(Failure {
                        kind: FailureKind::Unknown,
                        message,
                    }),
                )
            }
        };
        let Some(ticket) = self.tickets.swap_remove(&task) else {
            return;
        };
        self.lanes.done(&ticket);
        self.answer(ticket.id, outcome);
    }

    fn answer(&mut self, id: CommandId, outcome: Result<(), Failure>) {
        if !self.engine_gone {
            self.outcomes.push_back(Event::Completed { id, outcome });
        }
    }

    /// Tells one outcome. Without a permit nobody takes outcomes any more; what was decided
    /// is still carried out.
    fn deliver(&mut self, permit: Option<OwnedPermit<Event>>) {
        if let Some(permit) = permit {
            if let Some(event) = self.outcomes.pop_front() {
                permit.send(event);
            }
            return;
        }
        self.engine_gone = true;
        self.outcomes.clear();
        self.ports.commands.close();
    }
}

#[cfg(test)]
mod tests;
