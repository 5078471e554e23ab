//! Pressure stall information: takes the `total` of each `/proc/pressure` file, gives the
//! share of time in which some task waited. The kernel's own averages are not used: a
//! difference of totals fits any period.

use super::counter::{Counter, Tick};
use super::counters::Counters;
use super::file::{Buffer, Extent, Failure, KeptFile};
use super::parse::pressure_total;
use super::root::HostRoot;
use crate::usage::Pressure;

/// The totals are in microseconds.
const MICROS: f64 = 1e6;

/// The reader of the three files; each may be missing.
#[derive(Debug)]
pub(crate) struct Pressures {
    cpu: Total,
    memory: Total,
    io: Total,
}

impl Pressures {
    pub(crate) fn new(root: &HostRoot) -> Self {
        Self {
            cpu: Total::new(root, "cpu"),
            memory: Total::new(root, "memory"),
            io: Total::new(root, "io"),
        }
    }

    pub(crate) fn apply(&mut self, root: &HostRoot) {
        for total in [&mut self.cpu, &mut self.memory, &mut self.io] {
            total.file.point_at(path(root, total.name));
        }
    }

    pub(crate) fn step(
        &mut self,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Pressure {
        Pressure {
            cpu: self.cpu.step(tick, buffer, counters),
            memory: self.memory.step(tick, buffer, counters),
            io: self.io.step(tick, buffer, counters),
        }
    }
}

#[derive(Debug)]
struct Total {
    name: &'static str,
    file: KeptFile,
    counter: Counter,
}

impl Total {
    fn new(root: &HostRoot, name: &'static str) -> Self {
        Self {
            name,
            file: KeptFile::new(path(root, name), Extent::OnePiece),
            counter: Counter::default(),
        }
    }

    fn step(&mut self, tick: Tick, buffer: &mut Buffer, counters: &mut Counters) -> Option<f64> {
        let total = match self.file.read(buffer) {
            Ok(text) => pressure_total(text),
            // Kernels without PSI have no such file; one that has it switched off fails.
            Err(Failure::Absent) => return None,
            Err(Failure::Unreadable) => None,
        };
        counters.unreadable.pressure += u64::from(total.is_none());
        let share = self.counter.step(total?, tick, counters)?.rate() / MICROS;
        counters.clamped_reads += u64::from(share > 1.0);
        Some(share.min(1.0))
    }
}

fn path(root: &HostRoot, name: &str) -> std::path::PathBuf {
    root.proc.join("pressure").join(name)
}
