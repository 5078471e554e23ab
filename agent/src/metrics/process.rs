//! What this process costs its node, read from its own `/proc` at each scrape. A file that
//! cannot be read gives no line.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// Ticks per second of the times in `/proc/self/stat`: fixed at 100 for user space on all
/// architectures that Linux runs containers on.
const TICKS_PER_SECOND: f64 = 100.0;
/// Bytes of the unit `kB` in `/proc/self/status`.
const KIB: u64 = 1024;

/// Exports CPU time and memory of this process.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        if let Some(seconds) = read("/proc/self/stat").and_then(|stat| cpu_seconds(&stat)) {
            let name = "process_cpu_seconds";
            let help = "User and system CPU time of the agent";
            encoder
                .encode_descriptor(name, help, None, MetricType::Counter)?
                .encode_counter::<NoLabelSet, f64, f64>(&seconds, None)?;
        }
        if let Some(bytes) = read("/proc/self/status").and_then(|status| resident(&status)) {
            let name = "process_resident_memory_bytes";
            let help = "Resident memory of the agent";
            encoder
                .encode_descriptor(name, help, None, MetricType::Gauge)?
                .encode_gauge(&(bytes as f64))?;
        }
        Ok(())
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// User plus system time; the command's name may hold anything, so fields count from its
/// closing bracket.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / TICKS_PER_SECOND)
}

fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_user_plus_system_whatever_the_command_is_called() {
        let stat = "7 (a) b ) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 9 1 2";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
    }

    #[test]
    fn resident_memory_is_bytes() {
        assert_eq!(
            resident("Name:\ta\nVmRSS:\t    4096 kB\n"),
            Some(4096 * 1024)
        );
        assert_eq!(resident("Name:\ta\n"), None);
    }
}
