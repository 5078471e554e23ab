//! What this crate counts: requests, watches, objects, events, calls to extenders.
//!
//! Made by the caller, registered by the caller, written here. No label has a pod's name.

mod election;
mod extender;
mod rest;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::ObjectKind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

pub(crate) use self::election::ElectionSeries;
pub(crate) use self::extender::ExtenderSeries;
pub(crate) use self::rest::RestSeries;

/// Shortest bucket of request durations in seconds: an API server on the same machine
/// answers a write in about 2 ms.
const FIRST_BUCKET_S: f64 = 0.001;
/// Buckets, each twice the one before: the last is 16 s, over every time limit of a write.
const BUCKETS: u16 = 15;

/// The metrics of this crate. Cheap to clone; all clones count together.
#[derive(Debug, Clone)]
pub struct Metrics {
    rest: RestSeries,
    extender: ExtenderSeries,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram, fn() -> Histogram>,
    watch_restarts: Family<RestartLabels, Counter>,
    relists: Family<KindLabels, Counter>,
    undecodable: Family<KindLabels, Counter>,
    events: Family<ResultLabels, Counter>,
    refused: Family<ReasonLabels, Counter>,
    election: ElectionSeries,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    verb: &'static str,
    resource: Cow<'static, str>,
    code: Cow<'static, str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    verb: &'static str,
    resource: Cow<'static, str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RestartLabels {
    kind: &'static str,
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: Arc<str>,
}

/// What became of one event for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventResult {
    /// Written as an object of its own.
    Written,
    /// Counted in the series of an earlier one.
    Aggregated,
    /// Pushed out of a full queue.
    Overflowed,
    /// Refused by the API server, or tried too often.
    Failed,
}

// === impl Metrics ===

impl Default for Metrics {
    fn default() -> Self {
        Self {
            rest: RestSeries::default(),
            extender: ExtenderSeries::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(FIRST_BUCKET_S, 2.0, BUCKETS))
            }),
            watch_restarts: none_restarted(),
            relists: none_relisted(),
            undecodable: Family::default(),
            events: Family::default(),
            refused: none_refused(),
            election: ElectionSeries::default(),
        }
    }
}

impl Metrics {
    /// Gives all metrics of this crate to `registry`, under their full names.
    pub fn register(&self, registry: &mut Registry) {
        self.rest.register(registry);
        self.election.register(registry);
        self.extender.register(registry);
        registry.register(
            "plimsoll_cluster_requests",
            "Requests to the API server by verb, resource and answer",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "plimsoll_cluster_request_duration",
            "Time from sending a request to its whole answer, watches apart",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "plimsoll_cluster_watch_restarts",
            "Watches that ended, by what ended them",
            self.watch_restarts.clone(),
        );
        registry.register(
            "plimsoll_cluster_relists",
            "Whole lists after the first",
            self.relists.clone(),
        );
        registry.register(
            "plimsoll_cluster_undecodable_objects",
            "Objects and watch lines that could not be understood and were skipped",
            self.undecodable.clone(),
        );
        registry.register(
            "plimsoll_cluster_events",
            "Events for people by what became of them",
            self.events.clone(),
        );
        registry.register(
            "plimsoll_pods_refused_by_kubelet",
            "Pods that a kubelet refused as another scheduler had taken their room, by reason",
            self.refused.clone(),
        );
    }

    pub(crate) fn request(
        &self,
        verb: &'static str,
        resource: Cow<'static, str>,
        code: Cow<'static, str>,
    ) {
        let labels = RequestLabels {
            verb,
            resource,
            code,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// Where calls to extenders are counted.
    pub(crate) fn extender(&self) -> ExtenderSeries {
        self.extender.clone()
    }

    /// Leader election.
    pub(crate) fn election(&self) -> &ElectionSeries {
        &self.election
    }

    /// The same, as client-go counts it.
    pub(crate) fn rest(&self) -> &RestSeries {
        &self.rest
    }

    pub(crate) fn duration(&self, verb: &'static str, resource: Cow<'static, str>, took: Duration) {
        let labels = DurationLabels { verb, resource };
        self.durations
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
    }

    pub(crate) fn watch_restart(&self, kind: &'static str, cause: &'static str) {
        self.watch_restarts
            .get_or_create(&RestartLabels { kind, cause })
            .inc();
    }

    pub(crate) fn relist(&self, kind: &'static str) {
        self.relists.get_or_create(&KindLabels { kind }).inc();
    }

    pub(crate) fn undecodable(&self, kind: &'static str) {
        self.undecodable.get_or_create(&KindLabels { kind }).inc();
    }

    pub(crate) fn refused(&self, reason: Arc<str>) {
        self.refused.get_or_create(&ReasonLabels { reason }).inc();
    }

    pub(crate) fn event(&self, result: EventResult) {
        let result = match result {
            EventResult::Written => "written",
            EventResult::Aggregated => "aggregated",
            EventResult::Overflowed => "overflowed",
            EventResult::Failed => "failed",
        };
        self.events.get_or_create(&ResultLabels { result }).inc();
    }
}

/// The kinds that are watched, as series name them.
fn kinds() -> impl Iterator<Item = &'static str> {
    let others = ObjectKind::ALL.into_iter().map(ObjectKind::plural);
    ["nodes", "pods"].into_iter().chain(others)
}
/// What ends a watch: the labels of `watch::stream::End`.
const CAUSES: [&str; 6] = [
    "closed", "broken", "silent", "recalled", "expired", "failed",
];

fn none_restarted() -> Family<RestartLabels, Counter> {
    let family = Family::<RestartLabels, Counter>::default();
    for kind in kinds() {
        for cause in CAUSES {
            drop(family.get_or_create(&RestartLabels { kind, cause }));
        }
    }
    family
}

fn none_relisted() -> Family<KindLabels, Counter> {
    let family = Family::<KindLabels, Counter>::default();
    for kind in kinds() {
        drop(family.get_or_create(&KindLabels { kind }));
    }
    family
}

/// The usual reasons are there from the start, so that an alert sees the first one.
fn none_refused() -> Family<ReasonLabels, Counter> {
    let family = Family::<ReasonLabels, Counter>::default();
    for reason in ["OutOfcpu", "OutOfmemory", "OutOfpods"] {
        let reason = Arc::from(reason);
        drop(family.get_or_create(&ReasonLabels { reason }));
    }
    family
}

#[cfg(test)]
impl Metrics {
    /// The value of the first line of the text format that begins with `series`.
    pub(crate) fn value(&self, series: &str) -> Option<String> {
        let mut registry = Registry::default();
        self.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).ok()?;
        let line = text.lines().find(|line| line.starts_with(series))?;
        line.rsplit(' ').next().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::time::Duration;

    use super::{EventResult, Metrics};

    #[test]
    fn names_and_labels_are_as_documented() {
        let metrics = Metrics::default();
        let pods = Cow::Borrowed("pods");
        metrics.request("list", pods.clone(), Cow::Borrowed("200"));
        metrics.duration("list", pods, Duration::from_millis(3));
        metrics.watch_restart("pods", "closed");
        metrics.relist("pods");
        metrics.undecodable("nodes");
        metrics.event(EventResult::Written);
        for series in [
            r#"plimsoll_cluster_requests_total{verb="list",resource="pods",code="200"}"#,
            r#"plimsoll_cluster_request_duration_seconds_count{verb="list",resource="pods"}"#,
            r#"plimsoll_cluster_watch_restarts_total{kind="pods",cause="closed"}"#,
            r#"plimsoll_cluster_relists_total{kind="pods"}"#,
            r#"plimsoll_cluster_undecodable_objects_total{kind="nodes"}"#,
            r#"plimsoll_cluster_events_total{result="written"}"#,
        ] {
            assert_eq!(metrics.value(series).as_deref(), Some("1"), "{series}");
        }
    }
}
