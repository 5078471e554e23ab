//! Asks HTTP extenders what the engine wants to know.
//!
//! Takes [`Ask`]s from who carries commands out, gives one `ExtenderAnswered` for each. Every
//! question is put at once, so that an extender that hangs holds up nobody: the engine sees to
//! it that each has the questions about one pod, and 32 orders to bind, at a time.

mod body;
mod originals;
mod reply;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use plimsoll_config::Extender;
use plimsoll_core::{CommandId, Event, PodRef, Question, Reply};
use plimsoll_extender::Verb;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{error, warn};

pub(crate) use self::originals::{Keeps, Originals};
use crate::cluster::TaskError;
use crate::extender::Client;
use crate::lease::Leadership;

/// Questions that wait between the carrier and this task: a full binding lane many times over.
pub(crate) const ASKS_MAX: usize = 16_384;

/// One question.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) id: CommandId,
    /// Index of the extender in the configuration.
    pub(crate) extender: usize,
    pub(crate) pod: PodRef,
    pub(crate) question: Question,
}

/// One extender and the way to it.
struct Side {
    extender: Arc<Extender>,
    client: Client,
}

/// The task that asks.
pub(crate) struct Consultant {
    sides: Vec<Side>,
    originals: Arc<Originals>,
    asks: Receiver<Ask>,
    events: Sender<Event>,
    leadership: Leadership,
    _done: Option<DropGuard>,
    calls: JoinSet<Result<Reply, String>>,
    tickets: IndexMap<Id, CommandId>,
    answers: VecDeque<Event>,
    asks_open: bool,
}

// === impl Consultant ===

impl Consultant {
    pub(crate) fn new(
        sides: Vec<(Extender, Client)>,
        originals: Arc<Originals>,
        asks: Receiver<Ask>,
        events: Sender<Event>,
    ) -> Self {
        let side = |(extender, client)| Side {
            extender: Arc::new(extender),
            client,
        };
        Self {
            sides: sides.into_iter().map(side).collect(),
            originals,
            asks,
            events,
            leadership: Leadership::always(),
            _done: None,
            calls: JoinSet::new(),
            tickets: IndexMap::new(),
            answers: VecDeque::new(),
            asks_open: true,
        }
    }

    /// The same, but nobody is asked except while this replica leads: an extender may bind.
    /// Tells `done` once it has ended.
    pub(crate) fn while_leading(self, leadership: Leadership, done: DropGuard) -> Self {
        Self {
            leadership,
            _done: Some(done),
            ..self
        }
    }

    /// Runs until nobody asks any more and everything is answered, or until `grace` after
    /// `stop`.
    ///
    /// # Errors
    /// The engine takes no more events, and nobody said stop.
    pub(crate) async fn run(
        mut self,
        stop: CancellationToken,
        grace: Duration,
    ) -> Result<(), TaskError> {
        let mut deadline: Option<Instant> = None;
        while self.asks_open || !self.tickets.is_empty() || !self.answers.is_empty() {
            tokio::select! {
                Some(ended) = self.calls.join_next_with_id() => self.end_call(ended),
                ask = self.asks.recv(), if self.asks_open => self.take(ask),
                permit = self.events.clone().reserve_owned(), if !self.answers.is_empty() => {
                    let answer = self.answers.pop_front();
                    match (permit, answer) {
                        (Ok(permit), Some(answer)) => drop(permit.send(answer)),
                        // What is being bound is still bound.
                        _ if stop.is_cancelled() => {}
                        _ => return Err(TaskError::EngineGone),
                    }
                }
                () = stop.cancelled(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + grace);
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Puts a question, if there is such an extender.
    fn take(&mut self, ask: Option<Ask>) {
        let Some(ask) = ask else {
            self.asks_open = false;
            return;
        };
        let id = ask.id;
        let Some(side) = self.sides.get(ask.extender) else {
            let reply = Err(format!("there is no extender number {}", ask.extender));
            return self
                .answers
                .push_back(Event::ExtenderAnswered { id, reply });
        };
        let call = Call {
            extender: Arc::clone(&side.extender),
            client: side.client.clone(),
            originals: Arc::clone(&self.originals),
            leadership: self.leadership.clone(),
            ask,
        };
        let handle = self.calls.spawn(call.run());
        self.tickets.insert(handle.id(), id);
    }

    fn end_call(&mut self, ended: Result<(Id, Result<Reply, String>), JoinError>) {
        let (task, reply) = match ended {
            Ok((task, reply)) => (task, reply),
            Err(broken) => {
                error!(error = %broken, "the task of a call to an extender broke");
                (broken.id(), Err(format!("internal error: {broken}")))
            }
        };
        if let Some(id) = self.tickets.swap_remove(&task) {
            self.answers
                .push_back(Event::ExtenderAnswered { id, reply });
        }
    }
}

/// One call, from the question to the reply.
struct Call {
    extender: Arc<Extender>,
    client: Client,
    originals: Arc<Originals>,
    leadership: Leadership,
    ask: Ask,
}

// === impl Call ===

impl Call {
    async fn run(self) -> Result<Reply, String> {
        let verb = match &self.ask.question {
            Question::Filter { .. } => Verb::Filter,
            Question::Prioritize { .. } => Verb::Prioritize,
            Question::Preempt { .. } => Verb::Preempt,
            Question::Bind { .. } => Verb::Bind,
        };
        let reply = self.ask(verb).await;
        if let Err(error) = &reply {
            let (pod, extender) = (&self.ask.pod.key, &self.extender.url_prefix);
            let ignored = self.extender.ignorable || verb == Verb::Prioritize;
            warn!(%pod, extender, verb = verb.name(), error, ignored, "extender failed");
        }
        reply
    }

    async fn ask(&self, verb: Verb) -> Result<Reply, String> {
        let body = body::of(&self.extender, &self.originals, &self.ask)?;
        let read = |answer: &[u8]| reply::read(&self.extender, &self.ask.question, answer);
        let asking = self.client.ask(verb, body, read);
        let reply = self.leadership.while_leading(asking).await;
        let reply = reply.ok_or_else(|| "this replica does not lead".to_owned())?;
        reply.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
