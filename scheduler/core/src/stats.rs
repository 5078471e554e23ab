//! What the engine counts, as plain numbers for metrics.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::LoadMode;
use plimsoll_load::LoadCensus;

/// Everything the engine counts. Counters only grow; sizes are of this instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Pods that wait.
    pub queue: QueueSizes,
    /// What the cache holds.
    pub cache: CacheSizes,
    /// Pods on their way to a node, and requests without an answer.
    pub in_flight: InFlightSizes,
    /// Attempts per profile.
    pub attempts: Vec<ProfileAttempts>,
    /// Entities that came into a part of the queue, by part and cause.
    pub incoming: Vec<QueueIncoming>,
    /// Pods that wait, by the plugins that turned them down.
    pub unschedulable: Vec<UnschedulablePods>,
    /// Changes that are kept for pods that are out for an attempt, by kind, and these pods.
    pub missed_events: Vec<(String, usize)>,
    /// The node of the newest sample that the cluster has no node for.
    pub unknown_node: Option<Arc<str>>,
    /// All other counters.
    pub counters: Counters,
}

/// Pods that wait, by part of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueSizes {
    /// To be tried now.
    pub active: usize,
    /// Resting after a failed attempt.
    pub backoff: usize,
    /// Waiting for an event.
    pub unschedulable: usize,
    /// Held back by a plugin.
    pub gated: usize,
}

/// What the cache holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheSizes {
    /// Nodes.
    pub nodes: usize,
    /// Pods with a node, assumed ones included.
    pub pods: usize,
    /// Pods whose node the watch has not shown yet.
    pub assumed: usize,
    /// Pods whose node is not known.
    pub orphans: usize,
}

/// Pods on their way to a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InFlightSizes {
    /// Waiting for a plugin's permission.
    pub permit: usize,
    /// Waiting in `PreBind`.
    pub pre_bind: usize,
    /// Decided and waiting for a free request.
    pub ready: usize,
    /// Requests for bindings without an answer.
    pub binds: usize,
    /// How many of these there may be at this time.
    pub bind_limit: usize,
    /// Status patches without an answer.
    pub status: usize,
    /// Status patches that wait.
    pub status_waiting: usize,
    /// Evictions without an answer, or whose effect the watch has not shown yet.
    pub evictions: usize,
    /// Pods that wait for their victims, or rest as these would not go.
    pub preemptors: usize,
    /// Pods that wait for answers of HTTP extenders.
    pub asking: usize,
    /// Pods that wait for such an extender to be free.
    pub asking_waiting: usize,
    /// Other writes without an answer.
    pub asides: usize,
    /// Nominations written that the watch has not shown yet.
    pub nominations: usize,
}

/// Attempts of one profile (`schedule_attempts_total`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileAttempts {
    /// The profile.
    pub scheduler_name: Arc<str>,
    /// A node was chosen.
    pub scheduled: u64,
    /// No node.
    pub unschedulable: u64,
    /// An internal error.
    pub error: u64,
}

/// Entities that came into a part of the queue (`queue_incoming_pods_total`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueIncoming {
    /// `active`, `backoff` or `unschedulable`, where gated pods are too.
    pub queue: &'static str,
    /// What brought them.
    pub event: String,
    /// How many.
    pub count: u64,
}

/// Pods that wait because of one plugin (`unschedulable_pods`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnschedulablePods {
    /// The profile.
    pub profile: Arc<str>,
    /// The plugin that turned them down, perhaps beside others.
    pub plugin: &'static str,
    /// How many.
    pub pods: usize,
}

/// Whether load is judged, and what of it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadStats {
    /// How rows are to be taken.
    pub mode: LoadMode,
    /// Since when, on the engine's monotonic clock.
    pub since: Duration,
    /// How many nodes report.
    pub census: LoadCensus,
}

/// Counters that have no label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pods that were popped while being deleted, and left alone.
    pub skipped_deleting: u64,
    /// Pods that the watch showed on another node than the one assumed.
    pub moved: u64,
    /// Whole lists taken after the first one: lost watches.
    pub relists: u64,
    /// `PostFilter` runs.
    pub preemption_attempts: u64,
    /// Pods evicted for others.
    pub preemption_victims: u64,
    /// Evictions that failed.
    pub evictions_failed: u64,
    /// How evictions ended.
    pub evictions: EvictionCounters,
    /// Writes that nobody waits for and that failed.
    pub asides_failed: u64,
    /// Writes that nobody waits for and that had no answer.
    pub asides_lost: u64,
    /// Load samples taken.
    pub samples_taken: u64,
    /// Load samples dropped: not newer than what is known of the node.
    pub samples_older: u64,
    /// Load samples without figures: the agent does not trust them.
    pub samples_untrusted: u64,
    /// Load samples dropped: the cluster has no such node.
    pub samples_unknown_node: u64,
    /// Bindings.
    pub binds: BindCounters,
    /// Status patches.
    pub status: StatusCounters,
    /// Answers to commands that nobody waits for any more.
    pub late_answers: u64,
}

/// How evictions ended, and what was done instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvictionCounters {
    /// Told to go.
    pub evicted: u64,
    /// Not bound yet: sent back to the queue instead.
    pub in_memory: u64,
    /// Gone before they were told.
    pub gone: u64,
    /// The API server will not let them go: 403, or an admission webhook.
    pub refused: u64,
    /// 5xx, 409, 429 or no connection.
    pub unavailable: u64,
    /// No answer.
    pub unknown: u64,
    /// Decisions to evict that were not carried out as the last ones had failed just now.
    pub postponed: u64,
}

/// How bindings ended, and what happened on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindCounters {
    /// Bound.
    pub bound: u64,
    /// 409: bound already, or another life of the name.
    pub conflict: u64,
    /// 404: the pod is gone.
    pub not_found: u64,
    /// 429: asked again later.
    pub throttled: u64,
    /// 5xx or no connection: given up and requeued.
    pub unavailable: u64,
    /// No answer: asked again.
    pub unknown: u64,
    /// Refused for good: given up and requeued.
    pub refused: u64,
    /// Refused for good while an earlier request may have been carried out: asked again.
    pub in_doubt: u64,
    /// Given up after such refusals for a long time.
    pub doubt_ended: u64,
    /// Given up because the pod went away or is being deleted.
    pub pod_gone: u64,
    /// Given up because the pod got a node by another hand.
    pub bound_elsewhere: u64,
    /// Given up because the node went away before the request was sent.
    pub node_gone: u64,
    /// Given up because the decision had become too old.
    pub stale: u64,
    /// Waits in Permit that ran out of time.
    pub permit_timeouts: u64,
}

/// How status patches ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusCounters {
    /// Written.
    pub written: u64,
    /// Asked again after 429, 5xx or no answer.
    pub retried: u64,
    /// Dropped: the pod is gone, got a node, or the server refuses it.
    pub dropped: u64,
}
