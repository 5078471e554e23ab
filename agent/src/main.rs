//! `plimsoll-agent`: parses the command line, runs what it asks for, gives the exit code: 0
//! ended as asked, 1 failed, 2 wrong usage.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use plimsoll_agent::args::{Arguments, Command};
use plimsoll_agent::clock::Clock;
use plimsoll_agent::inspect::SampleInput;
use plimsoll_agent::sample::portable::{self, PortableSampler};
use plimsoll_agent::sample::{BackEnd, NodeSampler};
use plimsoll_agent::usage::Source;
use plimsoll_agent::{app, inspect, logs};
use tracing::warn;

fn main() -> ExitCode {
    let command = Arguments::parse()
        .command()
        .unwrap_or_else(|error| error.exit());
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads the samples has seen enough.
        Err(problem) if is_broken_pipe(&problem) => ExitCode::SUCCESS,
        Err(problem) => {
            // Where standard error is gone there is nobody left to tell.
            drop(writeln!(io::stderr(), "error: {problem:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => {
            logs::start(run.log);
            for folder in run.root.missing() {
                let folder = folder.display();
                warn!(%folder, "not a folder: nothing of it is measured");
            }
            let (root, period) = (run.root, run.options.stream.period);
            match run.sampler {
                BackEnd::Native => {
                    let sampler = NodeSampler::open(root, period)
                        .with_clock(Clock::start())
                        .with_link_speed(run.link_speed);
                    run_agent(checked(sampler), run.options)
                }
                BackEnd::Sysinfo => {
                    let sampler = PortableSampler::open(period, run.link_speed)?;
                    run_agent(sampler, run.options)
                }
            }
        }
        Command::Sample(sample) => {
            if let SampleInput::Live { root, .. } = &sample.input {
                for folder in root.missing() {
                    let folder = folder.display();
                    let warning = "is not a folder: nothing of it is measured";
                    drop(writeln!(io::stderr(), "warning: {folder} {warning}"));
                }
            }
            let (mut out, mut clock) = (io::stdout(), Clock::start());
            Ok(inspect::run_sample(&sample, &mut out, &mut clock)?)
        }
    }
}

/// Tells where sysinfo sees another machine than the native sampler.
fn checked(mut sampler: NodeSampler) -> NodeSampler {
    for difference in portable::machine().map_or_else(Vec::new, |seen| sampler.cross_check(seen)) {
        warn!(difference, "two ways to look at this machine disagree");
    }
    sampler
}

fn run_agent(source: impl Source, options: app::Options) -> anyhow::Result<()> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build()?;
    let ended = runtime.block_on(app::run(source, options));
    // A survey that hangs in the kernel must not hold the process back.
    runtime.shutdown_background();
    Ok(ended?)
}

fn is_broken_pipe(problem: &anyhow::Error) -> bool {
    let causes = problem
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes
        .into_iter()
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
