//! The JSON of one sample: takes the sampler after a tick, gives the object whose keys the
//! head of [`crate::inspect`] lists.

use serde::Serialize;

use crate::sample::portable::PortableSampler;
use crate::sample::{CpuReading, CpuSource, Interface, NetworkSource, NodeSampler};
use crate::usage::{Counters, PodUsage, Resource, Source};

/// One sample of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SampleJson {
    /// CPU in use.
    pub cpu: CpuJson,
    /// Memory in use.
    pub memory: MemoryJson,
    /// Bandwidth in use.
    pub network: NetworkJson,
    /// Pressure.
    pub psi: PsiJson,
    /// What went wrong so far.
    pub counters: Counters,
    /// Why the figures cannot be trusted.
    pub untrusted: Option<String>,
    /// The pods, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<Vec<PodJson>>,
}

/// One pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodJson {
    /// As its cgroup is named.
    pub uid: String,
    /// Age of its cgroup, as far as is known.
    pub age_seconds: f64,
    /// Mean with a time constant of 10 s.
    pub cpu_millicores: Option<f64>,
    /// Working set.
    pub memory_bytes: Option<f64>,
    /// No process is left in it.
    pub ended: bool,
}

/// CPU in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuJson {
    /// Thousandths of a CPU.
    pub millicores: Option<f64>,
    /// Share of `cpus`.
    pub ratio: Option<f64>,
    /// CPUs online, the denominator.
    pub cpus: Option<u32>,
    /// Where the figure came from.
    pub source: Option<CpuSource>,
    /// Share by `/proc/stat` alone.
    pub tick_ratio: Option<f64>,
    /// Share that the hypervisor took.
    pub steal: Option<f32>,
}

/// Memory in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryJson {
    /// Bytes that cannot be had back.
    pub used_bytes: Option<u64>,
    /// `MemTotal`, the denominator.
    pub total_bytes: Option<u64>,
    /// Share of `total_bytes`.
    pub ratio: Option<f64>,
    /// Bytes that the ZFS cache would give back, not in `used_bytes`.
    pub arc_reclaimable_bytes: Option<u64>,
}

/// Bandwidth in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkJson {
    /// Received by all physical links.
    pub rx_bytes_per_second: Option<f64>,
    /// Sent by all physical links.
    pub tx_bytes_per_second: Option<f64>,
    /// Speed of all physical links, one direction, the denominator.
    pub link_bytes_per_second: Option<u64>,
    /// Share of the larger direction.
    pub ratio: Option<f64>,
    /// Where the figures came from.
    pub source: Option<NetworkSource>,
    /// Why there are none.
    pub reason: Option<String>,
    /// The physical links.
    pub interfaces: Vec<InterfaceJson>,
}

/// One physical link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InterfaceJson {
    /// As the kernel calls it.
    pub name: String,
    /// Received.
    pub rx_bytes_per_second: Option<f64>,
    /// Sent.
    pub tx_bytes_per_second: Option<f64>,
    /// Speed, one direction.
    pub speed_bytes_per_second: Option<u64>,
}

/// Shares of time in which some task waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PsiJson {
    /// For a CPU.
    pub cpu: Option<f64>,
    /// For memory.
    pub memory: Option<f64>,
    /// For a disk.
    pub io: Option<f64>,
}

impl SampleJson {
    /// The newest sample of a sampler.
    pub fn of(sampler: &NodeSampler) -> Self {
        let readings = sampler.readings();
        let memory = readings.memory;
        Self {
            cpu: CpuJson::from(&readings.cpu),
            memory: MemoryJson {
                used_bytes: memory.used_bytes,
                total_bytes: memory.total_bytes,
                ratio: ratio(
                    memory.used_bytes.map(|bytes| bytes as f64),
                    memory.total_bytes.map(|bytes| bytes as f64),
                ),
                arc_reclaimable_bytes: memory.arc_reclaimable_bytes,
            },
            network: NetworkJson::of(sampler),
            psi: PsiJson {
                cpu: readings.pressure.cpu,
                memory: readings.pressure.memory,
                io: readings.pressure.io,
            },
            counters: sampler.counters(),
            untrusted: readings.cpu.untrusted.map(|reason| reason.to_string()),
            pods: None,
        }
    }

    /// The newest sample of the sampler on sysinfo.
    pub fn of_portable(sampler: &PortableSampler) -> Self {
        let (sample, machine) = (sampler.newest(), sampler.machine());
        let cpu = CpuReading {
            millicores: sample.cpu_millicores,
            source: sample.cpu_millicores.map(|_| CpuSource::Sysinfo),
            cpus: machine.cpus,
            ..CpuReading::default()
        };
        let (rx, tx) = (sample.rx_bytes_per_second, sample.tx_bytes_per_second);
        let link = machine.link_bytes_per_second;
        Self {
            cpu: CpuJson::from(&cpu),
            memory: MemoryJson {
                used_bytes: sample.memory_bytes,
                total_bytes: machine.memory_bytes,
                ratio: ratio(
                    sample.memory_bytes.map(|bytes| bytes as f64),
                    machine.memory_bytes.map(|bytes| bytes as f64),
                ),
                arc_reclaimable_bytes: None,
            },
            network: NetworkJson {
                rx_bytes_per_second: rx,
                tx_bytes_per_second: tx,
                link_bytes_per_second: link,
                ratio: ratio(larger(rx, tx), link.map(|speed| speed as f64)),
                source: rx.or(tx).map(|_| NetworkSource::Sysinfo),
                reason: None,
                interfaces: Vec::new(),
            },
            psi: PsiJson {
                cpu: None,
                memory: None,
                io: None,
            },
            counters: sampler.counters(),
            untrusted: None,
            pods: None,
        }
    }

    /// With the pods of this moment.
    #[must_use]
    pub fn with_pods(mut self, pods: &[PodUsage]) -> Self {
        self.pods = Some(pods.iter().map(PodJson::from).collect());
        self
    }
}

impl From<&PodUsage> for PodJson {
    fn from(pod: &PodUsage) -> Self {
        let value = |resource: Resource| {
            let figures = pod.figures.iter();
            let mut found = figures.filter(|figure| figure.resource == resource);
            found.next().map(|figure| figure.value)
        };
        Self {
            uid: pod.uid.to_string(),
            age_seconds: pod.age.as_secs_f64(),
            cpu_millicores: value(Resource::Cpu),
            memory_bytes: value(Resource::Memory),
            ended: pod.ended,
        }
    }
}

impl From<&CpuReading> for CpuJson {
    fn from(cpu: &CpuReading) -> Self {
        Self {
            millicores: cpu.millicores,
            ratio: ratio(
                cpu.millicores,
                cpu.cpus.map(|cpus| f64::from(cpus) * 1000.0),
            ),
            cpus: cpu.cpus,
            source: cpu.source,
            tick_ratio: cpu.tick_ratio,
            steal: cpu.steal,
        }
    }
}

impl NetworkJson {
    fn of(sampler: &NodeSampler) -> Self {
        let rates = sampler.readings().network;
        let link = sampler.machine().link_bytes_per_second;
        let source = sampler.network_source();
        Self {
            rx_bytes_per_second: rates.rx,
            tx_bytes_per_second: rates.tx,
            link_bytes_per_second: link,
            ratio: ratio(larger(rates.rx, rates.tx), link.map(|speed| speed as f64)),
            source: source.ok(),
            reason: source.err().map(|reason| reason.to_string()),
            interfaces: sampler.interfaces().map(InterfaceJson::from).collect(),
        }
    }
}

impl From<Interface<'_>> for InterfaceJson {
    fn from(interface: Interface<'_>) -> Self {
        Self {
            name: interface.name.to_owned(),
            rx_bytes_per_second: interface.rates.rx,
            tx_bytes_per_second: interface.rates.tx,
            speed_bytes_per_second: interface.speed,
        }
    }
}

/// Full duplex: the larger direction counts, and both must be known for that.
fn larger(rx: Option<f64>, tx: Option<f64>) -> Option<f64> {
    rx.zip(tx).map(|(rx, tx)| rx.max(tx))
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    part.map(|part| part / whole)
}
