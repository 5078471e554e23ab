//! The commands and their flags.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::demo::{DemoOptions, demo};

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
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the runtime cannot be made")?;
        runtime.block_on(async {
            match self.command {
                Command::Demo(options) => demo(&options).await,
            }
        })
    }
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
