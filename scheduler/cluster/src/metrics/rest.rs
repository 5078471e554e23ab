//! Requests as client-go counts them: `rest_client_*`, so that dashboards of kube-scheduler
//! show them. Takes each request, gives the series.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Bounds of client-go (`component-base/metrics/prometheus/restclient`), seconds.
const SECONDS: [f64; 12] = [
    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0,
];
/// The code of a request without an answer, as client-go writes it.
const NO_ANSWER: &str = "<error>";

/// The series.
#[derive(Debug, Clone)]
pub(crate) struct RestSeries {
    host: Arc<OnceLock<String>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram, fn() -> Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    code: String,
    method: String,
    host: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    verb: String,
    host: String,
}

// === impl RestSeries ===

impl Default for RestSeries {
    fn default() -> Self {
        Self {
            host: Arc::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        }
    }
}

impl RestSeries {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "rest_client_requests",
            "Requests to the API server, by code, method and host",
            self.requests.clone(),
        );
        registry.register(
            "rest_client_request_duration_seconds",
            "Time of requests to the API server, watches apart, by verb and host",
            self.durations.clone(),
        );
    }

    /// Host and port of the API server; what was said first stays.
    pub(crate) fn set_host(&self, host: &str) {
        self.host.get_or_init(|| host.to_owned());
    }

    /// A request was answered with `code`, or not at all; `took` is not known of a stream.
    pub(crate) fn asked(&self, method: &Method, code: Option<StatusCode>, took: Option<Duration>) {
        let host = self.host.get().cloned().unwrap_or_default();
        let code = code.map_or_else(|| NO_ANSWER.to_owned(), |code| code.as_str().to_owned());
        if let Some(took) = took {
            let labels = DurationLabels {
                verb: method.to_string(),
                host: host.clone(),
            };
            let histogram = self.durations.get_or_create(&labels);
            histogram.observe(took.as_secs_f64());
        }
        let labels = RequestLabels {
            code,
            method: method.to_string(),
            host,
        };
        self.requests.get_or_create(&labels).inc();
    }
}
