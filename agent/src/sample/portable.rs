//! The sampler that stands on sysinfo: for systems without the files that the native one
//! reads, and as a second opinion of the machine. Takes no roots (sysinfo's paths are
//! fixed), gives what sysinfo knows: it has no steal (counted as busy), no pressure, no pods.
//! It allocates, and reads nine files per interface: no choice for a node with many pods.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, Networks, System};

use super::LONGEST_GAP_PERIODS;
use super::counter::{Counter, Tick};
use crate::usage::{Counters, Machine, NodeSample, Source};

/// Millicores of one CPU at a usage of one percent.
const MILLICORES_PER_PERCENT: f64 = 10.0;
/// sysinfo gives link speeds in bits per second.
const BITS: u64 = 8;
/// 1.6 Tbit/s: above it is what some drivers say for "unknown".
const FASTEST_LINK: u64 = 200_000_000_000;
/// Tells a link from a virtual interface, where there is a sysfs.
const NET_CLASS: &str = "/sys/class/net";

/// The sampler of the machine that it runs on.
#[derive(Debug)]
pub struct PortableSampler {
    period: Duration,
    system: System,
    networks: Networks,
    links: BTreeMap<String, LinkCounters>,
    link_speed: Option<u64>,
    counters: Counters,
    machine: Machine,
    sample: NodeSample,
    cpu_at: Option<Duration>,
    last_at: Option<Duration>,
}

#[derive(Debug, Default)]
struct LinkCounters {
    rx: Counter,
    tx: Counter,
}

/// sysinfo does not know this system.
#[derive(Debug, thiserror::Error)]
#[error("sysinfo cannot read this system")]
pub struct Unsupported;

/// What sysinfo sees of the machine, without links.
pub fn machine() -> Option<Machine> {
    let mut system = System::new().ok()?;
    system.refresh_cpu_usage();
    system.refresh_memory();
    Some(seen_by(&system))
}

fn seen_by(system: &System) -> Machine {
    let cpus = u32::try_from(system.cpus().len()).ok();
    // What it cannot read it gives as 0.
    Machine {
        cpus: cpus.filter(|cpus| *cpus > 0),
        memory_bytes: Some(system.total_memory()).filter(|bytes| *bytes > 0),
        link_bytes_per_second: None,
    }
}

// === impl PortableSampler ===

impl PortableSampler {
    /// A sampler with the nominal time `period` between samples; `link_speed` is what the
    /// operator says of the links, in bytes per second.
    ///
    /// # Errors
    /// If sysinfo does not know this system.
    pub fn open(period: Duration, link_speed: Option<u64>) -> Result<Self, Unsupported> {
        let mut sampler = Self {
            period,
            system: System::new().map_err(|_| Unsupported)?,
            networks: Networks::new_with_refreshed_list().map_err(|_| Unsupported)?,
            links: BTreeMap::new(),
            link_speed,
            counters: Counters::default(),
            machine: Machine::default(),
            sample: NodeSample::default(),
            cpu_at: None,
            last_at: None,
        };
        sampler.system.refresh_cpu_usage();
        sampler.system.refresh_memory();
        sampler.see_machine();
        Ok(sampler)
    }

    /// The newest sample.
    pub fn newest(&self) -> &NodeSample {
        &self.sample
    }

    fn see_machine(&mut self) {
        self.machine = Machine {
            link_bytes_per_second: self.link_speed.or_else(|| self.links_speed()),
            ..seen_by(&self.system)
        };
    }

    /// Sum of the speeds of all links; unknown as soon as one is.
    fn links_speed(&self) -> Option<u64> {
        let mut sum = None;
        for (name, link) in &self.networks {
            if is_counted(name) {
                let speed = link.receive_link_speed()? / BITS;
                let speed = Some(speed).filter(|speed| (1..=FASTEST_LINK).contains(speed))?;
                sum = Some(sum.unwrap_or(0_u64).saturating_add(speed));
            }
        }
        sum
    }

    /// The first usage is since boot, and one sooner than 200 ms is the one before again.
    fn read_cpu(&mut self, tick: Tick) -> Option<f64> {
        let passed = self.cpu_at.map(|last| tick.at.saturating_sub(last));
        if passed.is_some_and(|passed| passed < MINIMUM_CPU_UPDATE_INTERVAL) {
            return None;
        }
        self.system.refresh_cpu_usage();
        self.cpu_at = Some(tick.at);
        let percent = f64::from(self.system.global_cpu_usage());
        let cpus = f64::from(seen_by(&self.system).cpus?);
        let is_sane = percent.is_finite() && percent >= 0.0;
        passed
            .filter(|passed| *passed <= tick.longest && is_sane)
            .map(|_| percent.min(100.0) * cpus * MILLICORES_PER_PERCENT)
    }

    fn read_memory(&mut self) -> Option<u64> {
        self.system.refresh_memory();
        let total = Some(self.system.total_memory()).filter(|bytes| *bytes > 0)?;
        let available = Some(self.system.available_memory()).filter(|bytes| *bytes > 0)?;
        total.checked_sub(available)
    }

    /// Bytes per second received and sent by all links together.
    fn read_links(&mut self, tick: Tick) -> (Option<f64>, Option<f64>) {
        self.networks.refresh(true);
        let mut totals = BTreeMap::new();
        for (name, link) in &self.networks {
            if let (true, Some(name)) = (is_counted(name), name.to_str()) {
                totals.insert(name, (link.total_received(), link.total_transmitted()));
            }
        }
        self.links
            .retain(|name, _| totals.contains_key(name.as_str()));
        if totals.is_empty() {
            return (None, None);
        }
        let (mut received, mut sent) = (Some(0.0), Some(0.0));
        for (name, (rx, tx)) in totals {
            let link = self.links.entry(name.to_owned()).or_default();
            let mut rate = |counter: &mut Counter, now| {
                let growth = counter.step(now, tick, &mut self.counters)?;
                Some(growth.rate())
            };
            received = added(received, rate(&mut link.rx, rx));
            sent = added(sent, rate(&mut link.tx, tx));
        }
        (received, sent)
    }
}

impl Source for PortableSampler {
    fn machine(&self) -> Machine {
        self.machine
    }

    fn sample(&mut self, at: Duration) -> &NodeSample {
        let longest = self.period.saturating_mul(LONGEST_GAP_PERIODS);
        let interval = self
            .last_at
            .map_or(Duration::ZERO, |last| at.saturating_sub(last));
        self.counters.gaps += u64::from(interval > longest);
        self.last_at = Some(at);
        let tick = Tick { at, longest };
        let cpu_millicores = self.read_cpu(tick);
        let memory_bytes = self.read_memory();
        let (rx_bytes_per_second, tx_bytes_per_second) = self.read_links(tick);
        self.see_machine();
        self.sample = NodeSample {
            taken_at: at,
            interval,
            cpu_millicores,
            memory_bytes,
            rx_bytes_per_second,
            tx_bytes_per_second,
            link_bytes_per_second: self.machine.link_bytes_per_second,
            ..NodeSample::default()
        };
        &self.sample
    }

    fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

fn added(sum: Option<f64>, part: Option<f64>) -> Option<f64> {
    sum.zip(part).map(|(sum, part)| sum + part)
}

/// Physical as far as can be seen: all but the loopback, and of a system with a sysfs only
/// those with a device.
fn is_counted(name: &std::ffi::OsStr) -> bool {
    let class = Path::new(NET_CLASS);
    let has_device = || class.join(name).join("device").symlink_metadata().is_ok();
    name != "lo" && name != "lo0" && (!class.is_dir() || has_device())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_secs(1);

    #[test]
    fn the_first_sample_has_no_rates_and_what_sysinfo_cannot_tell_is_absent() {
        let mut sampler = PortableSampler::open(PERIOD, Some(7)).unwrap();
        let first = sampler.sample(PERIOD).clone();
        assert_eq!(
            (first.cpu_millicores, first.rx_bytes_per_second),
            (None, None)
        );
        assert!(first.memory_bytes.is_some());
        assert_eq!(first.steal, None);
        assert_eq!(first.pressure, crate::usage::Pressure::default());
        assert_eq!(first.link_bytes_per_second, Some(7));
        assert_eq!(sampler.pods(PERIOD), None);
    }

    #[test]
    fn the_second_sample_has_a_cpu_figure_within_the_machine() {
        let mut sampler = PortableSampler::open(PERIOD, None).unwrap();
        sampler.sample(PERIOD);
        let used = sampler.sample(2 * PERIOD).cpu_millicores.unwrap();
        let cpus = sampler.machine().cpus.unwrap();
        assert!((0.0..=f64::from(cpus) * 1000.0).contains(&used), "{used}");
    }

    #[test]
    fn after_a_gap_the_rates_begin_anew() {
        let mut sampler = PortableSampler::open(PERIOD, None).unwrap();
        sampler.sample(PERIOD);
        let late = sampler.sample(5 * PERIOD).clone();
        assert_eq!(
            (late.cpu_millicores, late.rx_bytes_per_second),
            (None, None)
        );
        assert_eq!(sampler.counters().gaps, 1);
        assert!(sampler.sample(6 * PERIOD).cpu_millicores.is_some());
    }

    #[test]
    fn a_usage_asked_for_too_soon_is_the_one_before_and_not_given_again() {
        let mut sampler = PortableSampler::open(PERIOD, None).unwrap();
        sampler.sample(PERIOD);
        let soon = PERIOD + Duration::from_millis(100);
        assert_eq!(sampler.sample(soon).cpu_millicores, None);
    }

    #[test]
    fn the_native_sampler_sees_the_same_machine() {
        let root = crate::sample::HostRoot::default();
        let mut native = crate::sample::NodeSampler::open(root, PERIOD);
        assert_eq!(native.cross_check(machine().unwrap()), Vec::<String>::new());
        let other = Machine {
            cpus: Some(4_000),
            memory_bytes: Some(1),
            ..Machine::default()
        };
        assert_eq!(native.cross_check(other).len(), 2);
        assert_eq!(native.counters().inventory_mismatches, 2);
    }
}
