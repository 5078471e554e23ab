//! How long things take: kube-scheduler's histograms.
//!
//! Takes the engine's measurements. Buckets are kube-scheduler's, with finer ones below
//! where a cycle here takes microseconds: each of its bounds is a bound here, too.

use plimsoll_core::Timing;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Attempts from here on are counted together (kube-scheduler `getAttemptsLabel`).
const MANY_ATTEMPTS: u32 = 15;

type Histograms<Labels> = Family<Labels, Histogram, fn() -> Histogram>;

/// All histograms of durations.
#[derive(Debug, Clone)]
pub(crate) struct TimingSeries {
    attempt: Histograms<AttemptLabels>,
    algorithm: Histogram,
    point: Histograms<PointLabels>,
    plugin: Histograms<PluginLabels>,
    sli: Histograms<AttemptsLabels>,
    attempts: Histogram,
    permit_wait: Histograms<ResultLabels>,
    victims: Histogram,
    evictions: Histograms<ResultLabels>,
    evictions_run: Family<ResultLabels, Counter>,
    events: Histograms<EventLabels>,
    slow: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    event: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    result: &'static str,
    profile: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PointLabels {
    extension_point: &'static str,
    status: &'static str,
    profile: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabels {
    plugin: &'static str,
    extension_point: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptsLabels {
    attempts: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

// === impl TimingSeries ===

impl TimingSeries {
    /// All series, registered.
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let series = Self {
            attempt: Family::new_with_constructor(milliseconds),
            algorithm: Histogram::new(exponential_buckets(0.001 / 64.0, 2.0, 21)),
            point: Family::new_with_constructor(points),
            plugin: Family::new_with_constructor(plugins),
            sli: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(0.01, 2.0, 20))
            }),
            attempts: Histogram::new(exponential_buckets(1.0, 2.0, 5)),
            permit_wait: Family::new_with_constructor(milliseconds),
            victims: Histogram::new(exponential_buckets(1.0, 2.0, 7)),
            evictions: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(0.01, 2.0, 20))
            }),
            evictions_run: Family::default(),
            events: Family::new_with_constructor(events),
            slow: Counter::default(),
        };
        series.register(registry);
        series
    }

    fn register(&self, registry: &mut Registry) {
        registry.register(
            "scheduler_scheduling_attempt_duration_seconds",
            "Time of an attempt to schedule a pod, its binding included",
            self.attempt.clone(),
        );
        registry.register(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Time to find a node for a pod",
            self.algorithm.clone(),
        );
        registry.register(
            "scheduler_framework_extension_point_duration_seconds",
            "Time of all plugins of one extension point",
            self.point.clone(),
        );
        registry.register(
            "scheduler_plugin_execution_duration_seconds",
            "Time of one plugin at one extension point, in one cycle of ten",
            self.plugin.clone(),
        );
        registry.register(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "Time from a pod that could be scheduled to its binding, by attempts",
            self.sli.clone(),
        );
        registry.register(
            "scheduler_pod_scheduling_attempts",
            "Attempts until a pod was bound",
            self.attempts.clone(),
        );
        registry.register(
            "scheduler_permit_wait_duration_seconds",
            "Time pods waited for permission, by result",
            self.permit_wait.clone(),
        );
        registry.register(
            "scheduler_preemption_victims",
            "Pods evicted for one other",
            self.victims.clone(),
        );
        registry.register(
            "scheduler_event_handling_duration_seconds",
            "Time to take in a change of the cluster, by event",
            self.events.clone(),
        );
        registry.register(
            "plimsoll_slow_cycles",
            "Cycles of 100 ms and more: meanwhile all other pods wait",
            self.slow.clone(),
        );
        registry.register(
            "scheduler_preemption_goroutines_duration_seconds",
            "Time until all victims of one pod were told to go, by result",
            self.evictions.clone(),
        );
        registry.register(
            "scheduler_preemption_goroutines_execution",
            "How often the victims of one pod were told to go, by result",
            self.evictions_run.clone(),
        );
    }

    /// Takes one measurement.
    pub(crate) fn take(&self, timing: &Timing) {
        match timing {
            Timing::Attempt {
                profile,
                result,
                took,
            } => {
                let labels = AttemptLabels {
                    result,
                    profile: profile.to_string(),
                };
                observe(&self.attempt, &labels, took.as_secs_f64());
            }
            Timing::Algorithm(took) => self.algorithm.observe(took.as_secs_f64()),
            Timing::Point {
                profile,
                point,
                status,
                took,
            } => {
                let labels = PointLabels {
                    extension_point: point,
                    status,
                    profile: profile.to_string(),
                };
                observe(&self.point, &labels, took.as_secs_f64());
            }
            Timing::Plugin {
                plugin,
                point,
                status,
                took,
            } => {
                let labels = PluginLabels {
                    plugin,
                    extension_point: point,
                    status,
                };
                observe(&self.plugin, &labels, took.as_secs_f64());
            }
            Timing::Scheduled { attempts, waited } => {
                let labels = AttemptsLabels {
                    attempts: attempts_label(*attempts),
                };
                observe(&self.sli, &labels, waited.as_secs_f64());
                self.attempts.observe(f64::from(*attempts));
            }
            Timing::PermitWait { result, took } => {
                observe(
                    &self.permit_wait,
                    &ResultLabels { result },
                    took.as_secs_f64(),
                );
            }
            Timing::Event { event, took } => {
                let labels = EventLabels {
                    event: event.to_string(),
                };
                observe(&self.events, &labels, took.as_secs_f64());
            }
            Timing::SlowCycle { .. } => {
                self.slow.inc();
            }
            Timing::Victims(count) => self.victims.observe(*count as f64),
            Timing::Evictions { result, took } => {
                let labels = ResultLabels { result };
                observe(&self.evictions, &labels, took.as_secs_f64());
                self.evictions_run.get_or_create(&labels).inc();
            }
        }
    }
}

fn observe<Labels>(family: &Histograms<Labels>, labels: &Labels, value: f64)
where
    Labels: Clone + Eq + std::hash::Hash,
{
    family.get_or_create(labels).observe(value);
}

fn attempts_label(attempts: u32) -> String {
    if attempts >= MANY_ATTEMPTS {
        return format!("{MANY_ATTEMPTS}+");
    }
    attempts.to_string()
}

/// kube-scheduler: 15 buckets from 1 ms.
fn milliseconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

/// kube-scheduler: 12 buckets from 0.1 ms.
fn events() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.0, 12))
}

/// kube-scheduler: 12 buckets from 0.1 ms; here six below.
fn points() -> Histogram {
    Histogram::new(exponential_buckets(0.0001 / 64.0, 2.0, 18))
}

/// kube-scheduler: 20 buckets from 10 µs, each half as much again; here six below.
fn plugins() -> Histogram {
    Histogram::new(exponential_buckets(0.000_01 / 1.5_f64.powi(6), 1.5, 26))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn measurements_stand_on_the_page_under_the_names_of_kube_scheduler() {
        let mut registry = Registry::default();
        let series = TimingSeries::new(&mut registry);
        let took = Duration::from_millis(3);
        let profile: Arc<str> = "plimsoll".into();
        for timing in [
            Timing::Attempt {
                profile: Arc::clone(&profile),
                result: "scheduled",
                took,
            },
            Timing::Algorithm(took),
            Timing::Point {
                profile,
                point: "Filter",
                status: "Success",
                took,
            },
            Timing::Plugin {
                plugin: "NodeName",
                point: "Filter",
                status: "Success",
                took,
            },
            Timing::Scheduled {
                attempts: 20,
                waited: took,
            },
            Timing::PermitWait {
                result: "Success",
                took,
            },
            Timing::Victims(2),
            Timing::Evictions {
                result: "error",
                took,
            },
        ] {
            series.take(&timing);
        }
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
        for line in [
            "scheduler_scheduling_attempt_duration_seconds_count{result=\"scheduled\",profile=\"plimsoll\"} 1",
            "scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.004\"} 1",
            "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Filter\",status=\"Success\",profile=\"plimsoll\"} 1",
            "scheduler_plugin_execution_duration_seconds_count{plugin=\"NodeName\",extension_point=\"Filter\",status=\"Success\"} 1",
            "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"15+\"} 1",
            "scheduler_pod_scheduling_attempts_sum 20.0",
            "scheduler_permit_wait_duration_seconds_count{result=\"Success\"} 1",
            "scheduler_preemption_victims_sum 2.0",
            "scheduler_preemption_goroutines_execution_total{result=\"error\"} 1",
        ] {
            assert!(page.contains(line), "{line} is not in\n{page}");
        }
    }
}
