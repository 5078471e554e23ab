//! The native sampler: takes the mounted `/proc` and `/sys`, gives one [`NodeSample`] per
//! tick. Files are opened once and read in place; a tick allocates nothing and walks no
//! folder. What needs walks (links, their speed, cgroups) is a [`Survey`] beside the tick.
//!
//! Each rate divides by the monotonic time between the two readings of its file, where the
//! sampler has a clock ([`NodeSampler::with_clock`]); without one a tick takes no time.

mod cgroup;
mod counter;
pub mod counters;
mod cpu;
mod cross_check;
mod file;
#[cfg(test)]
mod fixture;
mod memory;
mod network;
mod parse;
mod pods;
pub mod portable;
mod pressure;
mod root;
mod stat;
pub mod survey;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::clock::Clock;
use crate::usage::{Counters, Inventory, Machine, NodeSample, PodTable, Pressure, Source, Survey};
use counter::Pace;
use cpu::Cpu;
use cross_check::differences;
use file::Buffer;
use memory::Memory;
use network::{AskSpeeds, Network};
use pods::{PODS_EVERY, PodWalk, Pods};
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
/// A walk because pods came or went comes no sooner than this after the last.
const PODS_AGAIN_AFTER: Duration = Duration::from_millis(900);
/// `speed` takes the kernel's network lock, and links rarely change it.
const SPEEDS_EVERY: Duration = Duration::from_mins(1);

/// How a node is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum BackEnd {
    /// By this project's own reader of /proc, /sys and cgroups: exact, cheap, with pods.
    #[default]
    Native,
    /// By sysinfo: where those files are not as on Linux. No pods, steal or pressure.
    Sysinfo,
}

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
    pods: Pods,
    clock: Option<Clock>,
    /// What the operator says of the links, in bytes per second.
    link_speed: Option<u64>,
    counters: Counters,
    sample: NodeSample,
    readings: Readings,
    last_at: Option<Duration>,
    /// Of the newest tick.
    pace: Option<Pace>,
    walked_at: Option<Duration>,
    pods_walked_at: Option<Duration>,
    speeds_at: Option<Duration>,
    asking_speeds: Arc<AtomicBool>,
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
            pods: Pods::default(),
            clock: None,
            link_speed: None,
            counters: Counters::default(),
            sample: NodeSample::default(),
            readings: Readings::default(),
            last_at: None,
            pace: None,
            walked_at: None,
            pods_walked_at: None,
            speeds_at: None,
            asking_speeds: Arc::default(),
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
            machine: Some(self.ask_speeds(true)),
            pods: PodWalk::default(),
        };
        self.apply(survey.run());
    }

    /// Times each reading within a tick by `clock`, the one that gives the times of the ticks.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Takes the links' speed, in bytes per second and one direction, from the operator.
    #[must_use]
    pub fn with_link_speed(mut self, speed: Option<u64>) -> Self {
        self.link_speed = speed;
        self
    }

    /// Reads all pods at each [`Source::pods`]: for people who look at single samples.
    #[must_use]
    pub fn with_pods_at_every_tick(mut self) -> Self {
        self.pods.read_at_every_tick();
        self
    }

    /// Compares CPUs and memory with another opinion of the same machine, counts and gives
    /// the differences.
    pub fn cross_check(&mut self, other: Machine) -> Vec<String> {
        let differences = differences(self.machine(), other);
        self.counters.inventory_mismatches += differences.len() as u64;
        differences
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

    fn link_capacity(&self) -> Option<u64> {
        self.link_speed.or_else(|| self.network.capacity())
    }

    fn ask_speeds(&self, again: bool) -> AskSpeeds {
        AskSpeeds {
            known: self.network.speeds().clone(),
            again,
            waiting: Arc::clone(&self.asking_speeds),
        }
    }

    fn measure(&mut self, pace: Pace) {
        let (buffer, counters) = (&mut self.buffer, &mut self.counters);
        let cpu = self.cpu.step(pace.tick(), buffer, counters);
        let network = self.network.step(pace.tick(), buffer, counters);
        let pressure = self.pressures.step(pace.tick(), buffer, counters);
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
        self.sample.link_bytes_per_second = self.link_capacity();
        self.sample.pressure = pressure;
    }
}

impl Source for NodeSampler {
    fn machine(&self) -> Machine {
        Machine {
            cpus: self.readings.cpu.cpus,
            memory_bytes: self.readings.memory.total_bytes,
            link_bytes_per_second: self.link_capacity(),
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
        let pace = Pace::begin(at, longest, self.clock);
        self.pace = Some(pace);
        self.measure(pace);
        &self.sample
    }

    fn pods(&mut self, at: Duration) -> Option<PodTable> {
        let longest = self.period.max(PODS_EVERY) * LONGEST_GAP_PERIODS;
        // The node's files may have taken long: the tick goes on, it does not begin anew.
        let pace = self.pace.filter(|pace| pace.at() == at);
        let pace = pace.map_or_else(
            || Pace::begin(at, longest, self.clock),
            |pace| pace.with_longest(longest),
        );
        let cpus = self.readings.cpu.cpus;
        self.pods
            .step(&pace, cpus, &mut self.buffer, &mut self.counters)
    }

    fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    fn survey(&mut self, at: Duration) -> Option<Survey> {
        let since =
            |last: Option<Duration>| last.map_or(Duration::ZERO, |last| at.saturating_sub(last));
        // The survey of `open` had no time yet: it counts from the first call on.
        let (walked, speeds) = (since(self.walked_at), since(self.speeds_at));
        let pods_walked = since(self.pods_walked_at);
        self.walked_at.get_or_insert(at);
        self.speeds_at.get_or_insert(at);
        self.pods_walked_at.get_or_insert(at);
        let lost = self.network.wants_walk() || self.cpu.wants_walk();
        let all = walked >= WALK_EVERY || (lost && walked >= WALK_AGAIN_AFTER);
        if !all && (pods_walked < PODS_AGAIN_AFTER || !self.pods.wants_walk()) {
            return None;
        }
        self.pods_walked_at = Some(at);
        let mut pods = self.pods.walk(Some(pods_walked));
        let again = all && speeds >= SPEEDS_EVERY;
        if all {
            self.walked_at = Some(at);
        }
        if again {
            self.speeds_at = Some(at);
            // Another kubelet's folder may be there besides the one that is known.
            pods.known.clear();
        }
        Some(Survey {
            root: self.root.clone(),
            machine: all.then(|| self.ask_speeds(again)),
            pods,
        })
    }

    fn apply(&mut self, inventory: Inventory) {
        let root = inventory.root;
        if let Some(machine) = inventory.machine {
            self.counters.slow_speeds += u64::from(machine.network.links.too_slow);
            self.cpu.apply(&root, machine.cgroup);
            self.memory.apply(&root);
            self.network.apply(&root, machine.network);
            self.pressures.apply(&root);
        }
        let moved = root != self.root;
        self.pods.apply(inventory.pods, moved);
        self.root = root;
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests;
