//! What becomes of a victim: what the API server says, and what the watch shows.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::Uid;

use crate::command::CommandId;
use crate::engine::Engine;
use crate::event::{Failure, FailureKind};

/// How long the watch may take to show a pod going that was told to: the preemptor is held
/// so long at most.
const SIGHT_LIMIT: Duration = Duration::from_secs(10);

impl Engine {
    /// Takes the answer to `id`; `false` if it is not a request for an eviction.
    pub(crate) fn eviction_answered(
        &mut self,
        id: CommandId,
        outcome: &Result<(), Failure>,
    ) -> bool {
        let Some(uid) = self.evictions.asked.remove(&id) else {
            return false;
        };
        let Some(victim) = self.evictions.victims.get_mut(&uid) else {
            return true;
        };
        victim.asked = None;
        match outcome {
            Ok(()) => {
                self.evictions.counters.evicted += 1;
                self.is_told(&uid);
            }
            Err(failure) if failure.kind == FailureKind::NotFound => {
                // Until the watch shows that, another attempt would choose it again.
                self.evictions.counters.gone += 1;
                victim.notes.clear();
                self.is_told(&uid);
            }
            Err(failure) => self.will_not_go(&uid, failure),
        }
        true
    }

    /// It is going; the watch may have shown that before.
    fn is_told(&mut self, uid: &Uid) {
        let Some(victim) = self.evictions.victims.get_mut(uid) else {
            return;
        };
        let (pod, seen) = (Arc::clone(&victim.pod), victim.seen);
        for (scheduler_name, note) in std::mem::take(&mut victim.notes) {
            self.tell_preempted(&pod, &scheduler_name, note);
        }
        if seen {
            return self.is_settled(uid, false, None);
        }
        let until = self.now.mono.saturating_add(SIGHT_LIMIT);
        self.evictions.wait_for(uid, until);
        self.advance_all(uid);
    }

    fn will_not_go(&mut self, uid: &Uid, failure: &Failure) {
        let Some(victim) = self.evictions.victims.get(uid) else {
            return;
        };
        let key = victim.pod.key();
        let text = format!("pod {key} could not be evicted: {}", failure.message);
        if victim.seen {
            // Another hand was faster.
            return self.is_settled(uid, false, None);
        }
        self.counters.evictions_failed += 1;
        let counters = &mut self.evictions.counters;
        let count = match failure.kind {
            FailureKind::Refused => &mut counters.refused,
            FailureKind::Unknown => &mut counters.unknown,
            FailureKind::Conflict
            | FailureKind::NotFound
            | FailureKind::TooManyRequests { .. }
            | FailureKind::Unavailable => &mut counters.unavailable,
        };
        *count += 1;
        if failure.kind == FailureKind::Refused {
            self.evictions.spare(uid, self.now.mono);
            let evictions = &mut self.snapshot.catalog_mut().evictions;
            evictions.set_spared(uid, true);
        }
        self.is_settled(uid, false, Some(&text));
    }

    /// The watch shows a pod going, or `gone`: whoever waited for that does no more.
    pub(crate) fn victim_seen(&mut self, uid: &Uid, gone: bool) {
        let Some(victim) = self.evictions.victims.get_mut(uid) else {
            return;
        };
        victim.seen = true;
        if victim.asked.is_none() {
            return self.is_settled(uid, gone, None);
        }
        let preemptors = victim.preemptors.clone();
        for preemptor in &preemptors {
            if let Some(run) = self.evictions.runs.get_mut(preemptor) {
                run.open.remove(uid);
                run.freed |= gone;
            }
            self.advance(preemptor);
        }
    }

    /// No answer came, or no sight.
    pub(super) fn victim_overdue(&mut self, uid: &Uid) {
        let Some(victim) = self.evictions.victims.get(uid) else {
            return;
        };
        match victim.asked {
            Some(id) => {
                self.evictions.asked.remove(&id);
                let failure = Failure {
                    kind: FailureKind::Unknown,
                    message: "no answer".to_owned(),
                };
                self.will_not_go(uid, &failure);
            }
            // The watch is slow. What becomes of the preemptor is for the next attempt to say.
            None => self.is_settled(uid, true, None),
        }
    }

    /// Nothing more is to be heard of this victim.
    fn is_settled(&mut self, uid: &Uid, freed: bool, failed: Option<&str>) {
        let Some(victim) = self.evictions.remove(uid) else {
            return;
        };
        for preemptor in &victim.preemptors {
            if let Some(run) = self.evictions.runs.get_mut(preemptor) {
                run.open.remove(uid);
                run.freed |= freed;
                run.failed = run.failed.take().or_else(|| failed.map(str::to_owned));
            }
            self.advance(preemptor);
        }
    }

    fn advance_all(&mut self, victim: &Uid) {
        let Some(victim) = self.evictions.victims.get(victim) else {
            return;
        };
        for preemptor in victim.preemptors.clone() {
            self.advance(&preemptor);
        }
    }
}
