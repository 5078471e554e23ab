//! One scheduling cycle: pop a pod, decide, assume the node, reserve, ask for permission
//! (kube-scheduler `schedule_one.go` `ScheduleOne`).

pub(crate) mod decide;
pub(crate) mod desk;
mod fail;
pub(crate) mod find;
mod groups;
pub(crate) mod message;
pub(crate) mod nowhere;
mod record;
mod select;
mod signature;
mod table;

use std::sync::Arc;

use plimsoll_config::NodesToScore;
use plimsoll_framework::{
    Code, Cycle, CycleState, Entity, NodeInfo, PodEstimate, QueuedPod, Rejection,
};
use plimsoll_objects::{Object, Pod};

use self::decide::{Chosen, Decided, Deciding};
use crate::binding::Reserved;
use crate::command::{Command, PodEvent, PodRef};
use crate::decision::{Outcome, Unscored};
use crate::engine::Engine;
use crate::probe::Begun;
use crate::queue::{Queued, Setback};
use crate::runtime::Framework;
use crate::timing::{SLOW_CYCLE, Timing};

pub(crate) use self::fail::Failed;

/// What an attempt carries from step to step.
struct Attempt {
    item: Queued,
    pod: Arc<Pod>,
    estimate: PodEstimate,
    state: CycleState,
}

/// What was decided of a pod; nothing has changed yet.
pub(crate) struct Tried {
    pub(crate) pod: Arc<Pod>,
    pub(crate) estimate: PodEstimate,
    pub(crate) state: CycleState,
    pub(crate) decided: Decided,
    pub(crate) record: crate::Decision,
}

/// A pod on the node that was chosen for it.
pub(crate) struct Held {
    /// The pod as it will be there.
    pub(crate) pod: Arc<Pod>,
    /// The objects that are taken for what they will be.
    pub(crate) assumed: Vec<Object>,
    /// Whether no `Reserve` turned it down.
    pub(crate) reserved: Result<(), Rejection>,
}

impl Engine {
    /// Tries the next pod of the queue, if there is one.
    pub(crate) fn run_cycle(&mut self) {
        // Before the pod is taken: what is told now is in the snapshot that it is judged by.
        self.refresh();
        let Some(mut item) = self.queue.pop() else {
            return;
        };
        item.began = self.probe.begin_cycle();
        let Entity::Pod(queued) = &item.entity else {
            return self.group_cycle(item);
        };
        let queued = queued.clone();
        if self.is_skipped(&queued, &item) {
            self.queue.done(queued.pod.uid());
            return;
        }
        let began = item.began;
        self.attempt(item, &queued);
        if let Some(took) = self.probe.took(began).filter(|took| *took >= SLOW_CYCLE) {
            let pod = queued.pod.key().clone();
            self.probe.keep(Timing::SlowCycle { pod, took });
        }
    }

    pub(crate) fn attempt(&mut self, item: Queued, queued: &QueuedPod) {
        let profiles = Arc::clone(&self.profiles);
        let framework = profiles.get(item.profile);
        let Tried {
            pod,
            estimate,
            state,
            decided,
            record,
        } = self.try_pod(framework, queued, (item.began, true));
        let attempt = Attempt {
            item,
            pod: Arc::clone(&pod),
            estimate,
            state,
        };
        let outcome = match decided {
            Decided::Chosen(chosen) => self.place(framework, attempt, chosen),
            Decided::Nowhere(nowhere) => {
                self.found_nowhere(attempt.item, &attempt.pod, nowhere);
                None
            }
            Decided::Failed(error) => {
                self.attempt_failed(attempt.item, Failed::error(error.message()));
                None
            }
        };
        let outcome = outcome.unwrap_or(record.outcome);
        self.outbox.push(Command::Decided(Box::new(crate::Decision {
            outcome,
            ..record
        })));
    }

    /// Decides where the pod is to go, in the attempt that began at `began`; `helps` says
    /// whether `PostFilter`s are asked if it is nowhere.
    pub(crate) fn try_pod(
        &mut self,
        framework: &Framework,
        queued: &QueuedPod,
        (began, helps): (Begun, bool),
    ) -> Tried {
        let pod = self.with_promise(&queued.pod);
        let estimate = self.cache.estimate(&pod);
        let cycle = Cycle {
            pod: &pod,
            estimate: &estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let deciding = Deciding {
            framework,
            cycle,
            nominated: &self
                .nominator
                .counted_for(&pod, |name| self.cache.id_of(name)),
            promised: self
                .nominator
                .node_of(pod.uid())
                .and_then(|name| self.cache.id_of(name)),
            start: self.next_start,
            probe: &self.probe,
            helps,
        };
        let mut state = CycleState::new();
        let decided = deciding.decide(&mut state, &mut self.desk, &mut self.random);
        if let Decided::Chosen(_) = &decided
            && let Some(took) = self.probe.took(began)
        {
            self.probe.keep(Timing::Algorithm(took));
        }
        let record = record::record(framework, &cycle, queued, &self.desk, &decided);
        // A promised node is looked at by itself: the search did not get on.
        let searched = !matches!(&decided, Decided::Chosen(chosen)
            if chosen.unscored == Some(Unscored::NominatedNode));
        if searched && framework.nodes_to_score != NodesToScore::All && !self.snapshot.is_empty() {
            let looked_at = self.next_start + self.desk.found().evaluated();
            self.next_start = looked_at % self.snapshot.len();
        }
        Tried {
            pod: Arc::clone(&queued.pod),
            estimate,
            state,
            decided,
            record,
        }
    }

    /// The pod with the node that it is promised, also while the watch has not shown that: a
    /// preemptor without it would put others out once more.
    fn with_promise(&self, pod: &Arc<Pod>) -> Arc<Pod> {
        let mut pod = Arc::clone(pod);
        if let Some(node) = self.nominator.node_of(pod.uid())
            && pod.status.nominated_node.as_ref() != Some(node)
        {
            Arc::make_mut(&mut pod).status.nominated_node = Some(Arc::clone(node));
        }
        pod
    }

    /// Takes the chosen node. Gives how the attempt ended, if a plugin turned it down.
    fn place(
        &mut self,
        framework: &Framework,
        attempt: Attempt,
        chosen: Chosen,
    ) -> Option<Outcome> {
        let info = Arc::clone(self.snapshot.get(chosen.node)?);
        let Attempt {
            item,
            pod,
            estimate,
            mut state,
        } = attempt;
        let held = self.hold(framework, &info, (&pod, &estimate, &mut state));
        let waiting_for = |plugin| self.bindings.waiting_for(item.profile, plugin);
        let cycle = Cycle {
            pod: &pod,
            estimate: &estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let permitted = held
            .reserved
            .and_then(|()| framework.permit(&cycle, &mut state, &info, (waiting_for, &self.probe)));
        let reserved = Reserved {
            item,
            pod: held.pod,
            state,
            over: chosen.over.map(|over| over.reason),
            assumed: held.assumed,
        };
        match permitted {
            Ok(permitted) => {
                self.status.withdraw(pod.uid());
                self.begin_binding(reserved, permitted);
                None
            }
            Err(rejection) => {
                let outcome = outcome_of(&rejection);
                self.turned_down_at_once(reserved, &rejection);
                Some(outcome)
            }
        }
    }

    /// Puts the pod on its node and lets every `Reserve` do its part. Where one turns it
    /// down, the caller takes everything back.
    pub(crate) fn hold(
        &mut self,
        framework: &Framework,
        info: &NodeInfo,
        (pod, estimate, state): (&Arc<Pod>, &PodEstimate, &mut CycleState),
    ) -> Held {
        let placed = self.cache.assume(pod, info.name(), self.now);
        self.promise_used(pod, info.name());
        let cycle = Cycle {
            pod,
            estimate,
            snapshot: &self.snapshot,
            now: self.now,
        };
        let mut assumed = Vec::new();
        let reserved = framework.reserve(&cycle, state, info, (&mut assumed, &self.probe));
        for object in &assumed {
            self.snapshot.catalog_mut().assume(object.clone());
        }
        Held {
            pod: placed,
            assumed,
            reserved,
        }
    }

    /// Whether the pod needs no attempt: it is being deleted, or has a node already.
    pub(crate) fn is_skipped(&mut self, queued: &QueuedPod, item: &Queued) -> bool {
        let pod = &queued.pod;
        if pod.is_deleting() {
            self.counters.skipped_deleting += 1;
            let framework = self.profiles.get(item.profile);
            self.outbox.record(PodEvent {
                pod: PodRef::of(pod),
                scheduler_name: Arc::clone(&framework.scheduler_name),
                warning: true,
                reason: "FailedScheduling",
                action: "Scheduling",
                note: skipped_deleting(pod),
            });
            return true;
        }
        self.cache.contains_pod(pod.uid())
    }
}

/// What is said of a pod that is not tried because it is being deleted.
pub(crate) fn skipped_deleting(pod: &Pod) -> String {
    format!("skip schedule deleting pod: {}", pod.key())
}

fn outcome_of(rejection: &Rejection) -> Outcome {
    if rejection.code == Code::Error {
        Outcome::Failed {
            message: rejection.message(),
        }
    } else {
        Outcome::Unschedulable {
            message: message::by_one(rejection),
        }
    }
}

impl Engine {
    /// The plugins that turned the pod of the last search down on some node, and when to
    /// look again for them.
    pub(crate) fn turned_down_by(&self, framework: &Framework) -> Setback {
        let rejected = &self.desk.found().rejected;
        groups::setback(framework, &groups::group(rejected))
    }
}

/// What a rejection by one plugin after the node was chosen means for the queue.
pub(crate) fn setback_of(framework: &Framework, rejection: &Rejection) -> Setback {
    let mut setback = Setback {
        retry_at: rejection.retry_at,
        ..Setback::default()
    };
    if rejection.code != Code::Error {
        groups::add(&mut setback, framework, rejection);
    }
    setback
}
