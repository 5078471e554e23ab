//! What the scheduler counts of itself.
//!
//! Takes decisions and the engine's figures, gives series: kube-scheduler's names where the
//! meaning is the same, `plimsoll_*` for ours.

mod engine;

use std::time::Duration;

use plimsoll_core::{Decision, EngineStats, Outcome};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use engine::EngineSeries;

/// All series of the scheduler.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    attempts: Family<AttemptLabels, Counter>,
    algorithm: Histogram,
    sample_age: Histogram,
    pending: Family<QueueLabels, Gauge>,
    cache: Family<CacheLabels, Gauge>,
    engine: EngineSeries,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    result: &'static str,
    profile: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    queue: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CacheLabels {
    r#type: &'static str,
}

// === impl Metrics ===

impl Metrics {
    /// All series, registered.
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            attempts: Family::default(),
            // kube-scheduler's buckets begin at 1 ms; a cycle here takes microseconds.
            algorithm: Histogram::new(exponential_buckets(0.000_016, 2.0, 20)),
            sample_age: Histogram::new(exponential_buckets(0.125, 2.0, 12)),
            pending: Family::default(),
            cache: Family::default(),
            engine: EngineSeries::new(registry),
        };
        registry.register(
            "scheduler_schedule_attempts",
            "Attempts to schedule pods, by result and profile",
            metrics.attempts.clone(),
        );
        registry.register(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Time of one scheduling cycle",
            metrics.algorithm.clone(),
        );
        registry.register(
            "plimsoll_decision_sample_age_seconds",
            "Age of the measurement of the chosen node at the decision",
            metrics.sample_age.clone(),
        );
        registry.register(
            "scheduler_pending_pods",
            "Pending pods, by queue",
            metrics.pending.clone(),
        );
        registry.register(
            "scheduler_cache_size",
            "Objects in the scheduler's cache, by type",
            metrics.cache.clone(),
        );
        metrics
    }

    /// One attempt has ended; its cycle took `cycle`.
    pub(crate) fn decided(&self, decision: &Decision, cycle: Duration) {
        let result = match &decision.outcome {
            Outcome::Chosen { .. } => "scheduled",
            Outcome::Unschedulable { .. } => "unschedulable",
            Outcome::Failed { .. } => "error",
        };
        let labels = AttemptLabels {
            result,
            profile: decision.scheduler_name.to_string(),
        };
        self.attempts.get_or_create(&labels).inc();
        self.algorithm.observe(cycle.as_secs_f64());
        if let Some(age) = decision.sample_age() {
            self.sample_age.observe(age.as_secs_f64());
        }
    }

    /// The engine's figures now.
    pub(crate) fn set_stats(&self, stats: &EngineStats) {
        self.engine.set(stats);
        let queues = [
            ("active", stats.queue.active),
            ("backoff", stats.queue.backoff),
            ("unschedulable", stats.queue.unschedulable),
            ("gated", stats.queue.gated),
        ];
        for (queue, pods) in queues {
            self.pending
                .get_or_create(&QueueLabels { queue })
                .set(pods as i64);
        }
        let sizes = [
            ("nodes", stats.cache.nodes),
            ("pods", stats.cache.pods),
            ("assumed_pods", stats.cache.assumed),
        ];
        for (r#type, size) in sizes {
            self.cache
                .get_or_create(&CacheLabels { r#type })
                .set(size as i64);
        }
    }
}
