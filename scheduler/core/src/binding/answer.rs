//! Answers of the API server to requests for bindings.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::Point;
use plimsoll_objects::Uid;

use super::{Fate, Progress, Request, Stage, Work};
use crate::command::CommandId;
use crate::engine::Engine;
use crate::event::{Failure, FailureKind};
use crate::probe::{ERROR, SUCCESS};
use crate::timing::{Timing, label};

/// First pause before a question without an answer is asked again; doubles each time.
const FIRST_RETRY: Duration = Duration::from_millis(200);
/// Longest such pause.
const LAST_RETRY: Duration = Duration::from_secs(10);

impl Engine {
    /// Takes the answer to `id`; `false` if it is not a request for a binding.
    pub(crate) fn binding_answered(
        &mut self,
        id: CommandId,
        outcome: &Result<(), Failure>,
    ) -> bool {
        let Some(uid) = self.bindings.take_answer(id) else {
            return false;
        };
        let now = self.now.mono;
        let Some((request, at)) = self.request_of(&uid, id) else {
            return true;
        };
        request.progress = Progress::Resting;
        if request.work.binds() {
            self.time_bind(&uid, at, outcome.is_ok());
        }
        let kind = outcome
            .as_ref()
            .map(|&()| ())
            .map_err(|failure| failure.kind);
        self.bindings.limiter.answered(kind, at, now);
        self.bindings.set_deadline(&uid, None);
        self.settle(&uid, outcome);
        true
    }

    /// No answer has come in time.
    pub(super) fn answer_overdue(&mut self, id: CommandId) {
        let message = "no answer".to_owned();
        self.binding_answered(
            id,
            &Err(Failure {
                kind: FailureKind::Unknown,
                message,
            }),
        );
    }

    pub(super) fn settle(&mut self, uid: &Uid, outcome: &Result<(), Failure>) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        let Stage::Request(request) = &binding.stage else {
            return;
        };
        let binds = request.work.binds();
        match (&binding.fate, outcome) {
            (Fate::Gone, _) => {
                self.count_failure(outcome);
                self.pod_went_away(uid);
            }
            (Fate::Bound(node), _) => {
                let node = Arc::clone(node);
                self.watch_showed_node(uid, &node);
            }
            (Fate::Open, _) if self.bindings.is_ending(uid) => {
                self.count_failure(outcome);
                self.answered_while_ending(uid);
            }
            (Fate::Open, Ok(())) => self.went_well(uid),
            (Fate::Open, Err(failure)) => {
                self.count_failure(outcome);
                self.went_wrong(uid, failure, binds);
            }
        }
    }

    fn went_well(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        request.tries = 0;
        request.refused_since = None;
        let (effects, next) = match &mut request.work {
            Work::Bind | Work::BindBy(_) => return self.bound(uid),
            Work::BindEffects(effects) => (effects, None),
            Work::PreBindEffects {
                effects,
                plugin,
                attempt,
            } => (effects, Some((*plugin, *attempt))),
        };
        effects.pop_front();
        // A Bind plugin that has made some of its changes must come to an end with the rest.
        request.maybe_done = next.is_none() && !effects.is_empty();
        match next {
            _ if !effects.is_empty() => self.ready_again(uid, false),
            None => self.bound(uid),
            Some((plugin, attempt)) => self.run_pre_bind(uid, plugin, attempt.saturating_add(1)),
        }
    }

    fn went_wrong(&mut self, uid: &Uid, failure: &Failure, binds: bool) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        let text = match request.doing.as_str() {
            "" => failure.message.clone(),
            doing => format!("{doing}: {}", failure.message),
        };
        match failure.kind {
            FailureKind::Conflict | FailureKind::NotFound if binds => self.lost(uid),
            FailureKind::TooManyRequests { .. } => self.ready_again(uid, true),
            FailureKind::Unknown if binds => {
                request.maybe_done = true;
                request.refused_since = None;
                self.ask_later(uid);
            }
            // This one did nothing, but one before it may have: only a clear answer ends it.
            FailureKind::Unavailable if binds && request.maybe_done => {
                request.refused_since = None;
                self.ask_later(uid);
            }
            FailureKind::Refused if binds && request.maybe_done => self.refused_in_doubt(uid, text),
            FailureKind::Conflict
            | FailureKind::NotFound
            | FailureKind::Unknown
            | FailureKind::Unavailable
            | FailureKind::Refused => self.give_up(uid, text),
        }
    }

    /// Puts a request back in line: in front, if it has waited its turn already.
    fn ready_again(&mut self, uid: &Uid, in_front: bool) {
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        request.progress = Progress::Ready;
        if in_front {
            self.bindings.ready.push_front(uid.clone());
        } else {
            self.bindings.ready.push_back(uid.clone());
        }
    }

    /// An answer to `id` of `uid` has come: gives the request, to be settled, and when it
    /// was sent; `None` if another question is open by now.
    pub(super) fn request_of(
        &mut self,
        uid: &Uid,
        id: CommandId,
    ) -> Option<(&mut Request, Duration)> {
        let binding = self.bindings.get_mut(uid)?;
        let Stage::Request(request) = &mut binding.stage else {
            return None;
        };
        let Progress::Asked { id: asked, at } = request.progress else {
            return None;
        };
        (asked == id).then_some((request, at))
    }

    /// Tells how long binding took, and how it went.
    pub(super) fn time_bind(&self, uid: &Uid, at: Duration, is_ok: bool) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        let framework = self.profiles.get(binding.reserved.item.profile);
        self.probe.keep(Timing::Point {
            profile: Arc::clone(&framework.scheduler_name),
            point: label(Point::Bind),
            status: if is_ok { SUCCESS } else { ERROR },
            took: self.now.mono.saturating_sub(at),
        });
    }

    pub(super) fn ask_later(&mut self, uid: &Uid) {
        let now = self.now.mono;
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        let factor = 1_u32.checked_shl(request.tries).unwrap_or(u32::MAX);
        let pause = FIRST_RETRY.saturating_mul(factor).min(LAST_RETRY);
        request.tries = request.tries.saturating_add(1);
        request.progress = Progress::Resting;
        self.bindings
            .set_deadline(uid, Some(now.saturating_add(pause)));
    }

    /// The rest of a request is over.
    pub(super) fn rested(&mut self, uid: &Uid) {
        self.bindings.set_deadline(uid, None);
        self.ready_again(uid, true);
    }

    fn count_failure(&mut self, outcome: &Result<(), Failure>) {
        let Err(failure) = outcome else { return };
        let counters = &mut self.counters.binds;
        let count = match failure.kind {
            FailureKind::Conflict => &mut counters.conflict,
            FailureKind::NotFound => &mut counters.not_found,
            FailureKind::TooManyRequests { .. } => &mut counters.throttled,
            FailureKind::Unavailable => &mut counters.unavailable,
            FailureKind::Unknown => &mut counters.unknown,
            FailureKind::Refused => &mut counters.refused,
        };
        *count += 1;
    }
}

impl Request {
    /// The open question.
    pub(super) fn asked(&self) -> Option<CommandId> {
        match self.progress {
            Progress::Asked { id, .. } => Some(id),
            Progress::Ready | Progress::Resting => None,
        }
    }
}
