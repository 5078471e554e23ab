//! The bandwidth figures: takes the counters that the plan names, gives bytes per second of
//! all physical links, received and sent apart.

mod links;
mod plan;
mod speeds;

use super::counter::{Counter, Tick};
use super::counters::Counters;
use super::file::{Buffer, Extent, KeptFile};
use super::parse::{net_dev, single_number};
use super::root::HostRoot;
pub(crate) use links::Links;
pub(crate) use plan::NetworkPlan;
pub use plan::{NetworkSource, NoNetwork};
pub(crate) use speeds::{AskSpeeds, Speeds};

/// Some drivers refresh their counters once a second, so that a step may hold the bytes of
/// two: up to here a rate above the speed counts as the speed, beyond it is no rate.
const OVERSHOOT: f64 = 2.5;
/// 1.6 Tbit/s: no single link is faster, whatever a driver says of its speed.
const FASTEST_LINK: f64 = 200e9;

/// Bytes per second of one interface or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Received.
    pub rx: Option<f64>,
    /// Sent.
    pub tx: Option<f64>,
}

/// A physical interface and its newest rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interface<'a> {
    /// As the kernel calls it.
    pub name: &'a str,
    /// Bytes per second.
    pub rates: Rates,
    /// Bytes per second, one direction; `None` if the driver does not say.
    pub speed: Option<u64>,
}

/// The reader.
#[derive(Debug)]
pub(crate) struct Network {
    source: Result<NetworkSource, NoNetwork>,
    capacity: Option<u64>,
    speeds: Speeds,
    proc1: KeptFile,
    nics: Vec<Nic>,
    lost_one: bool,
}

impl Network {
    pub(crate) fn new(root: &HostRoot) -> Self {
        Self {
            source: Err(NoNetwork::NothingReadable),
            capacity: None,
            speeds: Speeds::new(),
            proc1: KeptFile::new(root.proc.join("1/net/dev"), Extent::Records),
            nics: Vec::new(),
            lost_one: false,
        }
    }

    /// Takes what a walk found; counters of interfaces that are still there go on.
    pub(crate) fn apply(&mut self, root: &HostRoot, plan: NetworkPlan) {
        self.lost_one = false;
        self.proc1.point_at(root.proc.join("1/net/dev"));
        if self.source != plan.source {
            self.nics.clear();
        }
        self.source = plan.source;
        self.capacity = plan.links.capacity;
        self.speeds = plan.links.speeds;
        let found = plan.links.physical;
        self.nics
            .retain(|nic| found.iter().any(|link| link.name == nic.name));
        for link in found {
            let place = self.nics.iter().position(|nic| nic.name == link.name);
            let place = place.unwrap_or_else(|| {
                self.nics.push(Nic::new(root, link.name));
                self.nics.len() - 1
            });
            if let Some(nic) = self.nics.get_mut(place) {
                nic.speed = link.speed;
                nic.point_at(root);
            }
        }
    }

    /// Where traffic is read, or why it is not.
    pub(crate) fn source(&self) -> Result<NetworkSource, NoNetwork> {
        self.source
    }

    /// Sum of the links' speeds in bytes per second, one direction.
    pub(crate) fn capacity(&self) -> Option<u64> {
        self.capacity
    }

    pub(crate) fn speeds(&self) -> &Speeds {
        &self.speeds
    }

    /// True once an interface was found gone: the links should be walked again.
    pub(crate) fn wants_walk(&self) -> bool {
        self.lost_one
    }

    /// The interfaces and their newest rates.
    pub(crate) fn interfaces(&self) -> impl Iterator<Item = Interface<'_>> {
        self.nics.iter().map(|nic| Interface {
            name: &nic.name,
            rates: nic.rates,
            speed: nic.speed,
        })
    }

    /// Reads all counters; a direction has no value unless each interface has one.
    pub(crate) fn step(
        &mut self,
        tick: Tick,
        buffer: &mut Buffer,
        counters: &mut Counters,
    ) -> Rates {
        let Ok(source) = self.source else {
            return Rates::default();
        };
        match source {
            // The plan of this sampler never says sysinfo.
            NetworkSource::Sysfs | NetworkSource::Sysinfo => {
                for nic in &mut self.nics {
                    let now = nic.read(buffer);
                    nic.step(now, tick, counters);
                    self.lost_one |= now.rx.is_none() || now.tx.is_none();
                }
            }
            NetworkSource::Proc1 => {
                let text = self.proc1.read(buffer).unwrap_or_default();
                for nic in &mut self.nics {
                    let now = nic.find_in(text);
                    nic.step(now, tick, counters);
                    self.lost_one |= now.rx.is_none();
                }
            }
        }
        self.sum()
    }

    fn sum(&self) -> Rates {
        if self.nics.is_empty() {
            return Rates::default();
        }
        Rates {
            rx: self.nics.iter().map(|nic| nic.rates.rx).sum(),
            tx: self.nics.iter().map(|nic| nic.rates.tx).sum(),
        }
    }
}

/// The counters of one interface at one moment.
#[derive(Clone, Copy, Default)]
struct Totals {
    rx: Option<u64>,
    tx: Option<u64>,
}

#[derive(Debug)]
struct Nic {
    name: String,
    speed: Option<u64>,
    rx_file: KeptFile,
    tx_file: KeptFile,
    rx: Counter,
    tx: Counter,
    rates: Rates,
}

impl Nic {
    fn new(root: &HostRoot, name: String) -> Self {
        let path = |file| root.net_class().join(&name).join("statistics").join(file);
        Self {
            rx_file: KeptFile::new(path("rx_bytes"), Extent::OnePiece),
            tx_file: KeptFile::new(path("tx_bytes"), Extent::OnePiece),
            name,
            speed: None,
            rx: Counter::default(),
            tx: Counter::default(),
            rates: Rates::default(),
        }
    }

    fn point_at(&mut self, root: &HostRoot) {
        let folder = root.net_class().join(&self.name).join("statistics");
        self.rx_file.point_at(folder.join("rx_bytes"));
        self.tx_file.point_at(folder.join("tx_bytes"));
    }

    fn read(&mut self, buffer: &mut Buffer) -> Totals {
        Totals {
            rx: self.rx_file.read(buffer).ok().and_then(single_number),
            tx: self.tx_file.read(buffer).ok().and_then(single_number),
        }
    }

    fn find_in(&self, text: &[u8]) -> Totals {
        let line = net_dev(text).find(|line| line.name == self.name.as_bytes());
        Totals {
            rx: line.map(|line| line.rx_bytes),
            tx: line.map(|line| line.tx_bytes),
        }
    }

    fn step(&mut self, now: Totals, tick: Tick, counters: &mut Counters) {
        counters.unreadable.network += u64::from(now.rx.is_none() || now.tx.is_none());
        let speed = self.speed;
        let mut rate = |counter: &mut Counter, now: Option<u64>| {
            let growth = counter.step(now?, tick, counters)?;
            plausible(growth.rate(), speed, counters)
        };
        self.rates = Rates {
            rx: rate(&mut self.rx, now.rx),
            tx: rate(&mut self.tx, now.tx),
        };
    }
}

/// A rate that the link can carry.
fn plausible(rate: f64, speed: Option<u64>, counters: &mut Counters) -> Option<f64> {
    let limit = speed.map_or(FASTEST_LINK, |speed| speed as f64);
    if rate > limit * OVERSHOOT {
        counters.implausible += 1;
        return None;
    }
    counters.clamped_reads += u64::from(rate > limit);
    Some(rate.min(limit))
}

#[cfg(test)]
mod tests;
