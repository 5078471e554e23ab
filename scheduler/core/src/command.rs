//! What the engine wants done, as values.
//!
//! A command with an id is answered by one [`Event::Completed`](crate::Event::Completed);
//! the others are told and forgotten.

use std::sync::Arc;

use plimsoll_framework::Effect;
use plimsoll_objects::{ObjectKey, Pod, Uid};

use crate::cycle::message;
use crate::decision::Decision;
use crate::question::Question;

/// Number of a command, never used twice by one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Create a `Binding` with the pod's uid. An answer is owed; a bound pod whose node is
    /// the wanted one is a success however it came about.
    Bind {
        /// To be answered.
        id: CommandId,
        /// The pod.
        pod: PodRef,
        /// The node.
        node: Arc<str>,
    },
    /// Patch `status.conditions` (type `PodScheduled`) and `status.nominatedNodeName`.
    PatchStatus {
        /// To be answered.
        id: CommandId,
        /// The pod.
        pod: PodRef,
        /// The condition to set.
        condition: Option<ScheduledFalse>,
        /// `Some(None)` clears the nomination.
        nominated_node: Option<Option<Arc<str>>>,
    },
    /// Carry out one effect of a plugin.
    Apply {
        /// To be answered.
        id: CommandId,
        /// The pod that is being bound.
        pod: PodRef,
        /// The change.
        effect: Effect,
    },
    /// Put a pod out: the condition `DisruptionTarget` first, then its deletion, if it still
    /// is the life named. A pod that is being deleted already is a success.
    Evict {
        /// To be answered.
        id: CommandId,
        /// The victim.
        pod: PodRef,
        /// Message of the condition.
        message: String,
    },
    /// Ask an HTTP extender. Answered by one
    /// [`Event::ExtenderAnswered`](crate::Event::ExtenderAnswered).
    AskExtender {
        /// To be answered.
        id: CommandId,
        /// Index of the extender in the configuration.
        extender: usize,
        /// The pod.
        pod: PodRef,
        /// What it is asked.
        question: Question,
    },
    /// Write an event for people. May be dropped under pressure; is never answered.
    RecordEvent(PodEvent),
    /// A decision was made: keep it for metrics, logs and `why`. Is never answered.
    Decided(Box<Decision>),
}

/// A pod as the API names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodRef {
    /// Namespace and name.
    pub key: ObjectKey,
    /// Uid.
    pub uid: Uid,
}

/// The condition `PodScheduled` with status `False`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledFalse {
    /// `Unschedulable` or `SchedulerError`.
    pub reason: &'static str,
    /// The whole message, not cut.
    pub message: String,
}

/// An event about a pod (events.k8s.io/v1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodEvent {
    /// The pod.
    pub pod: PodRef,
    /// The profile: `reportingController`.
    pub scheduler_name: Arc<str>,
    /// `Normal` or `Warning`.
    pub warning: bool,
    /// `Scheduled`, `FailedScheduling`, ...
    pub reason: &'static str,
    /// `Binding`, `Scheduling`, ...
    pub action: &'static str,
    /// The text, cut as kube-scheduler cuts it.
    pub note: String,
}

// === impl PodEvent ===

impl PodEvent {
    /// `FailedScheduling`: why an attempt with `pod` came to nothing, or what it waits for.
    pub(crate) fn failed_scheduling(pod: &Pod, scheduler_name: &Arc<str>, text: &str) -> Self {
        Self {
            pod: PodRef::of(pod),
            scheduler_name: Arc::clone(scheduler_name),
            warning: true,
            reason: "FailedScheduling",
            action: "Scheduling",
            note: message::note(text),
        }
    }
}

// === impl PodRef ===

impl PodRef {
    /// The reference to `pod`.
    pub fn of(pod: &Pod) -> Self {
        Self {
            key: pod.key().clone(),
            uid: pod.uid().clone(),
        }
    }
}
