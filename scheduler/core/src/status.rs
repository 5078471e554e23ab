//! Writes of pod status: conditions and nominations, a few at a time.
//!
//! Takes what the status of a pod should be, gives patches within a small bound of its own,
//! so that thousands of pods without a node neither flood the API server nor hold up
//! bindings. One patch per pod waits at most: a newer one takes its place.

mod nomination;
mod pause;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::{Pod, Uid};

use self::pause::Pause;
use crate::command::{Command, CommandId, PodRef, ScheduledFalse};
use crate::event::{Failure, FailureKind};
use crate::outbox::Outbox;
use crate::stats::StatusCounters;

/// Most patches without an answer: a quarter of the most bindings.
const MAX_IN_FLIGHT: usize = 8;
/// How long an answer is waited for: longer than the driver's own time-outs.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// First pause before a patch is tried again; doubles each time.
const FIRST_RETRY: Duration = Duration::from_millis(500);
/// Longest such pause.
const LAST_RETRY: Duration = Duration::from_secs(30);

/// A change of a pod's status.
#[derive(Debug, Clone)]
pub(crate) struct Patch {
    pub(crate) pod: PodRef,
    pub(crate) condition: Option<ScheduledFalse>,
    pub(crate) nomination: Nomination,
}

/// What becomes of `status.nominatedNodeName`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Nomination {
    /// It stays as it is.
    Keep,
    Clear,
    Set(Arc<str>),
}

#[derive(Debug, Default)]
pub(crate) struct StatusLane {
    pods: BTreeMap<Uid, Entry>,
    /// Pods with a patch that waits: when it may be sent, then in order.
    waiting: BTreeSet<(Duration, u64, Uid)>,
    asked: BTreeMap<CommandId, Uid>,
    deadlines: BTreeSet<(Duration, CommandId)>,
    pause: Pause,
    order: u64,
    /// Nominations that were written and that the watch has not shown yet.
    nominations: BTreeMap<Uid, Option<Arc<str>>>,
    pub(crate) counters: StatusCounters,
}

#[derive(Debug, Default)]
struct Entry {
    next: Option<Patch>,
    /// Where `next` stands in `waiting`.
    place: Option<(Duration, u64)>,
    asked: Option<(CommandId, Duration, Patch)>,
    /// What is asked is not wanted any more: it is not tried again.
    withdrawn: bool,
    tries: u32,
}

impl StatusLane {
    /// Wants `patch` written, together with what still waits for this pod.
    pub(crate) fn want(&mut self, patch: Patch, now: Duration) {
        let uid = patch.pod.uid.clone();
        let entry = self.pods.entry(uid.clone()).or_default();
        entry.withdrawn = false;
        entry.next = Some(match entry.next.take() {
            Some(older) => patch.over(older),
            None => patch,
        });
        if entry.asked.is_none() && entry.place.is_none() {
            entry.tries = 0;
            self.line_up(&uid, now);
        }
    }

    /// The condition that the pod will have once all patches are written.
    pub(crate) fn wanted(&self, uid: &Uid) -> Option<&ScheduledFalse> {
        let entry = self.pods.get(uid)?;
        let next = entry
            .next
            .as_ref()
            .and_then(|patch| patch.condition.as_ref());
        let asked = entry
            .asked
            .as_ref()
            .and_then(|(_, _, patch)| patch.condition.as_ref());
        next.or(asked)
    }

    /// Whether a patch that is not written yet changes the pod's nomination.
    pub(crate) fn changes_nomination(&self, uid: &Uid) -> bool {
        let Some(entry) = self.pods.get(uid) else {
            return false;
        };
        let asked = entry.asked.as_ref().map(|(_, _, patch)| patch);
        let mut patches = entry.next.iter().chain(asked);
        patches.any(|patch| patch.nomination != Nomination::Keep)
    }

    /// Forgets what waits for this pod: it is gone, or has found a node.
    pub(crate) fn withdraw(&mut self, uid: &Uid) {
        let Some(entry) = self.pods.get_mut(uid) else {
            return;
        };
        if entry.next.take().is_some() {
            self.counters.dropped += 1;
        }
        if let Some((at, order)) = entry.place.take() {
            self.waiting.remove(&(at, order, uid.clone()));
        }
        entry.withdrawn = true;
        if entry.asked.is_none() {
            self.pods.remove(uid);
        }
    }

    /// Whether a patch of this pod has no answer yet: a binding must not overtake it, or
    /// the pod would be bound with a condition that says it is not.
    pub(crate) fn is_asked(&self, uid: &Uid) -> bool {
        self.pods
            .get(uid)
            .is_some_and(|entry| entry.asked.is_some())
    }

    /// Takes the answer to `id`; `false` if it is not one of ours. `seen` gives a pod as the
    /// watch has shown it, which may be quicker than the answer.
    pub(crate) fn answered<'p>(
        &mut self,
        id: CommandId,
        outcome: &Result<(), Failure>,
        now: Duration,
        seen: impl FnOnce(&PodRef) -> Option<&'p Arc<Pod>>,
    ) -> bool {
        let Some(uid) = self.asked.remove(&id) else {
            return false;
        };
        let kind = outcome.as_ref().map(|&()| ());
        self.pause
            .answered(kind.map_err(|failure| failure.kind), now);
        let Some(entry) = self.pods.get_mut(&uid) else {
            return true;
        };
        let Some((_, deadline, patch)) = entry.asked.take() else {
            return true;
        };
        self.deadlines.remove(&(deadline, id));
        let mut pause = Duration::ZERO;
        match outcome.as_ref().map_err(|failure| failure.kind) {
            Err(_) if entry.withdrawn => self.counters.dropped += 1,
            Ok(()) => {
                self.counters.written += 1;
                let written = match &patch.nomination {
                    Nomination::Keep => None,
                    Nomination::Clear => Some(None),
                    Nomination::Set(node) => Some(Some(Arc::clone(node))),
                };
                if let Some(written) = written {
                    let shown = seen(&patch.pod).map(|pod| &pod.status.nominated_node);
                    // Nothing more may come of it, and an entry would stay for good.
                    let caught_up = shown == Some(&written) && !self.nominations.contains_key(&uid);
                    if !caught_up {
                        self.nominations.insert(uid.clone(), written);
                    }
                }
                entry.tries = 0;
            }
            Err(FailureKind::Conflict | FailureKind::NotFound | FailureKind::Refused) => {
                self.counters.dropped += 1;
                entry.tries = 0;
            }
            Err(kind) => {
                self.counters.retried += 1;
                pause = pause_after(kind, entry.tries);
                entry.tries = entry.tries.saturating_add(1);
                entry.next = Some(match entry.next.take() {
                    Some(newer) => newer.over(patch),
                    None => patch,
                });
            }
        }
        if entry.next.is_some() {
            self.line_up(&uid, now.saturating_add(pause));
        } else {
            self.pods.remove(&uid);
        }
        true
    }

    /// Sends what may be sent, and gives up waiting for answers that are overdue.
    pub(crate) fn dispatch(&mut self, outbox: &mut Outbox, now: Duration) {
        let overdue: Vec<CommandId> = self
            .deadlines
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(|(_, id)| *id)
            .collect();
        for id in overdue {
            let message = "no answer".to_owned();
            self.answered(
                id,
                &Err(Failure {
                    kind: FailureKind::Unknown,
                    message,
                }),
                now,
                |_| None,
            );
        }
        while self.asked.len() < MAX_IN_FLIGHT && now >= self.pause.until() {
            let Some((at, _, _)) = self.waiting.first() else {
                return;
            };
            if *at > now {
                return;
            }
            let Some((_, _, uid)) = self.waiting.pop_first() else {
                return;
            };
            self.send(&uid, outbox, now);
        }
    }

    /// When [`Self::dispatch`] has something to do next.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        let free = self.asked.len() < MAX_IN_FLIGHT;
        let next = self.waiting.first().filter(|_| free);
        let next = next.map(|(at, _, _)| self.pause.until().max(*at));
        [next, self.deadlines.first().map(|(at, _)| *at)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Patches without an answer, and patches that wait.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.asked.len(), self.waiting.len())
    }

    fn line_up(&mut self, uid: &Uid, at: Duration) {
        self.order += 1;
        let Some(entry) = self.pods.get_mut(uid) else {
            return;
        };
        entry.place = Some((at, self.order));
        self.waiting.insert((at, self.order, uid.clone()));
    }

    fn send(&mut self, uid: &Uid, outbox: &mut Outbox, now: Duration) {
        let Some(entry) = self.pods.get_mut(uid) else {
            return;
        };
        entry.place = None;
        let Some(patch) = entry.next.take() else {
            return;
        };
        let id = outbox.id();
        let deadline = now.saturating_add(ANSWER_TIMEOUT);
        entry.asked = Some((id, deadline, patch.clone()));
        self.asked.insert(id, uid.clone());
        self.deadlines.insert((deadline, id));
        let Patch {
            pod,
            condition,
            nomination,
        } = patch;
        let nominated_node = match nomination {
            Nomination::Keep => None,
            Nomination::Clear => Some(None),
            Nomination::Set(node) => Some(Some(node)),
        };
        outbox.push(Command::PatchStatus {
            id,
            pod,
            condition,
            nominated_node,
        });
    }
}

impl Patch {
    /// This patch, and what only `older` says.
    fn over(self, older: Self) -> Self {
        Self {
            pod: self.pod,
            condition: self.condition.or(older.condition),
            nomination: match self.nomination {
                Nomination::Keep => older.nomination,
                newer => newer,
            },
        }
    }
}

fn pause_after(kind: FailureKind, tries: u32) -> Duration {
    let doubled = FIRST_RETRY.saturating_mul(1_u32.checked_shl(tries).unwrap_or(u32::MAX));
    let own = doubled.min(LAST_RETRY);
    match kind {
        FailureKind::TooManyRequests { retry_after } => pause::bounded(retry_after).max(own),
        _ => own,
    }
}
