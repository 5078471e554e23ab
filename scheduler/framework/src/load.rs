//! What a node carries, as plugins see it: one row per node, made by the load model.
//!
//! Units: millicores, bytes, bytes per second. A value that could not be measured is
//! `None`; capacity is what the machine has, not what pods may request.

use std::time::Duration;

/// The resources that load is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadResource {
    /// Millicores.
    Cpu,
    /// Bytes.
    Memory,
    /// Bytes per second towards the node.
    Rx,
    /// Bytes per second from the node.
    Tx,
}

/// One node's load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodeLoad {
    /// Millicores.
    pub cpu: ResourceLoad,
    /// Bytes.
    pub memory: ResourceLoad,
    /// Bytes per second towards the node.
    pub rx: ResourceLoad,
    /// Bytes per second from the node.
    pub tx: ResourceLoad,
    /// How far `used` rests on measurement: 1 fresh, falling to 0 with the sample's age
    /// (`docs/load-model.md`, data age).
    pub confidence: f64,
    /// Age of the newest sample at the snapshot; `None` if the node never reported.
    pub sample_age: Option<Duration>,
    /// Pressure, where measured.
    pub pressure: Pressure,
}

/// One resource of one node. `used` is the figure to judge by; the others explain it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ResourceLoad {
    /// The newest figure of the agent.
    pub measured: Option<f64>,
    /// What pods placed or started lately use beyond what `measured` shows of them.
    pub in_flight: f64,
    /// What `measured` still shows of pods that have ended.
    pub departing: f64,
    /// What the node's pods are expected to use, from estimates: stands in as the sample ages.
    pub expected: Option<f64>,
    /// The blend: what the node carries now. `None` if nothing is known of it.
    pub used: Option<f64>,
    /// `used` with the 95th percentile of the last five minutes in the measurement's place, where
    /// that is larger: what the node carries at its peaks. `None` where the agent has too few
    /// samples for one.
    pub used_p95: Option<f64>,
    /// What the machine has. `None` if unknown (an unknown link speed): the resource is then
    /// left out of every judgement.
    pub capacity: Option<f64>,
}

/// Whether load is to be judged at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// Rows are as good as their age says.
    #[default]
    Live,
    /// So many agents fell silent at once that the pipeline is at fault, not the nodes: nobody
    /// is rejected for load or for silence; rows still order nodes.
    BrownOut,
    /// Switched off by a person: all rows are empty.
    Off,
}

/// Share of time, 0..1, in which some task waited (pressure stall information).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: Option<f32>,
    /// For memory.
    pub memory: Option<f32>,
    /// For IO.
    pub io: Option<f32>,
}

/// What a pod will use before it is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PodEstimate {
    /// Millicores.
    pub cpu: f64,
    /// Bytes.
    pub memory: f64,
    /// Bytes per second towards the pod.
    pub rx: f64,
    /// Bytes per second from the pod.
    pub tx: f64,
}

// === impl LoadResource ===

impl LoadResource {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Memory, Self::Rx, Self::Tx];

    /// The name in metrics, records and reasons.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Rx => "rx",
            Self::Tx => "tx",
        }
    }
}

// === impl NodeLoad ===

impl NodeLoad {
    /// The row of one resource.
    pub fn get(&self, resource: LoadResource) -> &ResourceLoad {
        match resource {
            LoadResource::Cpu => &self.cpu,
            LoadResource::Memory => &self.memory,
            LoadResource::Rx => &self.rx,
            LoadResource::Tx => &self.tx,
        }
    }

    /// The row of one resource, to change.
    pub fn get_mut(&mut self, resource: LoadResource) -> &mut ResourceLoad {
        match resource {
            LoadResource::Cpu => &mut self.cpu,
            LoadResource::Memory => &mut self.memory,
            LoadResource::Rx => &mut self.rx,
            LoadResource::Tx => &mut self.tx,
        }
    }
}

// === impl ResourceLoad ===

impl ResourceLoad {
    /// Share of capacity in use once `extra` is added; `None` where use or capacity is
    /// unknown.
    pub fn ratio_with(&self, extra: f64) -> Option<f64> {
        let capacity = self.capacity.filter(|capacity| *capacity > 0.0)?;
        Some((self.used? + extra).max(0.0) / capacity)
    }
}

// === impl PodEstimate ===

impl PodEstimate {
    /// The estimate of one resource.
    pub fn get(&self, resource: LoadResource) -> f64 {
        match resource {
            LoadResource::Cpu => self.cpu,
            LoadResource::Memory => self.memory,
            LoadResource::Rx => self.rx,
            LoadResource::Tx => self.tx,
        }
    }
}
