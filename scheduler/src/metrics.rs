//! What the scheduler counts of itself.
//!
//! Takes decisions and the engine's figures, gives series: kube-scheduler's names where the
//! meaning is the same, `plimsoll_*` for ours.

mod engine;
mod load;
mod process;
mod timing;

use std::sync::atomic::Ordering;

use plimsoll_core::{Decision, EngineStats, Evaluations, LoadStats, Timing};
use plimsoll_framework::Snapshot;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use engine::EngineSeries;
use load::LoadSeries;
use timing::TimingSeries;

/// All series of the scheduler.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    attempts: Family<AttemptLabels, Counter>,
    sample_age: Histogram,
    pending: Family<QueueLabels, Gauge>,
    entities: Family<EntityLabels, Gauge>,
    cache: Family<CacheLabels, Gauge>,
    engine: EngineSeries,
    timing: TimingSeries,
    load: LoadSeries,
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
struct EntityLabels {
    queue: &'static str,
    r#type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CacheLabels {
    r#type: &'static str,
}

// === impl Metrics ===

impl Metrics {
    /// All series, registered; those of each node's load if `per_node`.
    pub(crate) fn new(registry: &mut Registry, per_node: bool) -> Self {
        process::register(registry);
        let metrics = Self {
            attempts: Family::default(),
            sample_age: Histogram::new(exponential_buckets(0.125, 2.0, 12)),
            pending: Family::default(),
            entities: Family::default(),
            cache: Family::default(),
            engine: EngineSeries::new(registry),
            timing: TimingSeries::new(registry),
            load: LoadSeries::new(registry, per_node),
        };
        registry.register(
            "scheduler_schedule_attempts",
            "Attempts to schedule pods, by result and profile",
            metrics.attempts.clone(),
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
            "scheduler_queued_entities",
            "Pods and groups of pods that wait, by queue and type",
            metrics.entities.clone(),
        );
        registry.register(
            "scheduler_cache_size",
            "Objects in the scheduler's cache, by type",
            metrics.cache.clone(),
        );
        metrics
    }

    /// A decision was made.
    pub(crate) fn decided(&self, decision: &Decision) {
        if let Some(age) = decision.sample_age() {
            self.sample_age.observe(age.as_secs_f64());
        }
    }

    /// Something was timed.
    pub(crate) fn timed(&self, timing: &Timing) {
        self.timing.take(timing);
    }

    /// The figures of load now.
    pub(crate) fn set_load(&self, stats: &LoadStats) {
        self.load.set(stats);
    }

    /// Whether series of each node's load are wanted.
    pub(crate) fn wants_rows(&self) -> bool {
        self.load.wants_rows()
    }

    /// The load of all nodes now.
    pub(crate) fn set_rows(&self, snapshot: &Snapshot) {
        self.load.set_rows(snapshot);
    }

    /// How often plugins were asked.
    pub(crate) fn set_evaluations(&self, evaluations: &[Evaluations]) {
        self.engine.set_evaluations(evaluations);
    }

    /// The engine's figures now.
    pub(crate) fn set_stats(&self, stats: &EngineStats) {
        self.engine.set(stats);
        for profile in &stats.attempts {
            let results = [
                ("scheduled", profile.scheduled),
                ("unschedulable", profile.unschedulable),
                ("error", profile.error),
            ];
            for (result, count) in results {
                let labels = AttemptLabels {
                    result,
                    profile: profile.scheduler_name.to_string(),
                };
                let counter = self.attempts.get_or_create(&labels);
                counter.inner().store(count, Ordering::Relaxed);
            }
        }
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
            let r#type = engine::POD;
            self.entities
                .get_or_create(&EntityLabels { queue, r#type })
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
