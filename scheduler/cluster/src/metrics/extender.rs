//! Calls to HTTP extenders. Takes each call, gives the series.

use std::time::Duration;

use plimsoll_extender::Verb;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::{BUCKETS, FIRST_BUCKET_S};

/// The series. As many as the file has extenders, times verbs and outcomes.
#[derive(Debug, Clone)]
pub(crate) struct ExtenderSeries {
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram, fn() -> Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    extender: String,
    verb: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    extender: String,
    verb: &'static str,
}

// === impl ExtenderSeries ===

impl Default for ExtenderSeries {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(FIRST_BUCKET_S, 2.0, BUCKETS))
            }),
        }
    }
}

impl ExtenderSeries {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "plimsoll_extender_requests",
            "Calls to HTTP extenders by extender, verb and outcome",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "plimsoll_extender_request_duration",
            "Time from a call to an HTTP extender to its whole answer, or to giving up",
            Unit::Seconds,
            self.durations.clone(),
        );
    }

    /// Counts one call to the extender at `url_prefix`.
    pub(crate) fn asked(
        &self,
        url_prefix: &str,
        verb: Verb,
        outcome: &'static str,
        took: Duration,
    ) {
        let (extender, verb) = (without_password(url_prefix), verb.name());
        let labels = DurationLabels {
            extender: extender.clone(),
            verb,
        };
        let duration = self.durations.get_or_create(&labels);
        duration.observe(took.as_secs_f64());
        drop(duration);
        let labels = RequestLabels {
            extender,
            verb,
            outcome,
        };
        self.requests.get_or_create(&labels).inc();
    }
}

/// A URL prefix without `user:password@`.
fn without_password(url_prefix: &str) -> String {
    let Some((scheme, rest)) = url_prefix.split_once("://") else {
        return url_prefix.to_owned();
    };
    let path = rest.find('/').unwrap_or(rest.len());
    let host = rest[..path].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host..])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_extender::Verb;

    use super::without_password;
    use crate::metrics::Metrics;

    #[test]
    fn calls_are_counted_by_extender_verb_and_outcome() {
        let metrics = Metrics::default();
        let series = metrics.extender();
        series.asked("http://h:1/x", Verb::Filter, "ok", Duration::from_millis(3));
        let labels = r#"{extender="http://h:1/x",verb="filter""#;
        for series in [
            format!(r#"plimsoll_extender_requests_total{labels},outcome="ok"}}"#),
            format!("plimsoll_extender_request_duration_seconds_count{labels}}}"),
        ] {
            assert_eq!(metrics.value(&series).as_deref(), Some("1"), "{series}");
        }
    }

    #[test]
    fn no_series_has_a_password() {
        let plain = "http://extender:80/a@b";
        assert_eq!(without_password("http://me:secret@extender:80/a@b"), plain);
        assert_eq!(without_password(plain), plain);
        assert_eq!(without_password("http://me:secret@h"), "http://h");
        assert_eq!(without_password("nonsense"), "nonsense");
    }
}
