//! Binding by an HTTP extender (kube-scheduler `extendersBinding`): the first that has a
//! `bindVerb` and wants to see the pod; where one that may be ignored fails the next, and
//! after the last the plugins of the profile.
//!
//! As by kube-scheduler an answer that did not come in time ends the attempt; the pod may be
//! bound all the same, and the watch will say so.

use plimsoll_objects::Uid;

use super::{Fate, Progress, Stage, Work};
use crate::command::CommandId;
use crate::engine::Engine;
use crate::event::{Failure, FailureKind};
use crate::question::Reply;

impl Engine {
    /// Takes the answer to `id`; `false` if it is not about a binding.
    pub(crate) fn bind_replied(&mut self, id: CommandId, reply: &Result<Reply, String>) -> bool {
        let Some(uid) = self.bindings.orders.answered(id) else {
            return false;
        };
        let Some((request, at)) = self.request_of(&uid, id) else {
            return true;
        };
        request.progress = Progress::Resting;
        self.time_bind(&uid, at, reply.is_ok());
        if reply.is_err() && self.try_next_binder(&uid) {
            return true;
        }
        let outcome = reply.as_ref().map(drop).map_err(|text| Failure {
            kind: FailureKind::Refused,
            message: text.clone(),
        });
        self.settle(&uid, &outcome);
        true
    }

    /// Lets another one bind, if the extender that failed may be ignored.
    fn try_next_binder(&mut self, uid: &Uid) -> bool {
        let is_ending = self.bindings.is_ending(uid);
        let Some(binding) = self.bindings.get_mut(uid) else {
            return false;
        };
        let is_open = binding.fate == Fate::Open && !is_ending;
        let Stage::Request(request) = &mut binding.stage else {
            return false;
        };
        let Work::BindBy(extenders) = &mut request.work else {
            return false;
        };
        let failed = extenders
            .front()
            .and_then(|index| self.extenders.get(*index));
        if !is_open || !failed.is_some_and(|extender| extender.ignorable) {
            return false;
        }
        extenders.pop_front();
        match extenders.front().copied() {
            None => self.run_bind_plugin(uid),
            Some(next) => {
                request.progress = Progress::Ready;
                self.bindings.orders.line_up(next, uid);
            }
        }
        true
    }
}
