//! The command line. Takes flags and environment, gives options that cannot be wrong, or
//! an error in words. No other file reads the environment.

mod duration;
mod link_speed;
mod node_name;
mod run;
mod sample;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::inspect::SampleOptions;
use crate::sample::{BackEnd, HostRoot};
use link_speed::parse_link_speed;
use run::RunArguments;
use sample::SampleArguments;

pub use run::{LogArguments, LogFormat, LogLevel, Run};

const SYSINFO_ROOT_ERROR: &str = "\
--proc and --sys cannot be used with --sampler sysinfo, which always reads this system's own";

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

/// How the node is measured.
#[derive(Debug, Args)]
struct Measuring {
    /// The host's /proc.
    #[arg(long, value_name = "DIR", default_value = "/proc")]
    proc: PathBuf,

    /// The host's /sys, with the cgroup tree below fs/cgroup.
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sys: PathBuf,

    /// What reads the node. sysinfo always reads this system's own /proc and /sys.
    #[arg(long, value_name = "NAME", default_value = "native")]
    sampler: BackEnd,

    /// Speed of the node's physical links together, one direction, in bit/s: 10G, 2.5G, 400M.
    /// Goes before what the drivers say; a node's annotation goes before both.
    #[arg(
        long,
        env = "PLIMSOLL_LINK_SPEED",
        value_name = "SPEED",
        value_parser = parse_link_speed
    )]
    link_speed: Option<u64>,
}

impl Arguments {
    /// Gives the command; flags without a subcommand mean `run`.
    ///
    /// # Errors
    /// If flags do not go together, or plain text was not agreed to.
    pub fn command(self) -> Result<Command, clap::Error> {
        let run = match self.command {
            Some(Subcommands::Sample(sample)) => {
                let options = sample.options();
                return options
                    .map(Command::Sample)
                    .map_err(|(kind, words)| command_factory().error(kind, words));
            }
            Some(Subcommands::Run(run)) => *run,
            None => self.run,
        };
        let run = run
            .checked()
            .map_err(|(kind, words)| command_factory().error(kind, words))?;
        Ok(Command::Run(Box::new(run)))
    }
}

impl Measuring {
    /// Gives what is to be read.
    ///
    /// # Errors
    /// In words, if sysinfo is to read another system than this.
    fn checked(self) -> Result<(BackEnd, HostRoot, Option<u64>), (ErrorKind, &'static str)> {
        let (proc, sys) = (self.proc, self.sys);
        let root = HostRoot { proc, sys };
        if self.sampler == BackEnd::Sysinfo && root != HostRoot::default() {
            return Err((ErrorKind::ArgumentConflict, SYSINFO_ROOT_ERROR));
        }
        Ok((self.sampler, root, self.link_speed))
    }
}

fn command_factory() -> clap::Command {
    <Arguments as CommandFactory>::command()
}

#[cfg(test)]
mod tests;
