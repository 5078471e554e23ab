//! What the agent counts of itself and the node's newest figures, for `/metrics`. Base
//! units; every name begins with `plimsoll_agent_`.

mod node;
mod process;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use crate::stream::Feed;
use crate::usage::Counters;

/// Prefix of every name.
const PREFIX: &str = "plimsoll_agent";
/// Smallest bucket of a sample's duration: a warm sample takes some 40 us.
const FIRST_BUCKET_SECONDS: f64 = 20e-6;
/// Buckets double from the first to over 0.6 s, where a tick begins to miss its period.
const BUCKETS: u16 = 16;

/// Handles to what the agent counts; clones count in the same place.
#[derive(Debug, Clone)]
pub struct Metrics {
    pub(crate) samples: Counter,
    pub(crate) sample_duration: Histogram,
    pub(crate) sample_period: Gauge<f64, AtomicU64>,
    pub(crate) slow_ticks: Counter,
    pub(crate) reports_sent: Counter,
    stream_connected: Gauge,
    streams: Family<StateLabel, Gauge>,
    reconnects: Family<ReconnectLabel, Counter>,
    pub(crate) counters: Arc<watch::Sender<Counters>>,
}

/// What a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamState {
    /// Dials, or waits for the answer to its first message.
    Connecting,
    /// The scheduler takes reports.
    Connected,
    /// Waits for its next attempt.
    Waiting,
}

impl StreamState {
    const ALL: [Self; 3] = [Self::Connecting, Self::Connected, Self::Waiting];

    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Waiting => "waiting",
        }
    }
}

/// A stream in a state, until it is dropped.
#[derive(Debug)]
pub(crate) struct InState {
    gauges: [Option<Gauge>; 2],
}

impl Drop for InState {
    fn drop(&mut self) {
        for gauge in self.gauges.iter().flatten() {
            gauge.dec();
        }
    }
}

/// Why a stream was opened anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reconnect {
    /// The scheduler's name was not resolved.
    Resolve,
    /// No connection.
    Connect,
    /// The call broke.
    Lost,
    /// No answer to the first message.
    Silent,
    /// The scheduler ended the stream.
    Closed,
    /// The agent samples at another pace than it said.
    Paced,
    /// The scheduler refused the stream.
    Refused,
    /// The scheduler said that it goes away.
    Drained,
}

impl Reconnect {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Lost => "lost",
            Self::Silent => "silent",
            Self::Closed => "closed",
            Self::Paced => "paced",
            Self::Refused => "refused",
            Self::Drained => "drained",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconnectLabel {
    reason: &'static str,
}

impl Metrics {
    /// Makes counters at zero that nobody exports yet.
    pub fn new() -> Self {
        Self {
            samples: Counter::default(),
            sample_duration: Histogram::new(exponential_buckets(
                FIRST_BUCKET_SECONDS,
                2.0,
                BUCKETS,
            )),
            sample_period: Gauge::default(),
            slow_ticks: Counter::default(),
            reports_sent: Counter::default(),
            stream_connected: Gauge::default(),
            streams: no_streams(),
            reconnects: Family::default(),
            counters: Arc::new(watch::Sender::new(Counters::default())),
        }
    }

    /// Gives a registry that exports these counters, the node's figures in `feed` and the
    /// cost of this process.
    pub fn registry(&self, feed: Feed) -> Registry {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register("samples", "Samples taken of the node", self.samples.clone());
        registry.register(
            "sample_duration_seconds",
            "Time that one sample took",
            self.sample_duration.clone(),
        );
        registry.register(
            "sample_period_seconds",
            "Time between two samples, longer than asked for while samples cost too much",
            self.sample_period.clone(),
        );
        registry.register(
            "slow_ticks",
            "Samples that took more than 5 ms of CPU time",
            self.slow_ticks.clone(),
        );
        registry.register(
            "reports_sent",
            "Reports given to the transport, over all schedulers",
            self.reports_sent.clone(),
        );
        registry.register(
            "stream_connected",
            "Schedulers that take this node's reports at this moment",
            self.stream_connected.clone(),
        );
        registry.register(
            "streams",
            "Streams to addresses of schedulers, by what they do at this moment",
            self.streams.clone(),
        );
        registry.register(
            "reconnects",
            "Streams that ended or did not begin, by reason",
            self.reconnects.clone(),
        );
        registry.register_collector(Box::new(node::Node::new(feed, self.counters.subscribe())));
        registry.register_collector(Box::new(process::Process));
        registry
    }

    /// Counts a stream in `state` until the answer is dropped.
    pub(crate) fn enter(&self, state: StreamState) -> InState {
        let label = StateLabel {
            state: state.name(),
        };
        let connected = state == StreamState::Connected;
        let gauges = [
            Some(self.streams.get_or_create(&label).clone()),
            connected.then(|| self.stream_connected.clone()),
        ];
        for gauge in gauges.iter().flatten() {
            gauge.inc();
        }
        InState { gauges }
    }

    /// Streams in any state.
    #[cfg(test)]
    pub(crate) fn streams_now(&self) -> i64 {
        let gauge = |state: StreamState| {
            let state = state.name();
            self.streams.get_or_create(&StateLabel { state }).get()
        };
        StreamState::ALL.into_iter().map(gauge).sum()
    }

    pub(crate) fn count_reconnect(&self, reason: Reconnect) {
        self.reconnects
            .get_or_create(&ReconnectLabel {
                reason: reason.name(),
            })
            .inc();
    }
}

/// Every state at zero, so that each is there from the start.
fn no_streams() -> Family<StateLabel, Gauge> {
    let family = Family::<StateLabel, Gauge>::default();
    for state in StreamState::ALL {
        let state = state.name();
        drop(family.get_or_create(&StateLabel { state }));
    }
    family
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
