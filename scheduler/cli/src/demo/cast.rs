//! Who is in the story: nodes, what runs on them already, what comes.
//!
//! Takes nothing, gives the same cast every time. Shares are of a node's CPU capacity.

use std::f64::consts::TAU;
use std::time::Duration;

/// CPU of a simulated node, in millicores.
pub(crate) const NODE_MILLICORES: f64 = 8000.0;
/// Memory of a simulated node, in bytes (32 GiB).
pub(crate) const NODE_MEMORY: f64 = 32.0 * GIB;
/// Link of a simulated node, in bytes per second (10 Gbit/s).
pub(crate) const NODE_LINK: f64 = 1.25e9;
/// Name of the node that is this machine.
pub(crate) const REAL_NODE: &str = "this-machine";
/// The profile in both runs.
pub(crate) const SCHEDULER_NAME: &str = "plimsoll";
/// Load from which a node counts as hot.
pub(crate) const HOT: f64 = 0.80;
/// Replicas of the Deployment that arrives.
pub(crate) const REPLICAS: usize = 40;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// A node of the story.
#[derive(Debug, Clone)]
pub(crate) struct NodeRole {
    /// Its name.
    pub(crate) name: String,
    /// Load that no pod's request shows: daemons, bursts, another scheduler's work.
    pub(crate) hidden: Wave,
    /// What runs there already.
    pub(crate) tenants: Vec<Workload>,
}

/// A share of the node's CPU that rises and falls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wave {
    mean: f64,
    swing: f64,
    phase: f64,
}

/// Pods of one owner: what each asks for and what it really uses.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// Namespace.
    pub(crate) namespace: &'static str,
    /// Name of the Deployment.
    pub(crate) name: &'static str,
    /// How many pods (per node, for tenants).
    pub(crate) count: usize,
    /// CPU request, millicores.
    pub(crate) request_millicores: f64,
    /// CPU really used, millicores.
    pub(crate) use_millicores: f64,
    /// Memory request, bytes.
    pub(crate) request_memory: f64,
    /// Memory really used, bytes.
    pub(crate) use_memory: f64,
}

/// How long a wave of hidden load takes.
const WAVE_PERIOD: Duration = Duration::from_secs(20);
/// Hot nodes: busy with work that no request shows.
const HOT_NODES: usize = 8;
/// Nodes whose requests tell about the truth.
const HONEST_NODES: usize = 13;
/// Nodes full of requests that nobody uses.
const HOARDED_NODES: usize = 10;

/// All simulated nodes.
pub(crate) fn simulated_nodes() -> Vec<NodeRole> {
    let hot = (0..HOT_NODES).map(|_| {
        (
            0.70,
            0.02,
            vec![tenant("platform", "gateway", 2, 500.0, 200.0)],
        )
    });
    let honest =
        (0..HONEST_NODES).map(|_| (0.05, 0.02, vec![tenant("shop", "orders", 4, 1000.0, 550.0)]));
    let hoarded = (0..HOARDED_NODES).map(|_| {
        (
            0.04,
            0.01,
            vec![tenant("finance", "ledger", 4, 1900.0, 60.0)],
        )
    });
    hot.chain(honest)
        .chain(hoarded)
        .enumerate()
        .map(|(index, (mean, swing, tenants))| NodeRole {
            name: format!("node-{:02}", index + 1),
            hidden: Wave {
                mean,
                swing,
                phase: index as f64,
            },
            tenants,
        })
        .collect()
}

/// The Deployment that arrives: it uses more than it asks for.
pub(crate) fn arriving() -> Workload {
    Workload {
        count: REPLICAS,
        ..tenant("shop", "web", REPLICAS, 500.0, 800.0)
    }
}

/// A Deployment that asks for nearly a whole node: it fits nowhere by requests.
pub(crate) fn unplaceable() -> Workload {
    tenant("research", "report", 4, 7500.0, 3000.0)
}

fn tenant(
    namespace: &'static str,
    name: &'static str,
    count: usize,
    request_millicores: f64,
    use_millicores: f64,
) -> Workload {
    Workload {
        namespace,
        name,
        count,
        request_millicores,
        use_millicores,
        request_memory: 512.0 * MIB,
        use_memory: 300.0 * MIB,
    }
}

// === impl Wave ===

impl Wave {
    /// The share at `at`.
    pub(crate) fn at(self, at: Duration) -> f64 {
        let turn = at.as_secs_f64() / WAVE_PERIOD.as_secs_f64();
        self.mean + self.swing * (TAU * turn + self.phase).sin()
    }
}
