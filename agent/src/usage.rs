//! The vocabulary of the agent: what one tick measured ([`NodeSample`]), what goes to
//! the schedulers ([`NodeUsage`]), and the door through which samples come ([`Source`]).
//!
//! A `Source` gives raw samples; [`crate::window::Window`] turns them into figures. The
//! native sampler is one source, a simulated node is another: both speak the same stream.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_kernel::Kernel;

pub use crate::sample::counters::Counters;
pub use crate::sample::survey::{Inventory, Survey};

/// Something that measures one node.
///
/// The owner calls [`Source::sample`] once per period, then [`Source::survey`]; a survey
/// that is due runs on a blocking thread and comes back through [`Source::apply`].
pub trait Source: Send + 'static {
    /// What is known of the machine at this moment.
    fn machine(&self) -> Machine;

    /// Measures once, at `at` on the agent's monotonic clock. Never fails: what could not
    /// be measured is `None` in the sample and counted in [`Source::counters`].
    fn sample(&mut self, at: Duration) -> &NodeSample;

    /// Reads the pods that are due at `at`, after [`Source::sample`]; gives the table of all
    /// pods when one of them was read, `None` where nothing changed. A pod that ended stays in
    /// it long enough for every stream to hear of it.
    fn pods(&mut self, _at: Duration) -> Option<PodTable> {
        None
    }

    /// Sets the nominal time between two samples; a gap of more than three of them drops
    /// a sample. Sources without memory of their own need not listen.
    fn set_period(&mut self, _period: Duration) {}

    /// Gives the slow part of the work (directory walks, link speeds) when it is due at
    /// `at`. [`Survey::run`] may block for seconds: run it beside the tick, never on it.
    fn survey(&mut self, _at: Duration) -> Option<Survey> {
        None
    }

    /// Takes the result of a survey.
    fn apply(&mut self, _inventory: Inventory) {}

    /// What went wrong since the start, by reason.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// What the agent sees of the machine; `None` where it could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that are online.
    pub cpus: Option<u32>,
    /// Memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// Sum of the physical links' speeds in bytes per second, one direction.
    pub link_bytes_per_second: Option<u64>,
}

/// One raw sample of a node: each field is `None` where it could not be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSample {
    /// When, on the agent's monotonic clock.
    pub taken_at: Duration,
    /// The time that the rates cover, normally one period; zero in the first sample.
    pub interval: Duration,
    /// CPU in use, steal not counted, in millicores.
    pub cpu_millicores: Option<f64>,
    /// Memory that cannot be had back without harm, in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes per second received by physical links.
    pub rx_bytes_per_second: Option<f64>,
    /// Bytes per second sent by physical links.
    pub tx_bytes_per_second: Option<f64>,
    /// Pressure: shares of time in which some task waited.
    pub pressure: Pressure,
    /// Share of the CPU time that the hypervisor took, 0..1.
    pub steal: Option<f32>,
    /// Sum of the physical links' speeds in bytes per second, one direction.
    pub link_bytes_per_second: Option<u64>,
    /// Set while the figures cannot be trusted: they are then not sent.
    pub untrusted: Option<Untrusted>,
}

/// Pressure stall information: shares of time 0..1 in which some task waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: Option<f64>,
    /// For memory.
    pub memory: Option<f64>,
    /// For a disk.
    pub io: Option<f64>,
}

/// What one tick sends to the schedulers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeUsage {
    /// When the newest sample was taken, on the agent's monotonic clock.
    pub taken_at: Duration,
    /// The figures; one that has no sample is absent. Empty while `untrusted`.
    pub figures: Vec<UsageFigure>,
    /// Share of the CPU time that the hypervisor took, 0..1, smoothed like the CPU figure.
    pub steal: Option<f32>,
    /// Set while the figures cannot be trusted.
    pub untrusted: Option<Untrusted>,
    /// Sum of the physical links' speeds in bytes per second, one direction.
    pub link_bytes_per_second: Option<u64>,
}

/// One pod, as its cgroup was last read.
#[derive(Clone, Debug, PartialEq)]
pub struct PodUsage {
    /// The uid that names the cgroup: `metadata.uid`, or the config hash of a static pod.
    pub uid: Arc<str>,
    /// When it was read, on the agent's monotonic clock.
    pub taken_at: Duration,
    /// Age of the cgroup at that reading.
    pub age: Duration,
    /// The figures; one that could not be measured is absent.
    pub figures: Vec<UsageFigure>,
    /// No process is left in it.
    pub ended: bool,
}

/// All pods of a node, as last read: shared by all streams, replaced when one is read again.
pub type PodTable = Arc<[PodUsage]>;

/// One figure: a resource under a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageFigure {
    /// What was measured.
    pub resource: Resource,
    /// How the samples of the window became one value.
    pub kernel: Kernel,
    /// In the resource's own unit, see [`Resource`].
    pub value: f64,
    /// Time since the window of this figure began.
    pub window_age: Duration,
    /// Number of samples in the window.
    pub samples: u32,
}

/// What a figure measures, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Millicores.
    Cpu,
    /// Bytes.
    Memory,
    /// Bytes per second received by physical links.
    Rx,
    /// Bytes per second sent by physical links.
    Tx,
    /// Share of time 0..1 in which some task waited for a CPU.
    PsiCpu,
    /// Share of time 0..1 in which some task waited for memory.
    PsiMemory,
    /// Share of time 0..1 in which some task waited for a disk.
    PsiIo,
}

/// Why the figures of a node cannot be trusted. `Display` gives the words for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// `/proc/stat` shows another number of CPUs than are online: it is another machine's
    /// (lxcfs, gVisor, Kata), and no cgroup counter of the node itself can stand in.
    CpuLines {
        /// CPU lines of `/proc/stat`.
        stat: u32,
        /// CPUs of `/sys/devices/system/cpu/online`.
        online: u32,
    },
}

impl fmt::Display for Untrusted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CpuLines { stat, online } => write!(
                out,
                "/proc/stat shows {stat} CPUs but {online} are online: it describes another \
                 machine than this node"
            ),
        }
    }
}
