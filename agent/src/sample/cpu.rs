//! The CPU figure: takes `/proc/stat`, the online list and the cgroup counters, gives the
//! CPU in use, from which source, and what steal took.
//!
//! The cgroup counters are the figure where the tree is the node's own; what they do not
//! hold is added from `/proc/stat` ([`unheld`]). Elsewhere `/proc/stat` is the figure. Where
//! it describes another machine (it lists more or fewer CPUs than are online), only the
//! counters of the container that is the node can stand in; else there is no figure.

mod unheld;

use serde::Serialize;

use super::cgroup::{CgroupTree, Exact, ExactCpu, Scope, Version};
use super::counter::Tick;
use super::counters::Counters;
use super::file::{Buffer, Extent, KeptFile};
use super::parse::cpu_list;
use super::root::HostRoot;
use super::stat::{Shares, Stat};
use crate::usage::Untrusted;
use unheld::Unheld;

/// Millicores of one CPU.
const CPU: f64 = 1000.0;
/// A figure this far above the capacity is a little time base error; above it, a mistake.
const OVERSHOOT: f64 = 1.05;
/// CPUs can go on- or offline between two files of one tick: only a second look in a row
/// makes a mismatch.
const MISMATCHES_TO_BELIEVE: u32 = 2;

/// Where a CPU figure came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSource {
    /// Root `cpuacct.usage`, and what it does not hold from `/proc/stat`.
    CgroupV1,
    /// `cpu.stat` of the groups, and what they do not hold from `/proc/stat`.
    CgroupV2,
    /// Timer ticks.
    ProcStat,
    /// Whatever sysinfo reads; steal counts as busy.
    Sysinfo,
}

/// What one tick found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuReading {
    /// CPU in use in millicores.
    pub millicores: Option<f64>,
    /// Where that came from.
    pub source: Option<CpuSource>,
    /// CPUs that are online: the denominator.
    pub cpus: Option<u32>,
    /// Busy share 0..1 by `/proc/stat` alone, the cross-check.
    pub tick_ratio: Option<f64>,
    /// Share of the CPU time that the hypervisor took, 0..1.
    pub steal: Option<f32>,
    /// Set where the files describe another machine and nothing can stand in.
    pub untrusted: Option<Untrusted>,
}

/// The reader.
#[derive(Debug)]
pub(crate) struct Cpu {
    stat_file: KeptFile,
    online_file: KeptFile,
    stat: Stat,
    exact: ExactCpu,
    unheld: Unheld,
    mismatches: u32,
}

impl Cpu {
    pub(crate) fn new(root: &HostRoot) -> Self {
        let (stat, online) = paths(root);
        Self {
            stat_file: KeptFile::new(stat, Extent::CpuLines),
            online_file: KeptFile::new(online, Extent::OnePiece),
            stat: Stat::default(),
            exact: ExactCpu::default(),
            unheld: Unheld::default(),
            mismatches: 0,
        }
    }

    pub(crate) fn apply(&mut self, root: &HostRoot, tree: Option<CgroupTree>) {
        let (stat, online) = paths(root);
        self.stat_file.point_at(stat);
        self.online_file.point_at(online);
        if tree.as_ref().map(|tree| tree.version) != self.exact.version() {
            self.unheld = Unheld::default();
        }
        self.exact.apply(tree);
    }

    /// True while the counters miss so much that the tree should be walked again.
    pub(crate) fn wants_walk(&self) -> bool {
        self.unheld.misses_a_group()
    }

    pub(crate) fn step(
        &mut self,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> CpuReading {
        // The figure that counts is read first, next to the time of the tick.
        let exact = self.exact.step(tick, buffer, counters);
        let shares = self.read_stat(tick, buffer, counters);
        let lines = self.stat.cpu_lines();
        let online = self.read_online(buffer);
        let cpus = online.or(lines);
        let exact = exact.filter(|exact| {
            let sane = cpus.is_none_or(|cpus| exact.millicores <= capacity(cpus) * OVERSHOOT);
            counters.implausible += u64::from(!sane);
            sane
        });
        let reading = CpuReading {
            cpus,
            ..CpuReading::default()
        };
        if let Some((stat, online)) = lines.zip(online).filter(|(stat, online)| stat != online) {
            self.mismatches = self.mismatches.saturating_add(1);
            return self.of_container(reading, exact, (stat, online), counters);
        }
        self.mismatches = 0;
        self.of_machine(reading, exact, shares, tick, counters)
    }

    fn read_stat(
        &mut self,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Option<Shares> {
        let Ok(text) = self.stat_file.read(buffer) else {
            counters.unreadable.stat += 1;
            return None;
        };
        self.stat.step(text, tick, counters)
    }

    /// How many CPUs are online.
    pub(crate) fn read_online(&mut self, buffer: &mut Buffer) -> Option<u32> {
        let text = self.online_file.read(buffer).ok()?;
        cpu_list(text).filter(|cpus| *cpus > 0)
    }

    /// The figure of a node that is a container while `/proc/stat` is the host's.
    fn of_container(
        &self,
        mut reading: CpuReading,
        exact: Option<Exact>,
        (stat, online): (u32, u32),
        counters: &mut Counters,
    ) -> CpuReading {
        if self.tree_is_the_node(online) {
            reading.millicores = exact.map(|exact| exact.millicores.min(capacity(online)));
            reading.source = exact.and_then(|_| self.source());
        } else if self.mismatches >= MISMATCHES_TO_BELIEVE {
            counters.untrusted += 1;
            reading.untrusted = Some(Untrusted::CpuLines { stat, online });
        }
        reading
    }

    /// True if the tree's root is the container that has exactly the CPUs that are online.
    /// The agent's own pod, with its small limit or none, is not.
    fn tree_is_the_node(&self, online: u32) -> bool {
        match self.exact.scope() {
            Some(Scope::Container {
                quota_cpus,
                holds_pods,
            }) => holds_pods || quota_cpus.is_some_and(|quota| quota.ceil() == f64::from(online)),
            Some(Scope::Machine) | None => false,
        }
    }

    fn of_machine(
        &mut self,
        mut reading: CpuReading,
        exact: Option<Exact>,
        shares: Option<Shares>,
        tick: Tick,
        counters: &mut Counters,
    ) -> CpuReading {
        reading.tick_ratio = shares.map(|shares| shares.busy);
        reading.steal = shares.map(|shares| shares.steal as f32);
        let Some(cpus) = reading.cpus else {
            return reading;
        };
        let capacity = capacity(cpus);
        let by_ticks = shares.map(|shares| shares.busy * capacity);
        let by_counters = match self.exact.scope() {
            // A node in a container beside others: the host's ticks are not its own.
            Some(Scope::Container {
                holds_pods: true, ..
            }) => exact.map(|exact| exact.millicores),
            Some(Scope::Container { .. }) | None => None,
            Some(Scope::Machine) => {
                if let Some((exact, shares)) = exact.zip(shares) {
                    self.unheld.learn(exact, shares, capacity, tick);
                }
                let fails = self.unheld.fails();
                counters.cross_check_failed += u64::from(fails);
                exact
                    .filter(|_| !fails)
                    .map(|exact| exact.millicores + self.added(shares, capacity))
            }
        };
        reading.source = if by_counters.is_some() {
            self.source()
        } else {
            by_ticks.map(|_| CpuSource::ProcStat)
        };
        reading.millicores = by_counters.or(by_ticks).map(|used| used.min(capacity));
        reading
    }

    fn added(&self, shares: Option<Shares>, capacity: f64) -> f64 {
        self.unheld.now(shares.map(|shares| shares.irq * capacity))
    }

    fn source(&self) -> Option<CpuSource> {
        self.exact.version().map(|version| match version {
            Version::V1 => CpuSource::CgroupV1,
            Version::V2 => CpuSource::CgroupV2,
        })
    }
}

fn capacity(cpus: u32) -> f64 {
    f64::from(cpus) * CPU
}

fn paths(root: &HostRoot) -> (std::path::PathBuf, std::path::PathBuf) {
    let online = root.sys.join("devices/system/cpu/online");
    (root.proc.join("stat"), online)
}

#[cfg(test)]
mod tests;
