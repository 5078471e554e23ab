//! One scheduling cycle: pop a pod, decide, assume the node, reserve, ask for permission
//! (kube-scheduler `schedule_one.go` `ScheduleOne`).

mod consult;
pub(crate) mod decide;
pub(crate) mod desk;
mod fail;
pub(crate) mod find;
mod groups;
pub(crate) mod message;
pub(crate) mod nowhere;
mod place;
mod promised;
mod record;
mod select;
mod signature;
mod spared;
mod table;

use std::sync::Arc;

use plimsoll_config::NodesToScore;
use plimsoll_framework::{Code, Cycle, CycleState, Entity, PodEstimate, QueuedPod, Rejection};
use plimsoll_objects::Pod;

use self::consult::Consult;
use self::decide::{Decided, Deciding};
use crate::command::{Command, PodEvent};
use crate::decision::Unscored;
use crate::engine::Engine;
use crate::extender::{Ask, Turn};
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

impl Engine {
    /// Tries the next pod of the queue, if there is one.
    pub(crate) fn run_cycle(&mut self) {
        // Before the pod is taken: what is told now is in the snapshot that it is judged by.
        self.refresh();
        if let Some(turn) = self.consults.next_turn() {
            return self.take_turn(turn);
        }
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
        self.look_for_slowness(&queued, began);
    }

    /// Tells of a step that held everybody up.
    pub(crate) fn look_for_slowness(&self, queued: &QueuedPod, began: Begun) {
        if let Some(took) = self.probe.took(began).filter(|took| *took >= SLOW_CYCLE) {
            let pod = queued.pod.key().clone();
            self.probe.keep(Timing::SlowCycle { pod, took });
        }
    }

    /// Runs the cycle of a pod whose turn it is.
    pub(crate) fn attempt_with(&mut self, mut turn: Turn, queued: &QueuedPod) {
        turn.start.get_or_insert(self.next_start);
        let profiles = Arc::clone(&self.profiles);
        let framework = profiles.get(turn.item.profile);
        let tried = self.try_pod(framework, queued, (turn.item.began, Some(&turn)));
        let Tried {
            pod,
            estimate,
            state,
            decided,
            record,
        } = match tried {
            Ok(tried) => tried,
            Err(asks) => return self.ask_extenders(turn, &queued.pod, asks),
        };
        let item = turn.item;
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

    /// Decides where the pod is to go, in the attempt that began at `began`. With a turn,
    /// extenders have a say and `PostFilter`s help if it is nowhere; without, neither.
    ///
    /// # Errors
    /// What extenders must be asked first.
    pub(crate) fn try_pod(
        &mut self,
        framework: &Framework,
        queued: &QueuedPod,
        (began, turn): (Begun, Option<&Turn>),
    ) -> Result<Tried, Vec<Ask>> {
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
            start: turn.and_then(|turn| turn.start).unwrap_or(self.next_start),
            probe: &self.probe,
            helps: turn.is_some(),
            consult: turn.and_then(|turn| Consult::of(&self.extenders, turn)),
        };
        let mut state = CycleState::new();
        let decided = deciding.decide(&mut state, &mut self.desk, &mut self.random)?;
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
        Ok(Tried {
            pod: Arc::clone(&queued.pod),
            estimate,
            state,
            decided,
            record,
        })
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

    /// Whether the pod needs no attempt: it is being deleted, or has a node already.
    pub(crate) fn is_skipped(&mut self, queued: &QueuedPod, item: &Queued) -> bool {
        let pod = &queued.pod;
        if pod.is_deleting() {
            self.counters.skipped_deleting += 1;
            let name = &self.profiles.get(item.profile).scheduler_name;
            let event = PodEvent::failed_scheduling(pod, name, &skipped_deleting(pod));
            self.outbox.record(event);
            return true;
        }
        self.cache.contains_pod(pod.uid())
    }
}

/// What is said of a pod that is not tried because it is being deleted.
pub(crate) fn skipped_deleting(pod: &Pod) -> String {
    format!("skip schedule deleting pod: {}", pod.key())
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
