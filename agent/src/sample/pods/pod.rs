//! One pod's cgroup: takes its files and the times at which they are read, gives CPU as the
//! mean by which nodes are judged, the working set, and whether any process is left.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_kernel::{Ewma, Kernel};

use super::files::Files;
use super::find::Found;
use crate::sample::cgroup::Version;
use crate::sample::counter::{Counter, Tick};
use crate::sample::counters::Counters;
use crate::sample::file::Buffer;
use crate::sample::parse::{keyed, single_number};
use crate::usage::{PodUsage, Resource, UsageFigure};
use crate::window::TAU;

/// A pod of this age is read like all others.
pub(super) const YOUNG: Duration = Duration::from_mins(1);
/// A CPU time this far above the capacity is a mistake.
const OVERSHOOT: f64 = 1.05;
/// Millicores of one CPU.
const CPU: f64 = 1000.0;

/// What the readings of all pods share.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    /// Time of the tick.
    pub(super) at: Duration,
    /// Time of this reading within it.
    pub(super) tick: Tick,
    pub(super) buffer: &'a mut Buffer,
    pub(super) counters: &'a mut Counters,
    /// CPUs of the node.
    pub(super) cpus: Option<u32>,
    /// A v1 pod that uses nothing is taken for idle at once, and not looked into first.
    pub(super) believes_zero: bool,
}

/// A pod and what is known of it.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) uid: Arc<str>,
    inode: u64,
    files: Files,
    /// Descriptors stay open between two readings.
    pub(super) keeps_open: bool,
    usage: Counter,
    /// The last reading failed: the next one is of another folder, perhaps.
    lost: bool,
    cpu: Ewma,
    cpu_at: Option<Duration>,
    /// Time in which a v1 pod used nothing: it may be idle, or without a process.
    unused: Option<Duration>,
    memory: Option<u64>,
    life: Life,
    /// At `seen_at`.
    age_then: Duration,
    seen_at: Option<Duration>,
    read_at: Option<Duration>,
    /// When it is read next; which of the ten seconds is its own is its owner's choice.
    pub(super) next_at: Duration,
    pub(super) slot: u32,
}

/// ```text
/// Young --first process--> Running --no process--> Ended
///                             ^----first process------'
/// any --folder removed--> Gone --new folder--> Young
/// ```
/// An end that only a walk saw has no time before the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// No process was seen in it yet.
    Young,
    Running,
    /// No process is left.
    Ended(Option<Duration>),
    /// The folder is gone.
    Gone(Option<Duration>),
}

// === impl Pod ===

impl Pod {
    /// A pod not read yet, no older than `oldest`.
    pub(super) fn new(found: Found, oldest: Option<Duration>, slot: u32) -> Self {
        let age = found.age.unwrap_or_default();
        Self {
            uid: found.uid,
            inode: found.inode,
            files: Files::new(found.files),
            keeps_open: true,
            usage: Counter::default(),
            lost: false,
            cpu: Ewma::new(TAU),
            cpu_at: None,
            unused: None,
            memory: None,
            life: Life::Young,
            age_then: oldest.map_or(age, |oldest| age.min(oldest)),
            seen_at: None,
            read_at: None,
            next_at: Duration::ZERO,
            slot,
        }
    }

    /// Takes what a walk found under this uid. Another folder, except after a move to
    /// another tree (`moved`), is another life of the pod.
    pub(super) fn apply(&mut self, found: Found, oldest: Option<Duration>, moved: bool) {
        let is_other = self.is_gone() || self.inode != found.inode;
        if is_other && !moved {
            *self = Self::new(found, oldest, self.slot);
            return;
        }
        self.inode = found.inode;
        self.files.point_at(found.files);
        if let Some(unused) = self.unused.take() {
            if found.is_populated {
                self.cpu.update(0.0, unused);
            } else {
                self.end(Life::Ended(None));
            }
        }
    }

    /// No walk finds the folder any more.
    pub(super) fn vanish(&mut self) {
        if !self.is_gone() {
            self.end(Life::Gone(None));
            self.close();
        }
    }

    fn end(&mut self, life: Life) {
        self.life = life;
        self.next_at = Duration::ZERO;
    }

    pub(super) fn close(&mut self) {
        self.files.close();
    }

    /// Age of the folder, as far as is known.
    fn age(&self, at: Duration) -> Duration {
        let seen_at = self.seen_at.unwrap_or(at);
        self.age_then.saturating_add(at.saturating_sub(seen_at))
    }

    /// True while the pod is read at each tick.
    pub(super) fn is_young(&self, at: Duration) -> bool {
        self.age(at) < YOUNG
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.life, Life::Gone(_))
    }

    /// Since when it is known that no process is left.
    pub(super) fn ended_at(&self) -> Option<Duration> {
        match self.life {
            Life::Ended(since) | Life::Gone(since) => since,
            Life::Young | Life::Running => None,
        }
    }

    /// True if only a look into the pod's groups tells why it uses nothing.
    pub(super) fn is_suspect(&self) -> bool {
        self.unused.is_some()
    }

    /// Reads once; false if the folder seems gone or replaced.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> bool {
        self.seen_at.get_or_insert(reader.at);
        if let Life::Ended(since @ None) | Life::Gone(since @ None) = &mut self.life {
            *since = Some(reader.at);
            self.read_at = Some(reader.at);
            return true;
        }
        let is_there = self.is_gone() || self.read_files(reader);
        if !self.keeps_open {
            self.close();
        }
        is_there
    }

    fn read_files(&mut self, reader: &mut Reader<'_>) -> bool {
        let populated = self.read_populated(reader);
        match (self.life, populated) {
            (Life::Young, Some(true) | None) => self.life = Life::Running,
            // The figures of an ended pod stay those of its life: frozen counters say nothing.
            (Life::Running, Some(false)) => {
                self.life = Life::Ended(Some(reader.at));
                self.read_at = Some(reader.at);
                return true;
            }
            (Life::Ended(_), Some(true)) => {
                self.life = Life::Running;
                self.begin_anew();
            }
            (Life::Ended(_) | Life::Gone(_), _) => return true,
            (Life::Young, Some(false)) | (Life::Running, _) => {}
        }
        if self.read_cpu(reader) {
            self.memory = self.files.memory.read(reader.at, reader.buffer);
            self.read_at = Some(reader.at);
            return true;
        }
        reader.counters.unreadable.pod += 1;
        self.usage = Counter::default();
        self.lost = true;
        false
    }

    /// Whether there is a process; v1 says so only of one that came back.
    fn read_populated(&mut self, reader: &mut Reader<'_>) -> Option<bool> {
        if let Some(events) = &mut self.files.events {
            let text = events.read(reader.buffer).ok()?;
            return keyed(text, b"populated", 1).map(|populated| populated > 0);
        }
        if !matches!(self.life, Life::Ended(_)) {
            return None;
        }
        let usage = single_number(self.files.cpu.read(reader.buffer).ok()?)?;
        let growth = self.usage.step(usage, reader.tick, reader.counters)?;
        (growth.amount > 0).then_some(true)
    }

    /// Gives up all that the counters said before: their folder is not what it was.
    fn begin_anew(&mut self) {
        self.usage = Counter::default();
        self.cpu.reset();
        self.cpu_at = None;
        self.unused = None;
        self.lost = false;
    }

    fn read_cpu(&mut self, reader: &mut Reader<'_>) -> bool {
        let Ok(text) = self.files.cpu.read(reader.buffer) else {
            return false;
        };
        let (usage, per_second) = match self.files.version {
            Version::V1 => (single_number(text), 1e9),
            Version::V2 => (keyed(text, b"usage_usec", 1), 1e6),
        };
        let Some(usage) = usage else {
            return false;
        };
        let tick = reader.tick;
        let gap = self.cpu_at.map(|last| tick.at.saturating_sub(last));
        if self.lost || gap.is_some_and(|gap| gap > tick.longest) {
            self.begin_anew();
        }
        let Some(growth) = self.usage.step(usage, tick, reader.counters) else {
            return true;
        };
        let millicores = growth.rate() / per_second * CPU;
        let capacity = reader.cpus.map(|cpus| f64::from(cpus) * CPU);
        if capacity.is_some_and(|capacity| millicores > capacity * OVERSHOOT) {
            reader.counters.implausible += 1;
            return true;
        }
        self.cpu_at = Some(tick.at);
        let asks = !reader.believes_zero && !self.is_young(reader.at);
        if growth.amount == 0 && self.files.events.is_none() && asks {
            let unused = self.unused.unwrap_or_default();
            self.unused = Some(unused.saturating_add(growth.over));
            return true;
        }
        if let Some(unused) = self.unused.take() {
            self.cpu.update(0.0, unused);
        }
        let held = capacity.map_or(millicores, |capacity| millicores.min(capacity));
        self.cpu.update(held, growth.over);
        true
    }

    /// What goes to the schedulers; `None` before the first reading.
    pub(super) fn usage(&self) -> Option<PodUsage> {
        let taken_at = self.read_at?;
        let cpu = self.cpu_at.and_then(|_| self.cpu.value());
        let cpu = cpu.map(|value| UsageFigure {
            resource: Resource::Cpu,
            kernel: Kernel::Ewma { tau: TAU },
            value,
            window_age: self.cpu.window(),
            samples: self.cpu.samples(),
        });
        let memory = self.memory.map(|bytes| UsageFigure {
            resource: Resource::Memory,
            kernel: Kernel::Instant,
            value: bytes as f64,
            window_age: Duration::ZERO,
            samples: 1,
        });
        Some(PodUsage {
            uid: Arc::clone(&self.uid),
            taken_at,
            age: self.age(taken_at),
            figures: cpu.into_iter().chain(memory).collect(),
            ended: self.ended_at().is_some(),
        })
    }
}
