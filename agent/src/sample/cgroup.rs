//! Reads the CPU counters of the cgroup tree, each tick. They come from the scheduler's own
//! clock, while `/proc/stat` counts who runs when the timer ticks and is far off for
//! periodic loads.

mod tree;

use super::counter::{Counter, Growth, Tick};
use super::counters::Counters;
use super::file::{Buffer, Extent, Failure, KeptFile};
use super::parse::{keyed, single_number};
pub(crate) use tree::{CgroupTree, Scope, Version};

/// Millicores of one CPU.
const CPU: f64 = 1000.0;

/// What the counters grew by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Exact {
    pub(crate) millicores: f64,
    /// The part spent in the kernel on behalf of tasks, where the files say it.
    pub(crate) system_millicores: Option<f64>,
}

/// The reader of a tree's counters.
#[derive(Debug, Default)]
pub(crate) struct ExactCpu {
    tree: Option<(Version, Scope)>,
    groups: Vec<Group>,
}

impl ExactCpu {
    /// Takes what a walk found; counters of groups that are still there go on.
    pub(crate) fn apply(&mut self, tree: Option<CgroupTree>) {
        let Some(tree) = tree else {
            *self = Self::default();
            return;
        };
        if self.version() != Some(tree.version) {
            self.groups.clear();
        }
        self.tree = Some((tree.version, tree.scope));
        self.groups
            .retain(|group| tree.files.iter().any(|(name, _)| *name == group.name));
        for (name, path) in tree.files {
            match self.groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.file.point_at(path),
                None => self.groups.push(Group {
                    name,
                    file: KeptFile::new(path, Extent::OnePiece),
                    usage: Counter::default(),
                    system: Counter::default(),
                }),
            }
        }
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.tree.map(|(version, _)| version)
    }

    pub(crate) fn scope(&self) -> Option<Scope> {
        self.tree.map(|(_, scope)| scope)
    }

    /// Reads all counters and adds up what they grew by. A group that is new, or gone, adds
    /// nothing; one that is there but has no difference leaves the sum without a value.
    pub(crate) fn step(
        &mut self,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Option<Exact> {
        let version = self.version()?;
        let mut sum = None;
        let mut broken = false;
        for group in &mut self.groups {
            let was_new = group.usage.is_new();
            match group.step(version, tick, buffer, counters) {
                Ok(Some(part)) => sum = Some(added(sum, part)),
                Ok(None) => broken |= !was_new,
                Err(Failure::Absent) => {}
                Err(Failure::Unreadable) => {
                    counters.unreadable.cgroup += 1;
                    broken = true;
                }
            }
        }
        sum.filter(|_| !broken)
    }
}

fn added(sum: Option<Exact>, part: Exact) -> Exact {
    sum.map_or(part, |sum| Exact {
        millicores: sum.millicores + part.millicores,
        system_millicores: sum
            .system_millicores
            .zip(part.system_millicores)
            .map(|(sum, part)| sum + part),
    })
}

#[derive(Debug)]
struct Group {
    name: String,
    file: KeptFile,
    usage: Counter,
    system: Counter,
}

impl Group {
    fn step(
        &mut self,
        version: Version,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Result<Option<Exact>, Failure> {
        let text = self.file.read(buffer)?;
        let (usage, system, per_second) = match version {
            Version::V1 => (single_number(text), None, 1e9),
            Version::V2 => {
                let usage = keyed(text, b"usage_usec", 1);
                (usage, keyed(text, b"system_usec", 1), 1e6)
            }
        };
        let millicores = |growth: Growth| growth.rate() / per_second * CPU;
        let usage = usage.ok_or(Failure::Unreadable)?;
        let usage = self.usage.step(usage, tick, counters);
        // The kernel keeps this part monotonic too, but by scaling: what it lacks here is
        // no event of its own.
        let system = system.and_then(|now| self.system.step(now, tick, &mut Counters::default()));
        Ok(usage.map(|growth| Exact {
            millicores: millicores(growth),
            system_millicores: system.map(millicores),
        }))
    }
}

#[cfg(test)]
mod tests;
