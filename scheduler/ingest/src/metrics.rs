//! What the telemetry server counts. Names begin with `plimsoll_ingest_`; no label names a
//! node.

mod refusal;

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

pub(crate) use refusal::{Reason, What};

/// Prefix of every name.
const PREFIX: &str = "plimsoll_ingest";
/// Smallest bucket of a sample's age at arrival: a report on a quiet network needs less
/// than a millisecond.
const FIRST_AGE_SECONDS: f64 = 0.001;
/// Buckets double from the first to over 500 s, near the largest age that is taken.
const AGE_BUCKETS: u16 = 20;

/// How a TLS handshake ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// The agent knows the certificate.
    Ok,
    /// The agent does not, or speaks no TLS.
    Failed,
    /// It did not end in time.
    Timeout,
}

impl Handshake {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

/// How a new certificate was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reload {
    /// It is in use.
    Ok,
    /// It cannot be used.
    Failed,
}

impl Reload {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusedLabels {
    what: &'static str,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// Labels of a series that has none and is absent until it has a value.
type NoLabels = [(String, String); 0];

/// Handles to what the server counts; clones count in the same place.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    pub(crate) connections: Gauge,
    pub(crate) streams: Gauge,
    pub(crate) nodes: Gauge,
    pub(crate) samples: Counter,
    pub(crate) overwritten: Counter,
    pub(crate) superseded: Counter,
    pub(crate) sample_age: Histogram,
    refused: Family<RefusedLabels, Counter>,
    handshakes: Family<OutcomeLabel, Counter>,
    reloads: Family<OutcomeLabel, Counter>,
    /// Exported once there is a certificate.
    not_after: Family<NoLabels, Gauge>,
}

impl Metrics {
    /// Makes counters at zero that nobody exports yet.
    pub(crate) fn new() -> Self {
        Self {
            connections: Gauge::default(),
            streams: Gauge::default(),
            nodes: Gauge::default(),
            samples: Counter::default(),
            overwritten: Counter::default(),
            superseded: Counter::default(),
            sample_age: Histogram::new(exponential_buckets(FIRST_AGE_SECONDS, 2.0, AGE_BUCKETS)),
            refused: Family::default(),
            handshakes: zeros(
                &[Handshake::Ok, Handshake::Failed, Handshake::Timeout].map(Handshake::name),
            ),
            reloads: zeros(&[Reload::Ok, Reload::Failed].map(Reload::name)),
            not_after: Family::default(),
        }
    }

    /// Exports the counters in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix(PREFIX);
        registry.register(
            "connections",
            "Open connections of agents",
            self.connections.clone(),
        );
        registry.register("streams", "Open streams of agents", self.streams.clone());
        registry.register("nodes", "Nodes known from streams", self.nodes.clone());
        registry.register(
            "samples",
            "Samples taken from reports",
            self.samples.clone(),
        );
        registry.register(
            "overwritten",
            "Samples replaced by a newer one before the engine took them",
            self.overwritten.clone(),
        );
        registry.register(
            "superseded",
            "Streams that ended because a newer one speaks for the node",
            self.superseded.clone(),
        );
        registry.register(
            "sample_age_seconds",
            "Age of a sample when its report arrived",
            self.sample_age.clone(),
        );
        registry.register(
            "refused",
            "Streams, reports, pods and figures that were not taken, by reason",
            self.refused.clone(),
        );
        registry.register(
            "tls_handshakes",
            "TLS handshakes of agents, by outcome",
            self.handshakes.clone(),
        );
        registry.register(
            "tls_reloads",
            "Certificates found changed and read again, by outcome",
            self.reloads.clone(),
        );
        registry.register(
            "tls_certificate_not_after_timestamp_seconds",
            "When the served certificate expires, since the Unix epoch",
            self.not_after.clone(),
        );
    }

    pub(crate) fn count_handshake(&self, outcome: Handshake) {
        let outcome = outcome.name();
        self.handshakes
            .get_or_create(&OutcomeLabel { outcome })
            .inc();
    }

    pub(crate) fn count_reload(&self, outcome: Reload) {
        let outcome = outcome.name();
        self.reloads.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// Notes when the served certificate expires.
    pub(crate) fn set_not_after(&self, at: Option<Duration>) {
        match at.and_then(|at| i64::try_from(at.as_secs()).ok()) {
            Some(seconds) => {
                self.not_after
                    .get_or_create(&NoLabels::default())
                    .set(seconds);
            }
            None => self.not_after.clear(),
        }
    }

    pub(crate) fn refuse(&self, what: What, reason: Reason) {
        self.refused
            .get_or_create(&RefusedLabels {
                what: what.name(),
                reason: reason.name(),
            })
            .inc();
    }

    #[cfg(test)]
    pub(crate) fn refused(&self, what: What, reason: Reason) -> u64 {
        self.refused
            .get_or_create(&RefusedLabels {
                what: what.name(),
                reason: reason.name(),
            })
            .get()
    }
}

/// Counters at zero, so that a rate can be taken before the first event.
fn zeros(outcomes: &[&'static str]) -> Family<OutcomeLabel, Counter> {
    let family = Family::<OutcomeLabel, Counter>::default();
    for outcome in outcomes {
        drop(family.get_or_create(&OutcomeLabel { outcome }));
    }
    family
}
