//! Settings of the engine that are not in `KubeSchedulerConfiguration`.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_load::LoadOptions;

use crate::timing::Stopwatch;

/// Fewest requests for bindings in flight: with one request per 10 ms still 400 pods a
/// second, and few enough for a server that is out of breath.
pub const DEFAULT_MIN_BINDS: usize = 4;
/// Most requests for bindings in flight: above 32 an API server gains no throughput and the
/// rest of the cluster feels the queue (`ARCHITECTURE.md`).
pub const DEFAULT_MAX_BINDS: usize = 32;
/// Seed of the generator where none is given: any fixed number, so that two runs agree.
pub const DEFAULT_SEED: u64 = 0x0070_6C69_6D73_6F6C;

/// Settings of one engine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Seed of the draw among equally good nodes.
    pub seed: u64,
    /// The limit of requests in flight never falls below this; at least 1 is used.
    pub min_binds_in_flight: usize,
    /// The limit of requests in flight never grows above this.
    pub max_binds_in_flight: usize,
    /// Settings of the load model.
    pub load: LoadOptions,
    /// Whether load is judged from the start; `Event::LoadSwitched` changes it.
    pub load_on: bool,
    /// Link speeds by instance type, bytes per second.
    pub link_speeds: Arc<BTreeMap<Arc<str>, u64>>,
    /// Whether verdicts are kept for pods that are alike. Nothing that is decided depends on
    /// it; without, every node is judged for every pod.
    pub tables: bool,
    /// Whether this engine decides from the start; `Event::LeadingBegan` changes it.
    pub leads: bool,
    /// For figures of how long things take; nothing that is decided depends on it.
    pub stopwatch: Option<Stopwatch>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            seed: DEFAULT_SEED,
            min_binds_in_flight: DEFAULT_MIN_BINDS,
            max_binds_in_flight: DEFAULT_MAX_BINDS,
            load: LoadOptions::default(),
            load_on: true,
            link_speeds: Arc::default(),
            tables: true,
            leads: true,
            stopwatch: None,
        }
    }
}
