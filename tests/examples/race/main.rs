//! The race: takes sizes and kinds, runs kube-scheduler and Plimsoll in turn on fresh
//! control planes, gives the table of throughput, CPU, memory, refusals and latency.
//!
//! `tests/race/run` builds what it needs. One run of a burst: an empty etcd, nodes, pods that
//! wait, a quiet machine, then the scheduler, until all are bound and its events are written.

mod args;
mod bindings;
mod burst;
mod cold;
mod contender;
mod crowd;
mod idle;
mod sampler;
mod table;

use std::io::Write;

use clap::Parser;
use plimsoll_tests::controlplane::Stopwatch;

use self::args::{Args, Part};
use self::burst::Burst;
use self::contender::Contender;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let clock = Stopwatch::start();
    for part in &args.parts {
        match part {
            Part::Burst => bursts(&args, clock)?,
            Part::Idle => say(&idle::run(&args))?,
            Part::Cold => say(&cold::run(&args, clock))?,
        }
    }
    print(&format!(
        "whole race: {:.1} min\n",
        clock.elapsed().as_secs_f64() / 60.0
    ))
}

/// All bursts in turn. What fails is said and left out: a table of the rest is worth more
/// than none.
fn bursts(args: &Args, clock: Stopwatch) -> anyhow::Result<()> {
    let mut done = Vec::new();
    print(&format!("{}\n", table::RUN_HEAD))?;
    for (nodes, kind) in args.fields() {
        for run in 0..args.runs {
            for contender in args.contenders() {
                if clock.elapsed() > args.within() {
                    print("out of time: the rest is left out\n")?;
                    return print(&table::bursts(&done));
                }
                let burst = Burst {
                    contender,
                    nodes,
                    kind,
                    pods: args.pods,
                };
                match burst.run(args) {
                    Ok(result) => {
                        print(&format!("{}\n", table::run(&burst, run, &result)))?;
                        done.push((burst, result));
                    }
                    Err(error) => print(&format!("{burst}: failed: {error:#}\n"))?,
                }
            }
        }
    }
    print(&table::bursts(&done))
}

fn say(text: &anyhow::Result<String>) -> anyhow::Result<()> {
    match text {
        Ok(text) => print(text),
        Err(error) => print(&format!("failed: {error:#}\n")),
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
