//! The native sampler: takes the mounted `/proc` and `/sys`, gives one [`NodeSample`] per
//! tick. Files are opened once and read in place; a tick allocates nothing and walks no
//! folder. What needs walks (links, their speed, cgroups) is a [`Survey`] beside the tick.
//!
//! All rates of a tick divide by the time between the `at` of two ticks: the files are read
//! within a fraction of a millisecond after it, those of CPU first.

mod cgroup;
mod counter;
pub mod counters;
mod cpu;
mod file;
#[cfg(test)]
mod fixture;
mod memory;
mod network;
mod parse;
mod pressure;
mod root;
mod stat;
pub mod survey;

use std::time::Duration;

use crate::usage::{Counters, Inventory, Machine, NodeSample, Pressure, Source, Survey};
use counter::Tick;
use cpu::Cpu;
use file::Buffer;
use memory::Memory;
use network::Network;
use pressure::Pressures;

pub use cpu::{CpuReading, CpuSource};
pub use memory::MemoryReading;
pub use network::{Interface, NetworkSource, NoNetwork, Rates};
pub use root::HostRoot;

/// Periods after which a difference says nothing of the present: the machine slept or the
/// agent was stopped.
pub const LONGEST_GAP_PERIODS: u32 = 3;
/// Links and cgroups that come or go are seen this soon at the latest.
const WALK_EVERY: Duration = Duration::from_secs(10);
/// A walk because something vanished comes no sooner than this after the last.
const WALK_AGAIN_AFTER: Duration = Duration::from_secs(2);
/// `speed` takes the kernel's network lock, and links rarely change it.
const SPEEDS_EVERY: Duration = Duration::from_mins(1);

/// The sampler of one node.
#[derive(Debug)]
pub struct NodeSampler {
    root: HostRoot,
    period: Duration,
    buffer: Buffer,
    cpu: Cpu,
    memory: Memory,
    network: Network,
    pressures: Pressures,
    counters: Counters,
    sample: NodeSample,
    readings: Readings,
    last_at: Option<Duration>,
    walked_at: Option<Duration>,
    speeds_at: Option<Duration>,
}

/// The newest tick in detail.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// CPU and where it came from.
    pub cpu: CpuReading,
    /// Memory and its parts.
    pub memory: MemoryReading,
    /// All physical links together.
    pub network: Rates,
    /// Shares of time in which some task waited.
    pub pressure: Pressure,
}

impl NodeSampler {
    /// A sampler of the node below `root` with the nominal time `period` between samples.
    /// Makes the first survey at once: may block like [`Survey::run`].
    pub fn open(root: HostRoot, period: Duration) -> Self {
        let mut sampler = Self {
            period,
            buffer: Buffer::new(),
            cpu: Cpu::new(&root),
            memory: Memory::new(&root),
            network: Network::new(&root),
            pressures: Pressures::new(&root),
            counters: Counters::default(),
            sample: NodeSample::default(),
            readings: Readings::default(),
            last_at: None,
            walked_at: None,
            speeds_at: None,
            root: root.clone(),
        };
        sampler.move_to(root);
        // A count of CPUs for `machine` before the first sample.
        sampler.readings.cpu.cpus = sampler.cpu.read_online(&mut sampler.buffer);
        sampler.readings.memory = sampler
            .memory
            .step(&mut sampler.buffer, &mut Counters::default());
        sampler
    }

    /// Goes on at another tree, with the differences to the one before: how two recorded
    /// trees become one sample. Makes a survey at once.
    pub fn move_to(&mut self, root: HostRoot) {
        let survey = Survey {
            root,
            known_speeds: None,
        };
        self.apply(survey.run());
    }

    /// The newest tick in detail.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// The physical links with the rates of the newest tick.
    pub fn interfaces(&self) -> impl Iterator<Item = Interface<'_>> {
        self.network.interfaces()
    }

    /// Where bandwidth is read, or why there is no such figure.
    ///
    /// # Errors
    /// The reason, for people.
    pub fn network_source(&self) -> Result<NetworkSource, NoNetwork> {
        self.network.source()
    }

    fn measure(&mut self, tick: Tick) {
        let (buffer, counters) = (&mut self.buffer, &mut self.counters);
        let cpu = self.cpu.step(tick, buffer, counters);
        let network = self.network.step(tick, buffer, counters);
        let pressure = self.pressures.step(tick, buffer, counters);
        let memory = self.memory.step(buffer, counters);
        self.readings = Readings {
            cpu,
            memory,
            network,
            pressure,
        };
        self.sample.cpu_millicores = cpu.millicores;
        self.sample.steal = cpu.steal;
        self.sample.untrusted = cpu.untrusted;
        self.sample.memory_bytes = memory.used_bytes;
        self.sample.rx_bytes_per_second = network.rx;
        self.sample.tx_bytes_per_second = network.tx;
        self.sample.link_bytes_per_second = self.network.capacity();
        self.sample.pressure = pressure;
    }
}

impl Source for NodeSampler {
    fn machine(&self) -> Machine {
        Machine {
            cpus: self.readings.cpu.cpus,
            memory_bytes: self.readings.memory.total_bytes,
            link_bytes_per_second: self.network.capacity(),
        }
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        let longest = self.period.saturating_mul(LONGEST_GAP_PERIODS);
        let interval = self
            .last_at
            .map_or(Duration::ZERO, |last| at.saturating_sub(last));
        self.counters.gaps += u64::from(interval > longest);
        self.last_at = Some(at);
        self.sample.taken_at = at;
        self.sample.interval = interval;
        self.measure(Tick { at, longest });
        &self.sample
    }

    fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    fn survey(&mut self, at: Duration) -> Option<Survey> {
        let since =
            |last: Option<Duration>| last.map_or(Duration::ZERO, |last| at.saturating_sub(last));
        // The survey of `open` had no time yet: it counts from the first call on.
        let (walked, speeds) = (since(self.walked_at), since(self.speeds_at));
        self.walked_at.get_or_insert(at);
        self.speeds_at.get_or_insert(at);
        let lost = self.network.wants_walk() || self.cpu.wants_walk();
        if walked < WALK_EVERY && !(lost && walked >= WALK_AGAIN_AFTER) {
            return None;
        }
        self.walked_at = Some(at);
        let known_speeds = (speeds < SPEEDS_EVERY).then(|| self.network.speeds().clone());
        if known_speeds.is_none() {
            self.speeds_at = Some(at);
        }
        Some(Survey {
            root: self.root.clone(),
            known_speeds,
        })
    }

    fn apply(&mut self, inventory: Inventory) {
        let root = inventory.root;
        self.cpu.apply(&root, inventory.cgroup);
        self.memory.apply(&root);
        self.network.apply(&root, inventory.network);
        self.pressures.apply(&root);
        self.root = root;
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests;
