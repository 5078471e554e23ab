//! The command line. Takes flags and environment, gives options that cannot be wrong, or
//! an error in words. No other file reads the environment.

mod duration;
mod node_name;
mod run;
mod sample;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::inspect::SampleOptions;
use crate::sample::HostRoot;
use run::RunArguments;
use sample::SampleArguments;

pub use run::{LogArguments, LogFormat, LogLevel, Run};

/// Samples what this node really carries and streams it to every scheduler.
///
/// Without a subcommand: run.
#[derive(Debug, Parser)]
#[command(name = "plimsoll-agent", version)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Subcommands>,
    #[command(flatten)]
    run: RunArguments,
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// Sample and stream.
    Run(Box<Run>),
    /// Show samples.
    Sample(SampleOptions),
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Samples the node and streams to the schedulers (the default).
    Run(Box<RunArguments>),
    /// Shows what the agent measures, without any scheduler.
    Sample(SampleArguments),
}

/// Where the node's files are.
#[derive(Debug, Args)]
struct Roots {
    /// The host's /proc.
    #[arg(long, value_name = "DIR", default_value = "/proc")]
    proc: PathBuf,

    /// The host's /sys, with the cgroup tree below fs/cgroup.
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sys: PathBuf,
}

impl Arguments {
    /// Gives the command; flags without a subcommand mean `run`.
    ///
    /// # Errors
    /// If plain text was not agreed to.
    pub fn command(self) -> Result<Command, clap::Error> {
        let run = match self.command {
            Some(Subcommands::Sample(sample)) => return Ok(Command::Sample(sample.options())),
            Some(Subcommands::Run(run)) => *run,
            None => self.run,
        };
        let run = run
            .checked()
            .map_err(|(kind, words)| command_factory().error(kind, words))?;
        Ok(Command::Run(Box::new(run)))
    }
}

impl Roots {
    fn host_root(self) -> HostRoot {
        let Self { proc, sys } = self;
        HostRoot { proc, sys }
    }
}

fn command_factory() -> clap::Command {
    <Arguments as CommandFactory>::command()
}

#[cfg(test)]
mod tests;
