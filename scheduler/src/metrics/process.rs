//! The process itself: version, CPU time, memory; read at the scrape.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use crate::clock;

const STATUS: &str = "/proc/self/status";
const RESIDENT: &str = "VmRSS:";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VersionLabels {
    version: &'static str,
}

#[derive(Debug)]
struct Process;

/// Registers all series of the process.
pub(crate) fn register(registry: &mut Registry) {
    let build = Family::<VersionLabels, Gauge>::default();
    let version = env!("CARGO_PKG_VERSION");
    build.get_or_create(&VersionLabels { version }).set(1);
    registry.register("plimsoll_build_info", "The version that runs", build);
    registry.register_collector(Box::new(Process));
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let cpu = ConstCounter::new(clock::process_cpu().as_secs_f64());
        let metric = encoder.encode_descriptor(
            "process_cpu_seconds",
            "CPU time of the process, user and system",
            None,
            MetricType::Counter,
        )?;
        cpu.encode(metric)?;
        let Some(bytes) = fs::read_to_string(STATUS)
            .ok()
            .and_then(|text| resident(&text))
        else {
            return Ok(());
        };
        let metric = encoder.encode_descriptor(
            "process_resident_memory_bytes",
            "Memory of the process that is in RAM",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(bytes).encode(metric)
    }
}

/// `VmRSS:     12345 kB` in bytes.
fn resident(status: &str) -> Option<i64> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(RESIDENT))?;
    let kib: i64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_in_bytes() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t   2048 kB\n"), Some(2 << 20));
        assert_eq!(resident("VmRSS:\t? kB"), None);
        assert_eq!(resident(""), None);
    }

    #[test]
    fn the_process_tells_its_version_time_and_memory() {
        let mut registry = Registry::default();
        register(&mut registry);
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
        for name in [
            "plimsoll_build_info{version=\"",
            "process_cpu_seconds_total ",
            "process_resident_memory_bytes ",
        ] {
            assert!(page.contains(name), "{name} is not in\n{page}");
        }
    }
}
