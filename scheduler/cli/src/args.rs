//! The commands and their flags.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::check::{CheckOptions, check};
use crate::demo::{DemoOptions, demo};
use crate::sequence::sequence;
use crate::verdict::{CaseOptions, verdict};

/// Kubernetes scheduling by what nodes really carry.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What is logged on standard error: a level, or `target=level` pairs with commas between.
    #[arg(long, global = true, default_value = "error", value_name = "FILTER")]
    log: String,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tells the story of the blind spot on this machine, without Kubernetes.
    ///
    /// 32 nodes (this machine, measured by the real agent, and 31 simulated ones), 40 replicas
    /// that fit and 4 that do not, twice: by requests only, and by measured load. Takes about a minute. Exit status: 0 if
    /// measured load did better, 1 if not, 2 if the story could not be told.
    Demo(DemoOptions),

    /// Says what is wrong with a configuration file, and what is in effect.
    ///
    /// Reads a `KubeSchedulerConfiguration` (of --config) or a `PlimsollConfiguration` (of
    /// --plimsoll-config). Exit status: 0 if it has no errors, 1 if it has, 2 if it cannot be
    /// read.
    Check(CheckOptions),

    /// Judges the pending pods of a case, each alone, and prints every word as JSON.
    ///
    /// The plugins of the scheduler run on the cluster of the case as they would in it; all nodes
    /// are looked at. Exit status: 0, or 2 if the case makes no sense.
    Verdict(CaseOptions),
    /// Places the pending pods of a case one after another and prints where they go as JSON.
    ///
    /// Higher priority first, then as listed; of equally good nodes the first by name. Each pod
    /// sees those before it on their nodes. Exit status: 0, or 2 if the case makes no sense.
    Sequence(CaseOptions),
}

/// Reads the command line; ends the process where it asks for help or makes no sense.
pub(crate) fn parse() -> Cli {
    Cli::parse()
}

// === impl Cli ===

impl Cli {
    /// Does what is asked.
    ///
    /// # Errors
    /// It could not be done.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        start_logging(&self.log)?;
        match self.command {
            Command::Demo(options) => run_async(demo(&options)),
            Command::Check(options) => check(&options),
            Command::Verdict(options) => verdict(&options),
            Command::Sequence(options) => sequence(&options),
        }
    }
}

fn run_async(task: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime cannot be made")?;
    runtime.block_on(task)
}

fn start_logging(filter: &str) -> anyhow::Result<()> {
    let filter: EnvFilter = filter
        .parse()
        .with_context(|| format!("--log {filter}: expected a level or target=level pairs"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init()
        .map_err(|problem| anyhow::anyhow!("logging cannot start: {problem}"))
}
