//! Pods that are put out for others (kube-scheduler `framework/preemption/executor.go`).
//!
//! ```text
//! decided ─> first victims told ─> last victim told ─> seen to go ─> preemptor may be tried
//!    │               │ one fails          │ fails
//!    v               v                    v
//! not bound yet:   the preemptor rests: tried as usual, but puts nobody out until then
//! sent back
//! ```
//! Takes decisions, answers and what the watch shows of victims; gives requests. While one
//! is open the preemptor is held by `PreEnqueue`. Every wait has an end. `Differs:` it is
//! held until the watch shows its victims going, so that it never puts out others for them;
//! kube-scheduler retries at once what failed, this rests first.

mod answer;
mod due;
mod store;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::{Pod, Uid};

use crate::command::{Command, CommandId, PodEvent, PodRef};
use crate::cycle::message;
use crate::engine::Engine;
use crate::queue::{Happening, Scope};
use crate::status::{Nomination, Patch};
use crate::timing::Timing;

pub(crate) use self::store::Evictions;

/// How long an answer is waited for: longer than the driver's own limit for an eviction.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// One decision to put pods out.
pub(crate) struct Verdict<'a> {
    pub(crate) preemptor: &'a Arc<Pod>,
    pub(crate) node: &'a Arc<str>,
    pub(crate) victims: &'a [Arc<Pod>],
    /// The plugin that decided.
    pub(crate) plugin: &'static str,
}

/// A preemptor and the victims that are told to go for it.
#[derive(Debug)]
struct Run {
    preemptor: PodRef,
    scheduler_name: Arc<str>,
    node: Arc<str>,
    /// Told to go, and not seen to yet.
    open: BTreeSet<Uid>,
    /// Told only when all others were: had one of them failed, it would go in vain.
    last: Option<Arc<Pod>>,
    /// What the first failure said.
    failed: Option<String>,
    /// Room became free while the preemptor was held: nothing else may wake it.
    freed: bool,
    began: Duration,
}

/// A pod that is told to go.
#[derive(Debug)]
struct Victim {
    pod: Arc<Pod>,
    /// The request, until it is answered.
    asked: Option<CommandId>,
    /// The watch shows it going, or gone.
    seen: bool,
    deadline: Duration,
    /// Those for whom it goes.
    preemptors: BTreeSet<Uid>,
    /// What is to be said of that once it is told: scheduler and text.
    notes: Vec<(Arc<str>, String)>,
}

// === impl Engine ===

impl Engine {
    /// Carries a decision out, unless the pod's last one could not be just now. Victims that
    /// are going already need no word; those that are not bound yet go back to the queue.
    pub(crate) fn evict(&mut self, verdict: &Verdict<'_>) {
        let preemptor = verdict.preemptor.uid();
        if self.evictions.rests(preemptor, self.now.mono) {
            self.evictions.counters.postponed += 1;
            return;
        }
        self.probe.keep(Timing::Victims(verdict.victims.len()));
        self.clear_lower_nominations(verdict.preemptor, verdict.node);
        // One that is gone while its binding is open keeps its place until that is answered.
        let stays = |victim: &&Arc<Pod>| {
            let known = self.watched.life(victim.key(), victim.uid());
            known.is_some_and(|pod| !pod.is_deleting())
        };
        let staying: Vec<Arc<Pod>> = verdict
            .victims
            .iter()
            .filter(stays)
            .map(Arc::clone)
            .collect();
        self.counters.preemption_victims += staying.len() as u64;
        let (mut bound, mut freed) = (Vec::new(), false);
        for victim in staying {
            if !self.cache.contains_pod(victim.uid()) {
                // It went back with a member of its group.
                freed = true;
            } else if self.preempt_binding(victim.uid(), verdict.plugin) {
                freed = true;
                self.evictions.counters.in_memory += 1;
                let note = preempted_note(preemptor, verdict.node);
                let name = &verdict.preemptor.spec.scheduler_name;
                self.tell_preempted(&victim, name, format!("{note} (in kube-scheduler memory)."));
            } else {
                bound.push(victim);
            }
        }
        match bound.pop() {
            Some(last) => self.begin_run(verdict, bound, last, freed),
            None if freed => self.wake_preemptor(preemptor),
            None => {}
        }
    }

    fn begin_run(
        &mut self,
        verdict: &Verdict<'_>,
        first: Vec<Arc<Pod>>,
        last: Arc<Pod>,
        freed: bool,
    ) {
        let preemptor = verdict.preemptor;
        let run = Run {
            preemptor: PodRef::of(preemptor),
            scheduler_name: Arc::clone(&preemptor.spec.scheduler_name),
            node: Arc::clone(verdict.node),
            open: BTreeSet::new(),
            last: Some(last),
            failed: None,
            freed,
            began: self.now.mono,
        };
        self.evictions.runs.insert(preemptor.uid().clone(), run);
        self.hold_preemptor(preemptor.uid(), true);
        for victim in first {
            self.tell_to_go(victim, preemptor.uid());
        }
        self.advance(preemptor.uid());
    }

    /// Asks for the eviction of `victim`, unless that is asked already for another pod.
    fn tell_to_go(&mut self, victim: Arc<Pod>, preemptor: &Uid) {
        let Some(run) = self.evictions.runs.get_mut(preemptor) else {
            return;
        };
        let uid = victim.uid().clone();
        run.open.insert(uid.clone());
        let message = format!(
            "{}: preempting to accommodate a higher priority pod",
            run.scheduler_name
        );
        let note = (
            Arc::clone(&run.scheduler_name),
            preempted_note(preemptor, &run.node),
        );
        if let Some(known) = self.evictions.victims.get_mut(&uid) {
            if known.preemptors.insert(preemptor.clone()) {
                known.notes.push(note);
            }
            return;
        }
        let (id, pod) = (self.outbox.id(), PodRef::of(&victim));
        self.outbox.push(Command::Evict { id, pod, message });
        let deadline = self.now.mono.saturating_add(ANSWER_TIMEOUT);
        let entry = Victim {
            pod: victim,
            asked: Some(id),
            seen: false,
            deadline,
            preemptors: BTreeSet::from([preemptor.clone()]),
            notes: vec![note],
        };
        self.evictions.insert(uid, entry);
    }

    /// Takes a run to its next step: the last victim, or the end.
    fn advance(&mut self, preemptor: &Uid) {
        if self.evictions.waits_for_answer(preemptor) {
            return;
        }
        let Some(run) = self.evictions.runs.get_mut(preemptor) else {
            return;
        };
        if run.failed.is_some() {
            return self.end_run(preemptor);
        }
        match run.last.take() {
            // It may have gone by itself, or be going, since the decision.
            Some(last) => {
                let known = self.watched.life(last.key(), last.uid());
                if known.is_some_and(|pod| !pod.is_deleting()) {
                    self.tell_to_go(last, preemptor);
                } else {
                    run.freed = true;
                    self.advance(preemptor);
                }
            }
            None if run.open.is_empty() => self.end_run(preemptor),
            None => {}
        }
    }

    /// All victims are going, or one will not.
    fn end_run(&mut self, preemptor: &Uid) {
        let Some(run) = self.evictions.runs.remove(preemptor) else {
            return;
        };
        self.evictions.leave(&run.open, preemptor);
        self.hold_preemptor(preemptor, false);
        // Room became free, or something else would have woken it while it was held.
        if run.freed || self.queue.holds_back(preemptor) {
            self.wake_preemptor(preemptor);
        }
        let took = self.now.mono.saturating_sub(run.began);
        let result = if run.failed.is_some() {
            "error"
        } else {
            "success"
        };
        self.probe.keep(Timing::Evictions { result, took });
        let Some(text) = run.failed else {
            self.evictions.succeeded(preemptor);
            return;
        };
        self.evictions.rest(preemptor, self.now.mono);
        self.outbox.record(PodEvent {
            pod: run.preemptor,
            scheduler_name: run.scheduler_name,
            warning: true,
            reason: "PreemptionFailed",
            action: "Preempting",
            note: message::note(&text),
        });
    }

    /// The preemptor is gone or has a node: nobody else has to go for it.
    pub(crate) fn needs_no_room(&mut self, preemptor: &Uid) {
        if let Some(run) = self.evictions.runs.remove(preemptor) {
            self.evictions.leave(&run.open, preemptor);
            self.hold_preemptor(preemptor, false);
        }
        self.evictions.succeeded(preemptor);
    }

    fn hold_preemptor(&mut self, preemptor: &Uid, is_held: bool) {
        let evictions = &mut self.snapshot.catalog_mut().evictions;
        evictions.set_preempting(preemptor, is_held);
    }

    fn wake_preemptor(&mut self, preemptor: &Uid) {
        let only = Scope::Only(preemptor.clone());
        self.announce(&Happening::wildcard().within(only));
    }

    fn tell_preempted(&mut self, victim: &Pod, scheduler_name: &Arc<str>, note: String) {
        self.outbox.record(PodEvent {
            pod: PodRef::of(victim),
            scheduler_name: Arc::clone(scheduler_name),
            warning: false,
            reason: "Preempted",
            action: "Preempting",
            note,
        });
    }

    /// Pods of lower priority that were promised the node may not fit any more: they are to
    /// look for another place now, not when the victims are gone.
    fn clear_lower_nominations(&mut self, preemptor: &Pod, node: &str) {
        for pod in self.nominator.below(node, preemptor.spec.priority) {
            let patch = Patch {
                pod: PodRef::of(&pod),
                condition: None,
                nomination: Nomination::Clear,
            };
            self.status.want(patch, self.now.mono);
            self.promise_lost(&pod);
        }
    }
}

fn preempted_note(preemptor: &Uid, node: &str) -> String {
    format!("Preempted by pod {preemptor} on node {node}")
}
