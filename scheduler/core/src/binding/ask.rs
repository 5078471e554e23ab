//! Requests go out, as many as the limiter lets through.

use std::time::Duration;

use plimsoll_objects::Uid;

use super::{Progress, Stage, Work};
use crate::command::{Command, PodRef};
use crate::engine::Engine;
use crate::question::Question;

/// How long an answer is waited for: longer than the driver's own time-outs and its look at
/// the pod after a lost answer. Then the question is asked again.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// Oldest decision that is written: after a long pause (429, outage) the cluster may look
/// different, and the pod is decided anew.
const MAX_DECISION_AGE: Duration = Duration::from_mins(1);

impl Engine {
    /// Sends requests of decided pods, first come first served.
    pub(crate) fn ask_for_bindings(&mut self) {
        while let Some(uid) = self.bindings.orders.pop(|uid| self.status.is_asked(uid)) {
            self.ask(&uid);
        }
        let mut held = Vec::new();
        while self
            .bindings
            .limiter
            .is_open(self.bindings.asked(), self.now.mono)
        {
            let Some(uid) = self.bindings.ready.pop_front() else {
                break;
            };
            if self.status.is_asked(&uid) {
                held.push(uid);
            } else {
                self.ask(&uid);
            }
        }
        for uid in held.into_iter().rev() {
            self.bindings.ready.push_front(uid);
        }
    }

    fn ask(&mut self, uid: &Uid) {
        let now = self.now.mono;
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let node = binding.reserved.node();
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        if !request.maybe_done && self.cache.id_of(&node).is_none() {
            return self.node_is_gone(uid, &node);
        }
        if !request.maybe_done && now.saturating_sub(request.ready_since) > MAX_DECISION_AGE {
            self.counters.binds.stale += 1;
            let text = "the decision became too old before it could be sent";
            return self.give_up(uid, text.to_owned());
        }
        let id = self.outbox.id();
        let pod = PodRef::of(&binding.reserved.pod);
        let command = match &request.work {
            Work::Bind => Command::Bind { id, pod, node },
            Work::BindBy(extenders) => {
                let Some(extender) = extenders.front().copied() else {
                    return self.run_bind_plugin(uid);
                };
                let question = Question::Bind { node };
                Command::AskExtender {
                    id,
                    extender,
                    pod,
                    question,
                }
            }
            Work::BindEffects(effects) | Work::PreBindEffects { effects, .. } => {
                let Some(effect) = effects.front().cloned() else {
                    return self.give_up(uid, "the plugin named no change to make".to_owned());
                };
                Command::Apply { id, pod, effect }
            }
        };
        let by_extender = request.work.extender();
        request.progress = Progress::Asked { id, at: now };
        if request.work.binds() {
            // It is about to be bound: a nomination that comes later would stay for good.
            self.status.withdraw(uid);
        }
        self.outbox.push(command);
        if let Some(extender) = by_extender {
            // Whoever asks it has a time-out of its own.
            return self.bindings.orders.given(id, extender, uid);
        }
        self.bindings.expect_answer(id, uid);
        self.bindings
            .set_deadline(uid, Some(now.saturating_add(ANSWER_TIMEOUT)));
    }
}
