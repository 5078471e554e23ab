//! Scheduling cycles of the engine alone, all nodes evaluated: pods per second and CPU per
//! pod on one thread, with and without measured load.
//!
//! `cargo bench -p plimsoll-tests --bench cycle`

use std::io::Write;
use std::time::Duration;

use plimsoll_tests::{Bench, WITH_LOAD, arriving_pod, resident_bytes, thread_cpu};

/// Sizes of the clusters.
const NODES: [usize; 3] = [100, 1_000, 5_000];
/// Running pods per node.
const PODS_PER_NODE: usize = 10;
/// Pods that are scheduled before the clock starts.
const WARM_UP: usize = 100;
/// Pods that are timed.
const PODS: usize = 2_000;
/// A fresh sample of every node comes after so many pods: 1 Hz at 700 pods per second.
const PODS_PER_SAMPLE: usize = 700;

const PLAIN: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
";

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "cycle: engine alone, one thread, every node evaluated, {PODS} pods"
    )?;
    writeln!(
        out,
        "{:>6} {:>8} {:>10} {:>14} {:>12}",
        "nodes", "plugins", "pods/s", "CPU us/pod", "RSS MiB"
    )?;
    for nodes in NODES {
        for (name, config) in [("default", PLAIN), ("+load", WITH_LOAD)] {
            let cpu = measure(config, nodes);
            let per_pod = cpu.as_secs_f64() / PODS as f64;
            let mib = resident_bytes().map_or(0.0, |bytes| bytes as f64 / 1_048_576.0);
            let (rate, micros) = (1.0 / per_pod, per_pod * 1e6);
            writeln!(
                out,
                "{nodes:>6} {name:>8} {rate:>10.0} {micros:>14.1} {mib:>12.0}"
            )?;
        }
    }
    Ok(())
}

fn measure(config: &str, nodes: usize) -> Duration {
    let mut bench = Bench::new(config, nodes, PODS_PER_NODE);
    let pods: Vec<_> = (0..WARM_UP + PODS).map(arriving_pod).collect();
    for pod in &pods[..WARM_UP] {
        assert_eq!(bench.schedule(pod), 1, "a pod that fits is bound");
    }
    let begin = thread_cpu();
    for (index, pod) in pods[WARM_UP..].iter().enumerate() {
        assert_eq!(bench.schedule(pod), 1, "a pod that fits is bound");
        if index % PODS_PER_SAMPLE == 0 {
            bench.sample_all(2 + index as u64);
        }
    }
    thread_cpu().saturating_sub(begin)
}
