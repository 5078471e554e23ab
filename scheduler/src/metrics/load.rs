//! Whether load is judged, how many nodes report, and what each node carries.
//!
//! Takes the engine's figures of load. Series per node are made at the scrape from the
//! newest snapshot, and only where a flag asks for them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use plimsoll_core::LoadStats;
use plimsoll_framework::{LoadMode, LoadResource, NodeInfo, NodeLoad, Snapshot};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

/// Series of load.
#[derive(Debug, Clone)]
pub(crate) struct LoadSeries {
    enabled: Gauge,
    brown_out: Gauge,
    brown_outs: Counter,
    nodes: Family<StateLabels, Gauge>,
    rows: Option<NodeRows>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

/// The nodes and their load as last seen, for series per node.
#[derive(Debug, Clone, Default)]
struct NodeRows(Arc<Mutex<Rows>>);

type Rows = Arc<[(Arc<NodeInfo>, NodeLoad)]>;

// === impl LoadSeries ===

impl LoadSeries {
    /// All series, registered; those per node if `per_node`.
    pub(crate) fn new(registry: &mut Registry, per_node: bool) -> Self {
        let series = Self {
            enabled: Gauge::default(),
            brown_out: Gauge::default(),
            brown_outs: Counter::default(),
            nodes: Family::default(),
            rows: per_node.then(NodeRows::default),
        };
        registry.register(
            "plimsoll_load_enabled",
            "Whether load is judged: 0 once a person has switched it off",
            series.enabled.clone(),
        );
        registry.register(
            "plimsoll_load_brown_out",
            "Whether so many agents fell silent at once that nobody is rejected for load",
            series.brown_out.clone(),
        );
        registry.register(
            "plimsoll_load_brown_outs",
            "Times that so many agents fell silent at once",
            series.brown_outs.clone(),
        );
        registry.register(
            "plimsoll_load_nodes",
            "Nodes by what their agents do: reporting, silent, never reported",
            series.nodes.clone(),
        );
        if let Some(rows) = &series.rows {
            registry.register_collector(Box::new(rows.clone()));
        }
        series
    }

    /// The figures now.
    pub(crate) fn set(&self, stats: &LoadStats) {
        self.enabled.set(i64::from(stats.mode != LoadMode::Off));
        self.brown_out
            .set(i64::from(stats.mode == LoadMode::BrownOut));
        let brown_outs = self.brown_outs.inner();
        brown_outs.store(stats.census.brown_outs, Ordering::Relaxed);
        let states = [
            ("reporting", stats.census.reporting),
            ("silent", stats.census.silent),
            ("never", stats.census.never),
        ];
        for (state, nodes) in states {
            self.nodes
                .get_or_create(&StateLabels { state })
                .set(nodes as i64);
        }
    }

    /// Whether series per node are wanted.
    pub(crate) fn wants_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// Keeps what the snapshot has of each node for the next scrape.
    pub(crate) fn set_rows(&self, snapshot: &Snapshot) {
        if let Some(kept) = &self.rows {
            let nodes = snapshot.nodes();
            let rows = nodes.map(|info| (Arc::clone(info), snapshot.load(info.id)));
            *kept.0.lock() = rows.collect();
        }
    }
}

// === impl NodeRows ===

impl Collector for NodeRows {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let rows = Arc::clone(&self.0.lock());
        if rows.is_empty() {
            return Ok(());
        }
        let mut metric = encoder.encode_descriptor(
            "plimsoll_node_load_ratio",
            "Share of a node's capacity (of its allocatable, for what is requested)",
            None,
            MetricType::Gauge,
        )?;
        for (info, load) in &*rows {
            for resource in LoadResource::ALL {
                encode_row(&mut metric, info, load, resource)?;
            }
        }
        Ok(())
    }
}

fn encode_row(
    metric: &mut MetricEncoder<'_>,
    info: &NodeInfo,
    load: &NodeLoad,
    resource: LoadResource,
) -> Result<(), fmt::Error> {
    for (kind, ratio) in ratios(info, load, resource) {
        let Some(ratio) = ratio else { continue };
        let labels = [
            ("node", &**info.name()),
            ("resource", resource.as_str()),
            ("kind", kind),
        ];
        ConstGauge::new(ratio).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

/// What is not known has no series: it is not zero.
fn ratios(
    info: &NodeInfo,
    load: &NodeLoad,
    resource: LoadResource,
) -> [(&'static str, Option<f64>); 4] {
    let row = load.get(resource);
    let capacity = row.capacity.filter(|capacity| *capacity > 0.0);
    let of_capacity = |amount: f64| Some(amount / capacity?);
    let allocatable = info.allocatable();
    let requested = match resource {
        LoadResource::Cpu => share(info.requested.cpu, allocatable.cpu),
        LoadResource::Memory => share(info.requested.memory, allocatable.memory),
        LoadResource::Rx | LoadResource::Tx => None,
    };
    [
        ("measured", row.measured.and_then(of_capacity)),
        ("inflight", of_capacity(row.in_flight)),
        ("expected", row.expected.and_then(of_capacity)),
        ("requested", requested),
    ]
}

fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_core::LoadCensus;
    use plimsoll_framework::test_util::{cluster, load, node, pod};

    use super::*;

    fn page(registry: &Registry) -> String {
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, registry).unwrap();
        page
    }

    #[test]
    fn the_switch_and_the_census_stand_on_the_page() {
        let mut registry = Registry::default();
        let series = LoadSeries::new(&mut registry, false);
        let mut stats = LoadStats {
            mode: LoadMode::BrownOut,
            since: Duration::ZERO,
            census: LoadCensus::default(),
        };
        stats.census.silent = 3;
        stats.census.brown_outs = 1;
        series.set(&stats);
        let text = page(&registry);
        for line in [
            "plimsoll_load_enabled 1",
            "plimsoll_load_brown_out 1",
            "plimsoll_load_brown_outs_total 1",
            "plimsoll_load_nodes{state=\"silent\"} 3",
            "plimsoll_load_nodes{state=\"never\"} 0",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        stats.mode = LoadMode::Off;
        series.set(&stats);
        assert!(page(&registry).contains("plimsoll_load_enabled 0"));
    }

    #[test]
    fn a_node_has_series_of_what_is_known_of_it_and_no_others() {
        let mut registry = Registry::default();
        let series = LoadSeries::new(&mut registry, true);
        let snapshot = cluster([node("a").cpu("4").memory("8Gi")])
            .pods([pod("p").cpu("1").on("a")])
            .load([load("a").cpu("2")])
            .snapshot();
        series.set_rows(&snapshot);
        let text = page(&registry);
        let of = |resource: &str, kind: &str| {
            format!(
                "plimsoll_node_load_ratio{{node=\"a\",resource=\"{resource}\",kind=\"{kind}\"}}"
            )
        };
        assert!(
            text.contains(&format!("{} 0.25", of("cpu", "requested"))),
            "{text}"
        );
        assert!(text.contains(&of("cpu", "measured")), "{text}");
        assert!(!text.contains(&of("rx", "measured")), "{text}");
        assert!(!text.contains(&of("rx", "requested")), "{text}");
    }
}
