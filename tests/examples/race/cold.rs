//! Cold start: takes a cluster full of bound pods, gives the time from the start of each
//! scheduler to its first binding, and its memory.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Controlplane, Options, Signal, Stopwatch};

use super::args::{Args, Kind};
use super::bindings::Bindings;
use super::contender::Contender;
use super::crowd::{self, NODES, PODS};
use super::table::median;

/// Nodes of the cluster.
const SIZE: usize = 5000;
const BOUND: Duration = Duration::from_mins(2);
const END: Duration = Duration::from_secs(30);
/// Memory is looked at so long after the first binding: a list that was read is given back
/// by then, or never.
const REST: Duration = Duration::from_secs(3);

/// Runs it and gives its table.
///
/// # Errors
/// Something does not start, or a pod is not bound.
pub(crate) fn run(args: &Args, clock: Stopwatch) -> anyhow::Result<String> {
    let cluster = Controlplane::start(&Options::default())?;
    Contender::grant(&cluster)?;
    crowd::create(&cluster, NODES, SIZE, crowd::node)?;
    crowd::create(&cluster, PODS, args.bound, |index| {
        let mut pod = crowd::pod(&format!("b{index}"), "default-scheduler", Kind::Plain);
        pod["spec"]["nodeName"] = format!("n{}", index % SIZE).into();
        pod
    })?;
    let mut took: [Vec<[f64; 4]>; 2] = Default::default();
    for run in 0..args.runs {
        for (at, contender) in [Contender::Stock, Contender::Plimsoll]
            .into_iter()
            .enumerate()
        {
            if clock.elapsed() < args.within() {
                took[at].push(start(args, &cluster, contender, run)?);
            }
        }
    }
    cluster.close()?;
    let mut text = format!("\ncold start, {SIZE} nodes, {} bound pods\n", args.bound);
    let head = ["runs", "first s", "CPU s", "RSS MiB", "peak MiB"];
    let [runs, first, cpu, now, peak] = head;
    writeln!(
        text,
        "{:<9} {runs:>4} {first:>8} {cpu:>6} {now:>8} {peak:>8}",
        "scheduler"
    )?;
    for (name, took) in ["stock", "plimsoll"].iter().zip(&took) {
        let at = |n: usize| median(&took.iter().map(|run| run[n]).collect::<Vec<_>>());
        writeln!(
            text,
            "{name:<9} {:>4} {:>8.2} {:>6.2} {:>8.0} {:>8.0}",
            took.len(),
            at(0),
            at(1),
            at(2),
            at(3)
        )?;
    }
    Ok(text)
}

/// Seconds to the first binding, CPU seconds until then, MiB some time after it and at most.
fn start(
    args: &Args,
    cluster: &Controlplane,
    contender: Contender,
    run: usize,
) -> anyhow::Result<[f64; 4]> {
    let name = format!("{contender}-{run}");
    let pod = crowd::pod(&name, "default-scheduler", Kind::Plain);
    cluster.api().create(PODS, &pod)?;
    crowd::settle(cluster)?;
    let bindings = Bindings::watch(cluster.api(), Stopwatch::start())?;
    let started = bindings.now();
    let scheduler = contender.start(args, cluster, "default-scheduler")?;
    let bound = bindings.bound(&name, BOUND);
    let cpu = scheduler.cpu();
    let bound = bound.with_context(|| format!("{name} is not bound"))?;
    std::thread::sleep(REST);
    let mib = |bytes: Option<u64>| bytes.unwrap_or_default() as f64 / f64::from(1 << 20);
    let (now, peak) = (
        mib(scheduler.resident_bytes()),
        mib(scheduler.peak_resident_bytes()),
    );
    scheduler.end(Signal::Terminate, END)?;
    Ok([
        bound.saturating_sub(started).as_secs_f64(),
        cpu.unwrap_or_default().as_secs_f64(),
        now,
        peak,
    ])
}
