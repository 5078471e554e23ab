//! `plimsoll-agent`: parses the command line, runs what it asks for, gives the exit code: 0
//! ended as asked, 1 failed, 2 wrong usage.

use clap::Parser;
use plimsoll_agent::args::{Arguments, Command};
use plimsoll_agent::clock::Clock;
use plimsoll_agent::{app, inspect, logs, sample::NodeSampler};

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command() {
        Ok(Command::Run(run)) => {
            logs::start(run.log);
            let source = NodeSampler::open(run.root, run.options.stream.period);
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build()?;
            let ended = runtime.block_on(app::run(source, run.options));
            // A survey that hangs in the kernel must not hold the process back.
            runtime.shutdown_background();
            Ok(ended?)
        }
        Ok(Command::Sample(sample)) => {
            let (mut out, mut clock) = (std::io::stdout(), Clock::start());
            Ok(inspect::run_sample(&sample, &mut out, &mut clock)?)
        }
        Err(error) => error.exit(),
    }
}
