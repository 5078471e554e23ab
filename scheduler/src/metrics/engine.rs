//! The engine's own counters as series.
//!
//! Takes [`EngineStats`], whose counters only grow, gives `plimsoll_*_total` with one label
//! for what happened.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use plimsoll_core::{
    BindCounters, Counters, EngineStats, Evaluations, EvictionCounters, StatusCounters,
};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// One family per question, one label for the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineSeries {
    bindings: Family<Outcome, Counter>,
    evictions: Family<Outcome, Counter>,
    status: Family<Outcome, Counter>,
    samples: Family<Outcome, Counter>,
    oddities: Family<Outcome, Counter>,
    incoming: Family<Incoming, Counter>,
    incoming_entities: Family<IncomingEntity, Counter>,
    missed: Family<Missed, Gauge>,
    evaluations: Family<Asked, Counter>,
    unschedulable: Family<Rejecting, Gauge>,
    /// Those that have a series: one that rejects nobody any more is zero, not absent.
    rejecting: Arc<Mutex<BTreeSet<Rejecting>>>,
    preemptions: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    plugin: &'static str,
    extension_point: &'static str,
    profile: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Rejecting {
    plugin: &'static str,
    profile: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct IncomingEntity {
    queue: &'static str,
    event: String,
    r#type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Missed {
    event: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Incoming {
    queue: &'static str,
    event: String,
}

/// The type of an entity that is a pod; groups of pods are not formed yet.
pub(super) const POD: &str = "Pod";

// === impl EngineSeries ===

impl EngineSeries {
    /// All series, registered.
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let series = Self::default();
        registry.register(
            "plimsoll_bindings",
            "How bindings ended, and what happened on the way",
            series.bindings.clone(),
        );
        registry.register(
            "plimsoll_evictions",
            "How evictions ended, and what was done instead",
            series.evictions.clone(),
        );
        registry.register(
            "plimsoll_status_patches",
            "How patches of a pod's status ended",
            series.status.clone(),
        );
        registry.register(
            "plimsoll_load_samples",
            "Samples of node load that reached the engine, by what became of them",
            series.samples.clone(),
        );
        registry.register(
            "plimsoll_engine_oddities",
            "Things that happen to a healthy scheduler rarely",
            series.oddities.clone(),
        );
        registry.register(
            "scheduler_queue_incoming_pods",
            "Pods added to scheduling queues, by event and queue",
            series.incoming.clone(),
        );
        registry.register(
            "scheduler_queue_incoming_entities",
            "Pods and groups of pods added to scheduling queues, by event, queue and type",
            series.incoming_entities.clone(),
        );
        registry.register(
            "scheduler_inflight_events",
            "Changes that are kept for pods that are out for an attempt, by event",
            series.missed.clone(),
        );
        // There from the start: a new pod is the first thing that happens.
        drop(series.incoming.get_or_create(&Incoming {
            queue: "active",
            event: "UnscheduledPodAdd".to_owned(),
        }));
        registry.register(
            "scheduler_plugin_evaluation",
            "How often plugins were asked, by extension point (PreFilter, Filter, PreScore, Score)",
            series.evaluations.clone(),
        );
        registry.register(
            "scheduler_unschedulable_pods",
            "Pods that wait because a plugin turned them down; one counts for each such plugin",
            series.unschedulable.clone(),
        );
        registry.register(
            "scheduler_preemption_attempts",
            "Attempts to make room for a pod",
            series.preemptions.clone(),
        );
        series
    }

    /// The counters now.
    pub(crate) fn set(&self, stats: &EngineStats) {
        set(&self.bindings, bindings(&stats.counters.binds));
        set(&self.evictions, evictions(&stats.counters.evictions));
        set(&self.status, status(&stats.counters.status));
        set(&self.samples, samples(&stats.counters));
        set(&self.oddities, oddities(&stats.counters));
        let preemptions = self.preemptions.inner();
        preemptions.store(stats.counters.preemption_attempts, Ordering::Relaxed);
        self.set_unschedulable(stats);
        for entry in &stats.incoming {
            let labels = Incoming {
                queue: entry.queue,
                event: entry.event.clone(),
            };
            let counter = self.incoming.get_or_create(&labels);
            counter.inner().store(entry.count, Ordering::Relaxed);
            let labels = IncomingEntity {
                queue: entry.queue,
                event: entry.event.clone(),
                r#type: POD,
            };
            let counter = self.incoming_entities.get_or_create(&labels);
            counter.inner().store(entry.count, Ordering::Relaxed);
        }
        self.missed.clear();
        for (event, count) in &stats.missed_events {
            let event = event.clone();
            let gauge = self.missed.get_or_create(&Missed { event });
            gauge.set(*count as i64);
        }
    }
}

impl EngineSeries {
    /// How often plugins were asked.
    pub(crate) fn set_evaluations(&self, evaluations: &[Evaluations]) {
        for asked in evaluations {
            let labels = Asked {
                plugin: asked.plugin,
                extension_point: asked.point,
                profile: asked.profile.to_string(),
            };
            let counter = self.evaluations.get_or_create(&labels);
            counter.inner().store(asked.count, Ordering::Relaxed);
        }
    }

    fn set_unschedulable(&self, stats: &EngineStats) {
        let mut gone = std::mem::take(&mut *self.rejecting.lock());
        let mut rejecting = gone.clone();
        for row in &stats.unschedulable {
            let labels = Rejecting {
                plugin: row.plugin,
                profile: row.profile.to_string(),
            };
            self.unschedulable
                .get_or_create(&labels)
                .set(row.pods as i64);
            gone.remove(&labels);
            rejecting.insert(labels);
        }
        for labels in gone {
            self.unschedulable.get_or_create(&labels).set(0);
        }
        *self.rejecting.lock() = rejecting;
    }
}

fn set(family: &Family<Outcome, Counter>, counts: impl IntoIterator<Item = (&'static str, u64)>) {
    for (outcome, count) in counts {
        let counter = family.get_or_create(&Outcome { outcome });
        counter.inner().store(count, Ordering::Relaxed);
    }
}

fn bindings(counters: &BindCounters) -> [(&'static str, u64); 14] {
    [
        ("bound", counters.bound),
        ("conflict", counters.conflict),
        ("not_found", counters.not_found),
        ("throttled", counters.throttled),
        ("unavailable", counters.unavailable),
        ("unknown", counters.unknown),
        ("refused", counters.refused),
        ("pod_gone", counters.pod_gone),
        ("bound_elsewhere", counters.bound_elsewhere),
        ("node_gone", counters.node_gone),
        ("stale", counters.stale),
        ("permit_timeout", counters.permit_timeouts),
        ("in_doubt", counters.in_doubt),
        ("doubt_ended", counters.doubt_ended),
    ]
}

fn evictions(counters: &EvictionCounters) -> [(&'static str, u64); 7] {
    [
        ("evicted", counters.evicted),
        ("in_memory", counters.in_memory),
        ("gone", counters.gone),
        ("refused", counters.refused),
        ("unavailable", counters.unavailable),
        ("unknown", counters.unknown),
        ("postponed", counters.postponed),
    ]
}

fn status(counters: &StatusCounters) -> [(&'static str, u64); 3] {
    [
        ("written", counters.written),
        ("retried", counters.retried),
        ("dropped", counters.dropped),
    ]
}

fn samples(counters: &Counters) -> [(&'static str, u64); 4] {
    [
        ("taken", counters.samples_taken),
        ("older", counters.samples_older),
        ("untrusted", counters.samples_untrusted),
        ("unknown_node", counters.samples_unknown_node),
    ]
}

fn oddities(counters: &Counters) -> [(&'static str, u64); 9] {
    [
        ("pod_moved", counters.moved),
        ("deleting_pod_skipped", counters.skipped_deleting),
        ("relisted", counters.relists),
        ("late_answer", counters.late_answers),
        ("preemption_attempt", counters.preemption_attempts),
        ("preemption_victim", counters.preemption_victims),
        ("eviction_failed", counters.evictions_failed),
        ("write_failed", counters.asides_failed),
        ("write_lost", counters.asides_lost),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_counts_stands_on_the_page() {
        let mut registry = Registry::default();
        let series = EngineSeries::new(&mut registry);
        let mut stats = EngineStats::default();
        stats.counters.binds.conflict = 3;
        stats.counters.samples_unknown_node = 7;
        series.set(&stats);
        stats.counters.binds.conflict = 4;
        series.set(&stats);
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
        for line in [
            "plimsoll_bindings_total{outcome=\"conflict\"} 4",
            "plimsoll_bindings_total{outcome=\"bound\"} 0",
            "plimsoll_load_samples_total{outcome=\"unknown_node\"} 7",
        ] {
            assert!(page.contains(line), "{line} is not in\n{page}");
        }
    }
}
