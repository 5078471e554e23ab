//! CPU over time: takes processes, gives what each used between two instants.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Stopwatch, cpu_of};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Looks at processes until it is asked for the curves.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Curves>,
}

/// CPU seconds so far of each process and last of the whole machine, over time.
#[derive(Debug, Default)]
pub(crate) struct Curves(Vec<(Duration, Vec<f64>)>);

// === impl Sampler ===

impl Sampler {
    /// Looks at these processes from now on, by this clock.
    pub(crate) fn start(processes: Vec<u32>, clock: Stopwatch) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut curves = Curves::default();
            while !told.load(Ordering::Relaxed) {
                let cpu = |process: &u32| cpu_of(*process).unwrap_or_default().as_secs_f64();
                let mut used: Vec<f64> = processes.iter().map(cpu).collect();
                used.push(machine().unwrap_or_default());
                curves.0.push((clock.elapsed(), used));
                thread::sleep(LOOK);
            }
            curves
        });
        Self { stop, thread }
    }

    /// What was seen.
    pub(crate) fn end(self) -> anyhow::Result<Curves> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the sampler died")
    }
}

// === impl Curves ===

impl Curves {
    /// Seconds of CPU that the process of this index used between two instants.
    pub(crate) fn used(&self, index: usize, from: Duration, to: Duration) -> f64 {
        self.at(index, to) - self.at(index, from)
    }

    fn at(&self, index: usize, when: Duration) -> f64 {
        let after = self.0.partition_point(|(at, _)| *at < when);
        let value = |n: usize| self.0.get(n).and_then(|(_, used)| used.get(index)).copied();
        let Some(before) = after.checked_sub(1) else {
            return value(0).unwrap_or_default();
        };
        let (Some(left), Some(right)) = (value(before), value(after)) else {
            return value(before).unwrap_or_default();
        };
        let (from, to) = (self.0[before].0, self.0[after].0);
        let [when, from, to] = [when, from, to].map(|at| at.as_secs_f64());
        let share = (when - from) / (to - from).max(f64::EPSILON);
        left + (right - left) * share
    }
}

/// Busy seconds of all cores so far: user, nice, system, interrupts.
fn machine() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let fields = text.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.map_while(|field| field.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((ticks.iter().take(7).sum::<f64>() - idle) / 100.0)
}
