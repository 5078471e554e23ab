//! Which command is carried out next.
//!
//! Takes jobs in the engine's order, gives those that may run now: a bounded number per
//! lane, first come first served within a lane, and for one pod never two at a time and
//! never out of order (a late "unschedulable" must not be written over a binding).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use plimsoll_core::{CommandId, PodRef};
use plimsoll_framework::Effect;
use plimsoll_objects::Uid;

use crate::status::StatusPatch;

/// Evictions under way at most: as many as kube-scheduler's goroutines. They have a lane of
/// their own, as an admission webhook that hangs holds them up, and only them.
const EVICTIONS_MAX: usize = 16;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Work {
    Bind(Arc<str>),
    PatchStatus(StatusPatch),
    Apply(Effect),
    /// With the message of the condition.
    Evict(String),
}

/// One command with an id.
#[derive(Debug, PartialEq)]
pub(super) struct Job {
    pub(super) id: CommandId,
    pub(super) pod: PodRef,
    pub(super) work: Work,
}

/// What is kept of a job that runs.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) id: CommandId,
    uid: Uid,
    lane: LaneName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneName {
    Binding,
    Eviction,
    Status,
}

#[derive(Debug)]
struct Lane {
    queued: VecDeque<Job>,
    running: usize,
    limit: usize,
}

/// The jobs that wait, and the number of those that run.
#[derive(Debug)]
pub(super) struct Lanes {
    binding: Lane,
    eviction: Lane,
    status: Lane,
    /// Per pod with a job in a lane or running: its later jobs.
    later: BTreeMap<Uid, VecDeque<Job>>,
    /// Jobs that wait or run.
    len: usize,
}

// === impl Work ===

impl Work {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Bind(_) => "bind",
            Self::PatchStatus(_) => "patch status",
            Self::Apply(_) => "apply",
            Self::Evict(_) => "evict",
        }
    }
}

// === impl Job ===

impl Job {
    pub(super) fn bind(id: CommandId, pod: PodRef, node: Arc<str>) -> Self {
        Self {
            id,
            pod,
            work: Work::Bind(node),
        }
    }

    pub(super) fn apply(id: CommandId, pod: PodRef, effect: Effect) -> Self {
        Self {
            id,
            pod,
            work: Work::Apply(effect),
        }
    }

    pub(super) fn evict(id: CommandId, pod: PodRef, message: String) -> Self {
        Self {
            id,
            pod,
            work: Work::Evict(message),
        }
    }

    pub(super) fn patch_status(id: CommandId, pod: PodRef, patch: StatusPatch) -> Self {
        Self {
            id,
            pod,
            work: Work::PatchStatus(patch),
        }
    }

    /// A nomination without a condition is a step of a binding cycle; a condition is the
    /// end of one that failed.
    fn lane(&self) -> LaneName {
        match &self.work {
            Work::PatchStatus(StatusPatch {
                condition: Some(_), ..
            }) => LaneName::Status,
            Work::Evict(_) => LaneName::Eviction,
            Work::PatchStatus(_) | Work::Bind(_) | Work::Apply(_) => LaneName::Binding,
        }
    }
}

// === impl Lane ===

impl Lane {
    fn new(limit: usize) -> Self {
        Self {
            queued: VecDeque::new(),
            running: 0,
            limit: limit.max(1),
        }
    }

    fn pop(&mut self) -> Option<Job> {
        if self.running >= self.limit {
            return None;
        }
        let job = self.queued.pop_front()?;
        self.running += 1;
        Some(job)
    }
}

// === impl Lanes ===

impl Lanes {
    pub(super) fn new(binding: usize, status: usize) -> Self {
        Self {
            binding: Lane::new(binding),
            eviction: Lane::new(EVICTIONS_MAX),
            status: Lane::new(status),
            later: BTreeMap::new(),
            len: 0,
        }
    }

    /// Jobs that wait or run.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether any job waits or runs.
    pub(super) fn are_busy(&self) -> bool {
        self.len > 0
    }

    /// Whether a job of a binding cycle waits, or half of their lane is in use.
    pub(super) fn is_binding_busy(&self) -> bool {
        !self.binding.queued.is_empty() || 2 * self.binding.running > self.binding.limit
    }

    pub(super) fn push(&mut self, job: Job) {
        self.len += 1;
        if let Some(later) = self.later.get_mut(&job.pod.uid) {
            later.push_back(job);
            return;
        }
        self.later.insert(job.pod.uid.clone(), VecDeque::new());
        self.enqueue(job);
    }

    /// The next job that may run, binding cycles first.
    pub(super) fn pop(&mut self) -> Option<(Job, Ticket)> {
        let job = self.binding.pop();
        let job = job.or_else(|| self.eviction.pop());
        let job = job.or_else(|| self.status.pop())?;
        let ticket = Ticket {
            id: job.id,
            uid: job.pod.uid.clone(),
            lane: job.lane(),
        };
        Some((job, ticket))
    }

    /// A job has ended.
    pub(super) fn done(&mut self, ticket: &Ticket) {
        self.len = self.len.saturating_sub(1);
        let lane = self.lane(ticket.lane);
        lane.running = lane.running.saturating_sub(1);
        match self
            .later
            .get_mut(&ticket.uid)
            .and_then(VecDeque::pop_front)
        {
            Some(next) => self.enqueue(next),
            None => drop(self.later.remove(&ticket.uid)),
        }
    }

    fn enqueue(&mut self, job: Job) {
        self.lane(job.lane()).queued.push_back(job);
    }

    fn lane(&mut self, name: LaneName) -> &mut Lane {
        match name {
            LaneName::Binding => &mut self.binding,
            LaneName::Eviction => &mut self.eviction,
            LaneName::Status => &mut self.status,
        }
    }
}

#[cfg(test)]
mod tests;
