//! Latency when idle: takes both schedulers beside each other on one cluster, gives the time
//! from sending a pod to seeing it bound, one pod at a time, first of one, then of the other.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Controlplane, Options, Stopwatch};

use super::args::{Args, Kind};
use super::bindings::Bindings;
use super::contender::Contender;
use super::crowd::{self, NODES, PODS};
use super::table::{median, quantile};

/// Nodes of the cluster.
const SIZE: usize = 1000;
/// Pods of each scheduler.
const EACH: usize = 200;
/// Pods of each before it counts.
const WARM: usize = 10;
const BOUND: Duration = Duration::from_secs(20);
/// For the events of the last pod.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs it and gives its table.
///
/// # Errors
/// Something does not start, or a pod is not bound.
pub(crate) fn run(args: &Args) -> anyhow::Result<String> {
    let cluster = Controlplane::start(&Options::default())?;
    Contender::grant(&cluster)?;
    crowd::create(&cluster, NODES, SIZE, crowd::node)?;
    crowd::settle(&cluster)?;
    let clock = Stopwatch::start();
    let bindings = Bindings::watch(cluster.api(), clock)?;
    let names = [Contender::Stock, Contender::Plimsoll].map(|one| (one, one.to_string()));
    let mut running = Vec::new();
    for (contender, name) in &names {
        running.push(contender.start(args, &cluster, name)?);
    }
    let mut line = cluster.api().line()?;
    let mut took: [Vec<f64>; 2] = Default::default();
    for index in 0..WARM + EACH {
        // Who is first changes, so that neither always follows the other.
        let order = if index % 2 == 0 { [0, 1] } else { [1, 0] };
        for at in order {
            let scheduler = &names[at].1;
            let name = format!("{scheduler}-{index}");
            let pod = crowd::pod(&name, scheduler, Kind::Plain).to_string();
            std::thread::sleep(PAUSE);
            let sent = bindings.now();
            line.create(PODS, &pod)?;
            let bound = bindings.bound(&name, BOUND);
            let bound = bound.with_context(|| format!("{name} is not bound"))?;
            if index >= WARM {
                took[at].push((bound.saturating_sub(sent)).as_secs_f64() * 1000.0);
            }
        }
    }
    drop(running);
    cluster.close()?;
    report(&took)
}

fn report(took: &[Vec<f64>; 2]) -> anyhow::Result<String> {
    let mut text = format!("\nidle, {SIZE} nodes, {EACH} pairs, create to bound, ms\n");
    writeln!(
        text,
        "{:<9} {:>6} {:>6} {:>6}",
        "scheduler", "p50", "p90", "p99"
    )?;
    for (name, took) in ["stock", "plimsoll"].iter().zip(took) {
        let at = |share| quantile(took, share);
        writeln!(
            text,
            "{name:<9} {:>6.1} {:>6.1} {:>6.1}",
            at(0.5),
            at(0.9),
            at(0.99)
        )?;
    }
    let pairs = took[0].iter().zip(&took[1]);
    let more: Vec<f64> = pairs.map(|(stock, ours)| ours - stock).collect();
    writeln!(
        text,
        "plimsoll less stock, median of pairs: {:.2}",
        median(&more)
    )?;
    Ok(text)
}
