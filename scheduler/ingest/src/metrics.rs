//! What the telemetry server counts. Names begin with `plimsoll_ingest_`; no label names a
//! node.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Prefix of every name.
const PREFIX: &str = "plimsoll_ingest";
/// Smallest bucket of a sample's age at arrival: a report on a quiet network needs less
/// than a millisecond.
const FIRST_AGE_SECONDS: f64 = 0.001;
/// Buckets double from the first to over 500 s, near the largest age that is taken.
const AGE_BUCKETS: u16 = 20;

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A whole stream.
    Stream,
    /// A whole report; the stream goes on.
    Report,
    /// A pod of a report; the rest of the report counts.
    Pod,
    /// A figure of a report; the rest of the report counts.
    Figure,
}

impl What {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Report => "report",
            Self::Pod => "pod",
            Self::Figure => "figure",
        }
    }
}

/// Why it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Against the order of messages: no `Hello` first, or a second one.
    Protocol,
    /// Another version of the schema.
    Schema,
    /// A second node on one connection, or no node's name.
    Identity,
    /// A newer stream speaks for the node.
    Superseded,
    /// Too many bad reports in a row.
    Implausible,
    /// The limit of nodes is reached.
    Capacity,
    /// Not a message, too large, or values that cannot be.
    Malformed,
    /// An age that cannot be, or too old to be of use.
    Age,
    /// A sequence that does not grow.
    Replay,
    /// A kernel that this version does not know, or one without a width.
    Kernel,
    /// A resource that this version does not know.
    Resource,
    /// Not a number, or infinite.
    NotFinite,
    /// Below zero.
    Negative,
    /// More than four times what the machine can do.
    AboveCapacity,
}

impl Reason {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Schema => "schema",
            Self::Identity => "identity",
            Self::Superseded => "superseded",
            Self::Implausible => "implausible",
            Self::Capacity => "capacity",
            Self::Malformed => "malformed",
            Self::Age => "age",
            Self::Replay => "replay",
            Self::Kernel => "kernel",
            Self::Resource => "resource",
            Self::NotFinite => "not_finite",
            Self::Negative => "negative",
            Self::AboveCapacity => "above_capacity",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusedLabels {
    what: &'static str,
    reason: &'static str,
}

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
