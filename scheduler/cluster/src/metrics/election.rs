//! Leader election as client-go counts it, so that alerts for kube-scheduler work here.
//! Takes what happens to one lease, gives the series.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The series. Without an election they have no lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct ElectionSeries {
    master: Family<LeaseLabels, Gauge>,
    slow_paths: Family<LeaseLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LeaseLabels {
    name: String,
}

// === impl ElectionSeries ===

impl ElectionSeries {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "leader_election_master_status",
            "Whether this process holds the lease of this name: 1 or 0",
            self.master.clone(),
        );
        registry.register(
            "leader_election_slowpath",
            "Renewals that had to read the lease first",
            self.slow_paths.clone(),
        );
    }

    /// Whether this process holds the lease `name`.
    pub(crate) fn master(&self, name: &str, holds: bool) {
        let labels = LeaseLabels {
            name: name.to_owned(),
        };
        self.master.get_or_create(&labels).set(i64::from(holds));
    }

    /// So many more renewals had to read the lease first.
    pub(crate) fn slow_paths(&self, name: &str, count: u64) {
        let labels = LeaseLabels {
            name: name.to_owned(),
        };
        self.slow_paths.get_or_create(&labels).inc_by(count);
    }
}
