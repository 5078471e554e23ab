//! A sample: what one node's agent said at one instant, as the load model takes it.
//!
//! Made by the telemetry server from the wire (and by the simulator from its world);
//! every value in it is finite and not negative. Given to
//! the load model.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_kernel::Kernel;

/// Everything one report of one node says.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Name of the node.
    pub node: Arc<str>,
    /// Random number of the agent's start: windows begin anew with a new one.
    pub start_id: u64,
    /// Grows within one start.
    pub sequence: u64,
    /// When the report arrived, on the engine's monotonic clock.
    pub arrived: Duration,
    /// Age of the sample at arrival (the agent's monotonic clock up to sending).
    pub age: Duration,
    /// Nominal time between two samples of this agent.
    pub period: Duration,
    /// What the agent sees of the machine.
    pub machine: Machine,
    /// Share of CPU time stolen by the hypervisor, 0..1.
    pub steal: Option<f32>,
    /// Why the agent does not trust its own figures; `figures` is empty then.
    pub untrusted: Option<Arc<str>>,
    /// Figures of the node.
    pub figures: Vec<Figure>,
    /// Figures of pods; a pod that is not named keeps its last ones.
    pub pods: Vec<PodSample>,
}

/// What the agent sees of the machine; `None` where it could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Machine {
    /// Online CPUs.
    pub cpus: Option<u32>,
    /// Bytes.
    pub memory: Option<u64>,
    /// Sum of the physical links' speeds, bytes per second.
    pub link: Option<u64>,
}

/// One value, what it measures and how samples became it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// What is measured; fixes the unit of `value`.
    pub meter: Meter,
    /// How samples became one value.
    pub kernel: Kernel,
    /// In the meter's unit.
    pub value: f64,
    /// Time since the window of this figure began.
    pub window: Duration,
    /// Number of samples in the window.
    pub samples: u32,
}

/// What a figure measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meter {
    /// Millicores in use.
    Cpu,
    /// Bytes in use.
    Memory,
    /// Bytes per second received.
    Rx,
    /// Bytes per second sent.
    Tx,
    /// Share of time in which some task waited for a CPU, 0..1.
    PressureCpu,
    /// Share of time in which some task waited for memory, 0..1.
    PressureMemory,
    /// Share of time in which some task waited for IO, 0..1.
    PressureIo,
}

/// Figures of one pod.
#[derive(Debug, Clone, PartialEq)]
pub struct PodSample {
    /// `metadata.uid`, or the config hash of a static pod.
    pub uid: Arc<str>,
    /// Age of the pod's cgroup when the pod was read, by the agent's clock.
    pub age: Duration,
    /// How long before the sample of the node the pod was read.
    pub behind: Duration,
    /// Figures.
    pub figures: Vec<Figure>,
    /// The cgroup has no process left.
    pub ended: bool,
}

// === impl Sample ===

impl Sample {
    /// When the sample was taken, on the engine's monotonic clock (network delay, which
    /// nobody can know without trusting a foreign clock, counts as none).
    pub fn taken_at(&self) -> Duration {
        self.arrived.saturating_sub(self.age)
    }
}
