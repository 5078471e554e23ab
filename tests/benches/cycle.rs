//! Scheduling cycles of the engine alone, all nodes evaluated: pods per second and CPU per
//! pod on one thread, with and without measured load.
//!
//! `cargo bench -p plimsoll-tests --bench cycle`; with `-- --case FILE --warmup N` the
//! cluster and the pods are those of a case file (`tests/oracle`, `bench --write-case`), the
//! first N pods are not timed, and one line of JSON comes out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use plimsoll_core::EngineOptions;
use plimsoll_objects::{Pod, decode_node, decode_pod};
use plimsoll_tests::{Bench, WITH_LOAD, arriving_pod, resident_bytes, thread_cpu};
use serde_json::{Value, json};

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

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    case: Option<PathBuf>,
    warm_up: usize,
}

fn main() -> anyhow::Result<()> {
    let options = options(std::env::args().skip(1))?;
    match &options.case {
        Some(file) => run_case(file, options.warm_up),
        None => run_table(),
    }
}

fn options(mut words: impl Iterator<Item = String>) -> anyhow::Result<Options> {
    let mut options = Options::default();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} wants a value"))
        };
        match word.as_str() {
            "--case" => options.case = Some(value()?.into()),
            "--warmup" => options.warm_up = value()?.parse().context("--warmup")?,
            // What cargo adds.
            "--bench" => {}
            _ => bail!("unknown argument {word}"),
        }
    }
    Ok(options)
}

fn run_table() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "cycle: engine alone, one thread, every node evaluated, {PODS} pods"
    )?;
    writeln!(
        out,
        "{:>6} {:>8} {:>6} {:>10} {:>14} {:>12}",
        "nodes", "plugins", "tables", "pods/s", "CPU us/pod", "RSS MiB"
    )?;
    for nodes in NODES {
        let rows = [
            ("default", PLAIN, true),
            ("+load", WITH_LOAD, true),
            ("default", PLAIN, false),
            ("+load", WITH_LOAD, false),
        ];
        for (name, config, tables) in rows {
            let cpu = measure(config, nodes, tables);
            let kept = if tables { "on" } else { "off" };
            let per_pod = cpu.as_secs_f64() / PODS as f64;
            let mib = resident_bytes().map_or(0.0, |bytes| bytes as f64 / 1_048_576.0);
            let (rate, micros) = (1.0 / per_pod, per_pod * 1e6);
            writeln!(
                out,
                "{nodes:>6} {name:>8} {kept:>6} {rate:>10.0} {micros:>14.1} {mib:>12.0}"
            )?;
        }
    }
    Ok(())
}

fn measure(config: &str, nodes: usize, tables: bool) -> Duration {
    let options = EngineOptions {
        tables,
        ..EngineOptions::default()
    };
    let mut bench = Bench::with_options(config, nodes, PODS_PER_NODE, options);
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

fn run_case(file: &Path, warm_up: usize) -> anyhow::Result<()> {
    let (mut bench, pods) = read_case(file)?;
    ensure!(pods.len() > warm_up, "no pods are left to time");
    let (first, timed) = pods.split_at(warm_up);
    for pod in first {
        bench.schedule(pod);
    }
    let begin = thread_cpu();
    let scheduled: usize = timed.iter().map(|pod| bench.schedule(pod)).sum();
    let cpu = thread_cpu().saturating_sub(begin);
    let answer = json!({
        "scheduled": scheduled,
        "cpuMicrosPerPod": cpu.as_secs_f64() * 1e6 / timed.len() as f64,
        "residentMiB": resident_bytes().map(|bytes| bytes >> 20),
    });
    writeln!(std::io::stdout(), "{answer}")?;
    Ok(())
}

/// The cluster of a case file, and the pods that wait, in its order.
fn read_case(file: &Path) -> anyhow::Result<(Bench, Vec<Arc<Pod>>)> {
    let text = std::fs::read(file).with_context(|| format!("{} is not read", file.display()))?;
    let case: Value = serde_json::from_slice(&text).context("the case is no JSON")?;
    let mut nodes = Vec::new();
    let mut running = Vec::new();
    for object in list(&case["objects"]) {
        match object["kind"].as_str() {
            Some("Node") => nodes.push(decode_node(object.to_string().as_bytes())?.into()),
            Some("Pod") => running.push(pod(object)?),
            kind => bail!("the bench knows no objects of kind {kind:?}"),
        }
    }
    let pending: anyhow::Result<Vec<_>> = list(&case["pending"]).iter().map(pod).collect();
    Ok((Bench::of(PLAIN, nodes, running), pending?))
}

fn pod(object: &Value) -> anyhow::Result<Arc<Pod>> {
    Ok(decode_pod(object.to_string().as_bytes())?.into())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
