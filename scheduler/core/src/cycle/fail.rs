//! What becomes of an attempt that failed: back to the queue, and people are told
//! (kube-scheduler `handleSchedulingFailure`).

use std::sync::Arc;

use plimsoll_framework::{Effect, ObjectWrite, Rejection};
use plimsoll_objects::{ConditionStatus, Pod};

use super::message;
use super::nowhere::Nowhere;
use crate::command::{Command, CommandId, PodEvent, PodRef, ScheduledFalse};
use crate::engine::Engine;
use crate::evict::Verdict;
use crate::queue::{Queued, Setback, moment};
use crate::runtime::post_filter::Promise;
use crate::status::{Nomination, Patch};
use crate::timing::Timing;

/// How an attempt failed.
#[derive(Debug)]
pub(crate) struct Failed {
    /// For the condition, not cut.
    pub(crate) message: String,
    /// A plugin turned the pod down; otherwise it was an internal error.
    pub(crate) rejected: bool,
    pub(crate) setback: Setback,
    pub(crate) nomination: Nomination,
}

// === impl Failed ===

impl Failed {
    /// An internal error.
    pub(crate) fn error(message: String) -> Self {
        let (setback, nomination) = (Setback::default(), Nomination::Clear);
        Self {
            message,
            rejected: false,
            setback,
            nomination,
        }
    }

    /// One plugin turned the pod down on its one node.
    pub(crate) fn by_one(rejection: &Rejection, setback: Setback) -> Self {
        if !rejection.is_rejected() {
            return Self::error(rejection.message());
        }
        let message = message::by_one(rejection);
        Self {
            message,
            rejected: true,
            setback,
            nomination: Nomination::Clear,
        }
    }
}

// === impl Engine ===

impl Engine {
    /// No node takes the pod: does what the `PostFilter`s want, and puts the pod back.
    pub(crate) fn found_nowhere(&mut self, item: Queued, pod: &Arc<Pod>, nowhere: Nowhere) {
        let message = nowhere.message();
        let Nowhere {
            mut setback,
            no_nodes,
            help,
            ..
        } = nowhere;
        self.counters.preemption_attempts += u64::from(help.is_some());
        if let Some(writes) = help.as_ref().and_then(|help| help.retry.clone()) {
            self.write_aside(pod, writes);
            setback.retry_at = Some(self.now.mono);
        }
        let nomination = match help.map(|help| help.promise) {
            _ if no_nodes => Nomination::Clear,
            None | Some(Promise::Keep) => Nomination::Keep,
            Some(Promise::Withdraw) => Nomination::Clear,
            Some(Promise::Make(promised)) => {
                let info = self.snapshot.get(promised.node);
                let Some(node) = info.map(|info| Arc::clone(info.name())) else {
                    return self.put_back(item, message, setback, Nomination::Keep);
                };
                self.evict(&Verdict {
                    preemptor: pod,
                    node: &node,
                    victims: &promised.victims,
                    plugin: promised.by,
                });
                Nomination::Set(node)
            }
        };
        self.put_back(item, message, setback, nomination);
    }

    fn put_back(
        &mut self,
        item: Queued,
        message: String,
        setback: Setback,
        nomination: Nomination,
    ) {
        self.attempt_failed(
            item,
            Failed {
                message,
                rejected: true,
                setback,
                nomination,
            },
        );
    }

    /// Puts a pod back whose attempt failed and says so: event, condition, nomination. A
    /// pod that the watch shows gone, recreated or bound is dropped instead.
    pub(crate) fn attempt_failed(&mut self, mut item: Queued, failed: Failed) {
        let counts = self.attempts.get_mut(item.profile.index());
        if let Some(counts) = counts {
            let count = if failed.rejected {
                &mut counts.unschedulable
            } else {
                &mut counts.error
            };
            *count += 1;
        }
        let result = if failed.rejected {
            "unschedulable"
        } else {
            "error"
        };
        self.time_attempt(&item, result);
        let scheduler_name = Arc::clone(&self.profiles.get(item.profile).scheduler_name);
        let Some(pod) = self.still_pending(&mut item) else {
            return;
        };
        self.queue
            .requeue(item, failed.setback, moment(self.now, &self.snapshot));
        self.nominate(&pod, &failed.nomination);
        let event = PodEvent::failed_scheduling(&pod, &scheduler_name, &failed.message);
        self.outbox.record(event);
        let reason = if failed.rejected {
            "Unschedulable"
        } else {
            "SchedulerError"
        };
        let condition = ScheduledFalse {
            reason,
            message: failed.message,
        };
        self.write_status(&pod, condition, &failed.nomination);
    }

    /// The running attempt with `item` has come to `result`.
    pub(crate) fn time_attempt(&self, item: &Queued, result: &'static str) {
        if let Some(took) = self.probe.took(item.began) {
            let name = &self.profiles.get(item.profile).scheduler_name;
            self.probe.keep(Timing::Attempt {
                profile: Arc::clone(name),
                result,
                took,
            });
        }
    }

    /// Puts a pod back without a word: the watch will soon say what became of it.
    pub(crate) fn retry_silently(&mut self, mut item: Queued) {
        if self.still_pending(&mut item).is_some() {
            self.queue
                .requeue(item, Setback::default(), moment(self.now, &self.snapshot));
        }
    }

    /// The pod of `item` as the watch last showed it, also put into `item`; `None`, and the
    /// queue's attempt is over, if it no longer waits for a node.
    pub(crate) fn still_pending(&mut self, item: &mut Queued) -> Option<Arc<Pod>> {
        let queued = item.pods_mut().first_mut()?;
        let known = self.watched.life(queued.pod.key(), queued.pod.uid());
        let waits = |pod: &&Arc<Pod>| pod.spec.node_name.is_none();
        let Some(latest) = known.filter(waits) else {
            self.queue.done(queued.pod.uid());
            return None;
        };
        queued.pod = Arc::clone(latest);
        Some(Arc::clone(latest))
    }

    /// As kube-scheduler's `addNominatedPod`: without a word from a `PostFilter` the promise
    /// is what the API server has, or will have.
    pub(crate) fn nominate(&mut self, pod: &Arc<Pod>, nomination: &Nomination) {
        let stored = self.status.stored_nomination(pod).map(Arc::clone);
        match (nomination, stored) {
            (Nomination::Set(node), _) => self.nominator.nominate(pod, node),
            (Nomination::Keep, Some(node)) => self.nominator.nominate(pod, &node),
            (Nomination::Keep, None) if self.status.changes_nomination(pod.uid()) => {}
            // Nobody would hear of it from the watch.
            (Nomination::Clear | Nomination::Keep, None) => self.promise_lost(pod),
            (Nomination::Clear, Some(_)) => drop(self.nominator.remove(pod.uid())),
        }
    }

    /// Patches the status where it differs from what the API server has, or will have
    /// (kube-scheduler `podutil.UpdatePodCondition`).
    pub(crate) fn write_status(
        &mut self,
        pod: &Pod,
        condition: ScheduledFalse,
        nomination: &Nomination,
    ) {
        let stored = pod.status.scheduled.as_ref().filter(|stored| {
            stored.status == ConditionStatus::False
                && *stored.reason == *condition.reason
                && *stored.message == *condition.message
        });
        let unchanged = match self.status.wanted(pod.uid()) {
            Some(wanted) => *wanted == condition,
            None => stored.is_some(),
        };
        let stored_node = self.status.stored_nomination(pod);
        let nomination = match nomination {
            other if self.status.changes_nomination(pod.uid()) => other.clone(),
            Nomination::Set(node) if stored_node == Some(node) => Nomination::Keep,
            Nomination::Clear if stored_node.is_none() => Nomination::Keep,
            other => other.clone(),
        };
        let condition = (!unchanged).then_some(condition);
        if condition.is_some() || nomination != Nomination::Keep {
            let patch = Patch {
                pod: PodRef::of(pod),
                condition,
                nomination,
            };
            self.status.want(patch, self.now.mono);
        }
    }

    /// Writes for `pod` that nobody waits for.
    pub(crate) fn write_aside(&mut self, pod: &Pod, writes: Vec<ObjectWrite>) {
        for write in writes {
            let id = self.write_for(pod, write);
            self.asides.insert(id, self.now.mono);
        }
    }

    fn write_for(&mut self, pod: &Pod, write: ObjectWrite) -> CommandId {
        let id = self.outbox.id();
        let (pod, effect) = (PodRef::of(pod), Effect::Write(write));
        self.outbox.push(Command::Apply { id, pod, effect });
        id
    }
}
