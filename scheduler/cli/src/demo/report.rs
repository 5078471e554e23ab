//! What the demo found, as values: two runs, the real node, what follows.
//!
//! The JSON form (`--json`) is described in `docs/demo.md`; a field is never renamed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cast::HOT;

/// Everything.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Version of Plimsoll.
    pub(crate) version: &'static str,
    /// Load from which a node counts as hot (share of CPU capacity).
    pub(crate) hot_threshold: f64,
    /// Replicas that arrive in each run, those that fit nowhere included.
    pub(crate) replicas: usize,
    /// Requests only first, Plimsoll second.
    pub(crate) runs: Vec<RunReport>,
    /// This machine, measured by the real agent.
    pub(crate) real_node: RealNode,
    /// What follows.
    pub(crate) verdict: Verdict,
}

/// One run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunReport {
    /// `requests-only` or `plimsoll`.
    pub(crate) policy: &'static str,
    /// Replicas that found a node.
    pub(crate) bound: usize,
    /// Replicas that found none.
    pub(crate) pending: usize,
    /// Message of the pods that found none, and how many have it.
    pub(crate) pending_reasons: BTreeMap<String, usize>,
    /// Simulated nodes over the threshold.
    pub(crate) hot_nodes: Vec<String>,
    /// Largest load of a simulated node (demand as a share of capacity: may exceed 1).
    pub(crate) max_load: f64,
    /// 99th percentile of the simulated nodes' load.
    pub p99_load: f64,
    /// Mean load of the simulated nodes.
    pub(crate) mean_load: f64,
    /// All nodes.
    pub(crate) nodes: Vec<NodeReport>,
    /// Who holds requests that nobody uses, most first.
    pub(crate) unused_requests: Vec<UnusedRequest>,
    /// Age of the measurement that a decision rested on, over all decisions.
    pub(crate) sample_age: Option<AgeSummary>,
    /// What the embedded API server counted of the scheduler's and the agents' requests.
    pub(crate) api: ApiSummary,
    /// How long the run took, in seconds.
    pub(crate) seconds: f64,
}

/// One node after a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeReport {
    /// Its name.
    pub(crate) name: String,
    /// Whether the node is simulated.
    pub(crate) simulated: bool,
    /// CPU demanded as a share of capacity; `null` where it was not measured.
    pub(crate) load: Option<f64>,
    /// CPU requested as a share of allocatable.
    pub(crate) requested: f64,
    /// Pods on it.
    pub(crate) pods: usize,
    /// Of these, how many came in this run.
    pub(crate) placed: usize,
}

/// Requests of one owner that nobody uses.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnusedRequest {
    /// `namespace/name` of the Deployment.
    pub(crate) owner: String,
    /// Its running pods.
    pub(crate) pods: usize,
    /// Nodes they are on.
    pub(crate) nodes: usize,
    /// Cores they ask for.
    pub(crate) requested_cores: f64,
    /// Cores they use.
    pub(crate) used_cores: f64,
}

/// Ages in seconds.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgeSummary {
    /// Ages looked at.
    pub(crate) count: usize,
    /// Median.
    pub p50_seconds: f64,
    /// 99th percentile.
    pub p99_seconds: f64,
    /// Largest.
    pub(crate) max_seconds: f64,
}

/// Writes by kind.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiSummary {
    /// Bindings.
    pub(crate) bindings: u64,
    /// Patches of a pod's status.
    pub(crate) pod_status: u64,
    /// Events.
    pub(crate) events: u64,
    /// All other writes: load that went through the API server would be here.
    pub(crate) other: u64,
}

/// This machine.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RealNode {
    /// Its name in the story.
    pub(crate) name: &'static str,
    /// The newest sample of the real agent; `null` if none came.
    pub(crate) last_sample: Option<RealSample>,
}

/// A sample of the real agent as the scheduler took it; `null` where it was not measured.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RealSample {
    /// CPU of the machine, millicores.
    pub(crate) capacity_millicores: Option<f64>,
    /// CPU in use, millicores.
    pub(crate) cpu_millicores: Option<f64>,
    /// Memory of the machine, bytes.
    pub(crate) capacity_memory_bytes: Option<f64>,
    /// Memory in use, bytes.
    pub(crate) memory_bytes: Option<f64>,
    /// Bytes per second received.
    pub(crate) rx_bytes_per_second: Option<f64>,
    /// Bytes per second sent.
    pub(crate) tx_bytes_per_second: Option<f64>,
    /// Age when it was read, seconds.
    pub(crate) age_seconds: f64,
}

/// What follows.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    /// Hot simulated nodes with requests only.
    pub(crate) hot_requests_only: usize,
    /// Hot simulated nodes with Plimsoll.
    pub(crate) hot_plimsoll: usize,
    /// Nodes that only Plimsoll made hot.
    pub(crate) newly_hot: Vec<String>,
    /// Plimsoll has fewer hot nodes and none of its own.
    pub(crate) ok: bool,
}

// === impl Verdict ===

impl Verdict {
    /// Compares the two runs.
    pub(crate) fn of(requests_only: &RunReport, plimsoll: &RunReport) -> Self {
        let newly_hot: Vec<String> = plimsoll
            .hot_nodes
            .iter()
            .filter(|node| !requests_only.hot_nodes.contains(node))
            .cloned()
            .collect();
        let (before, after) = (requests_only.hot_nodes.len(), plimsoll.hot_nodes.len());
        Self {
            hot_requests_only: before,
            hot_plimsoll: after,
            ok: after < before && newly_hot.is_empty(),
            newly_hot,
        }
    }
}

// === figures ===

/// Names of the simulated nodes over the threshold.
pub(crate) fn hot_nodes(nodes: &[NodeReport]) -> Vec<String> {
    let hot = |node: &&NodeReport| node.simulated && node.load.is_some_and(|load| load > HOT);
    nodes
        .iter()
        .filter(hot)
        .map(|node| node.name.clone())
        .collect()
}

/// The value below which `share` of `values` lie (nearest rank); `None` of nothing.
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1)))
        .copied()
}

/// Sums up ages; `None` of nothing.
pub(crate) fn age_summary(ages: &[f64]) -> Option<AgeSummary> {
    Some(AgeSummary {
        count: ages.len(),
        p50_seconds: quantile(ages, 0.50)?,
        p99_seconds: quantile(ages, 0.99)?,
        max_seconds: quantile(ages, 1.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(hot_nodes: &[&str]) -> RunReport {
        RunReport {
            policy: "test",
            bound: 0,
            pending: 0,
            pending_reasons: BTreeMap::new(),
            hot_nodes: hot_nodes.iter().map(|name| (*name).to_owned()).collect(),
            max_load: 0.0,
            p99_load: 0.0,
            mean_load: 0.0,
            nodes: Vec::new(),
            unused_requests: Vec::new(),
            sample_age: None,
            api: ApiSummary::default(),
            seconds: 0.0,
        }
    }

    #[test]
    fn fewer_hot_nodes_and_none_of_its_own_is_what_is_wanted() {
        assert!(Verdict::of(&run(&["a", "b"]), &run(&["a"])).ok);
        assert!(!Verdict::of(&run(&["a", "b"]), &run(&["c"])).ok);
        assert!(!Verdict::of(&run(&["a"]), &run(&["a"])).ok);
    }

    #[test]
    fn a_quantile_is_a_value_that_was_seen() {
        let values = [3.0, 1.0, 2.0, 4.0];
        assert_eq!(quantile(&values, 0.5), Some(2.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_real_node_never_counts_as_hot() {
        let node = |name: &str, simulated, load| NodeReport {
            name: name.to_owned(),
            simulated,
            load,
            requested: 0.0,
            pods: 0,
            placed: 0,
        };
        let nodes = [
            node("a", true, Some(0.9)),
            node("b", false, Some(0.9)),
            node("c", true, None),
        ];
        assert_eq!(hot_nodes(&nodes), ["a"]);
    }
}
