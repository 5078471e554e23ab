//! From samples to figures: takes one [`NodeSample`] per tick, gives the [`NodeUsage`] that
//! goes to the schedulers. CPU, bandwidth and pressure as a bias-corrected mean with a time
//! constant of 10 s, memory as its last value, and p95 over one and five minutes. Nothing is
//! allocated after the first ticks.

mod ring;

use std::time::Duration;

use plimsoll_kernel::{Ewma, Kernel};

use crate::sample::LONGEST_GAP_PERIODS;
use crate::usage::{NodeSample, NodeUsage, Resource, UsageFigure};
use ring::Ring;

/// The time constant by which schedulers judge: long against a sample's noise, short
/// against the time in which pods come and go.
pub const TAU: Duration = Duration::from_secs(10);
/// The quantile that is sent.
pub const QUANTILE: f32 = 0.95;
/// The windows over which it is taken.
pub const QUANTILE_WIDTHS: [Duration; 2] = [Duration::from_mins(1), Duration::from_mins(5)];

/// What is smoothed, in the order of the figures.
const SMOOTHED: [Resource; 6] = [
    Resource::Cpu,
    Resource::Rx,
    Resource::Tx,
    Resource::PsiCpu,
    Resource::PsiMemory,
    Resource::PsiIo,
];
/// What has quantiles.
const RANKED: [Resource; 4] = [Resource::Cpu, Resource::Memory, Resource::Rx, Resource::Tx];

/// The windows of one node.
#[derive(Debug)]
pub struct Window {
    period: Duration,
    means: [Mean; SMOOTHED.len()],
    memory: Last,
    rings: [Ring; RANKED.len()],
    steal: Mean,
    usage: NodeUsage,
}

impl Window {
    /// Empty windows for samples `period` apart.
    pub fn new(period: Duration) -> Self {
        Self {
            period,
            means: std::array::from_fn(|_| Mean::new()),
            memory: Last::default(),
            rings: std::array::from_fn(|_| Ring::new()),
            steal: Mean::new(),
            usage: NodeUsage::default(),
        }
    }

    /// Sets the nominal time between two samples.
    pub fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    /// Takes a sample; gives the figures of this moment. The first sample of a source has no
    /// figures. A figure whose sample is missing stands for up to three periods, then it is
    /// absent and its window begins anew. While the node is untrusted there are no figures,
    /// and all windows begin anew after it.
    pub fn push(&mut self, sample: &NodeSample) -> &NodeUsage {
        self.usage.taken_at = sample.taken_at;
        self.usage.link_bytes_per_second = sample.link_bytes_per_second;
        self.usage.untrusted = sample.untrusted;
        self.usage.figures.clear();
        self.usage.steal = None;
        if sample.untrusted.is_some() {
            self.reset();
        } else if !sample.interval.is_zero() {
            self.take(sample);
            self.emit(sample.taken_at, sample.interval);
        }
        &self.usage
    }

    /// The figures of the newest sample.
    pub fn usage(&self) -> &NodeUsage {
        &self.usage
    }

    fn reset(&mut self) {
        for mean in self.means.iter_mut().chain([&mut self.steal]) {
            *mean = Mean::new();
        }
        self.rings.iter_mut().for_each(Ring::clear);
        self.memory = Last::default();
    }

    fn take(&mut self, sample: &NodeSample) {
        let longest = self.period.saturating_mul(LONGEST_GAP_PERIODS);
        let tick = Span {
            at: sample.taken_at,
            interval: sample.interval,
            longest,
        };
        for (mean, resource) in self.means.iter_mut().zip(SMOOTHED) {
            mean.take(value(sample, resource), tick);
        }
        self.steal.take(sample.steal.map(f64::from), tick);
        self.memory.take(value(sample, Resource::Memory), tick);
        for (ring, resource) in self.rings.iter_mut().zip(RANKED) {
            if let Some(value) = value(sample, resource) {
                ring.push(value, sample.taken_at);
            }
        }
    }

    fn emit(&mut self, now: Duration, interval: Duration) {
        let figures = &mut self.usage.figures;
        for (mean, resource) in self.means.iter().zip(SMOOTHED) {
            figures.extend(mean.figure(resource));
        }
        figures.extend(self.memory.figure());
        for (ring, resource) in self.rings.iter_mut().zip(RANKED) {
            for width in QUANTILE_WIDTHS {
                let found = ring.quantile(QUANTILE, width, now);
                figures.extend(found.map(|found| UsageFigure {
                    resource,
                    kernel: Kernel::Quantile { q: QUANTILE, width },
                    value: found.value,
                    window_age: found.age.saturating_add(interval).min(width),
                    samples: found.samples,
                }));
            }
        }
        self.usage.steal = self.steal.mean.value().map(|steal| steal as f32);
    }
}

/// The value of a resource in a sample.
fn value(sample: &NodeSample, resource: Resource) -> Option<f64> {
    match resource {
        Resource::Cpu => sample.cpu_millicores,
        Resource::Memory => sample.memory_bytes.map(|bytes| bytes as f64),
        Resource::Rx => sample.rx_bytes_per_second,
        Resource::Tx => sample.tx_bytes_per_second,
        Resource::PsiCpu => sample.pressure.cpu,
        Resource::PsiMemory => sample.pressure.memory,
        Resource::PsiIo => sample.pressure.io,
    }
}

/// When a sample was taken and what it covers.
#[derive(Clone, Copy)]
struct Span {
    at: Duration,
    interval: Duration,
    longest: Duration,
}

/// A mean, and when it last had a value.
#[derive(Debug)]
struct Mean {
    mean: Ewma,
    last_at: Option<Duration>,
}

impl Mean {
    fn new() -> Self {
        Self {
            mean: Ewma::new(TAU),
            last_at: None,
        }
    }

    /// A value stands for the time since the one before, also over missing ones; after too
    /// long a time nothing is known of it, and the window begins anew.
    fn take(&mut self, value: Option<f64>, span: Span) {
        let passed = self.last_at.map(|last| span.at.saturating_sub(last));
        if passed.is_some_and(|passed| passed > span.longest) {
            *self = Self::new();
        }
        let Some(value) = value else { return };
        let dt = self
            .last_at
            .map_or(span.interval, |last| span.at.saturating_sub(last));
        self.mean.update(value, dt.min(span.longest));
        self.last_at = Some(span.at);
    }

    fn figure(&self, resource: Resource) -> Option<UsageFigure> {
        self.mean.value().map(|value| UsageFigure {
            resource,
            kernel: Kernel::Ewma { tau: TAU },
            value,
            window_age: self.mean.window(),
            samples: self.mean.samples(),
        })
    }
}

/// The last value of the memory, and when it was taken.
#[derive(Debug, Default)]
struct Last {
    value: Option<f64>,
    at: Duration,
}

impl Last {
    fn take(&mut self, value: Option<f64>, span: Span) {
        if let Some(value) = value {
            self.value = Some(value);
            self.at = span.at;
        } else if span.at.saturating_sub(self.at) > span.longest {
            self.value = None;
        }
    }

    /// An instant has a window of one sample.
    fn figure(&self) -> Option<UsageFigure> {
        self.value.map(|value| UsageFigure {
            resource: Resource::Memory,
            kernel: Kernel::Instant,
            value,
            window_age: Duration::ZERO,
            samples: 1,
        })
    }
}

#[cfg(test)]
mod tests;
