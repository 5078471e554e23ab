//! A binding that the API server refuses for good, while an earlier request for it may have
//! been carried out: it had no answer, or was one of several changes of a Bind plugin.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::Uid;

use super::Stage;
use crate::command::{PodEvent, PodRef};
use crate::cycle::message;
use crate::engine::Engine;

/// How long refusals must go on before the pod is decided anew. An earlier request is over
/// after a minute (the API server's own limit), and its effect comes by the watch; ten times
/// that is no doubt any more. Were it wrong, the API server would refuse a second node (409).
const DOUBT_ENDS_AFTER: Duration = Duration::from_mins(10);

impl Engine {
    /// Says once that the pod is in doubt, asks again, and gives up after a long time.
    pub(super) fn refused_in_doubt(&mut self, uid: &Uid, text: String) {
        let now = self.now.mono;
        let Some(binding) = self.bindings.get_mut(uid) else {
            return;
        };
        let pod = PodRef::of(&binding.reserved.pod);
        let profile = binding.reserved.item.profile;
        let Stage::Request(request) = &mut binding.stage else {
            return;
        };
        let is_first = request.refused_since.is_none();
        let since = *request.refused_since.get_or_insert(now);
        if now.saturating_sub(since) >= DOUBT_ENDS_AFTER {
            self.counters.binds.doubt_ended += 1;
            return self.give_up(uid, text);
        }
        self.counters.binds.in_doubt += 1;
        if is_first {
            let framework = self.profiles.get(profile);
            self.outbox.record(PodEvent {
                pod,
                scheduler_name: Arc::clone(&framework.scheduler_name),
                warning: true,
                reason: "BindingInDoubt",
                action: "Binding",
                note: message::note(&format!(
                    "{text}; an earlier request may have been carried out"
                )),
            });
        }
        self.ask_later(uid);
    }
}
