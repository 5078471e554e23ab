//! Flags of the race.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, ValueEnum};

use super::Contender;

/// Races kube-scheduler and Plimsoll in turn on fresh control planes.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Args {
    /// Sizes of the cluster, in nodes.
    #[arg(long, value_delimiter = ',', default_value = "100,1000,5000")]
    nodes: Vec<usize>,

    /// Kinds of pods.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "plain,spread"
    )]
    kinds: Vec<Kind>,

    /// Runs of each scheduler in each field.
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: usize,

    /// Pods that wait at the start of a burst.
    #[arg(long, default_value_t = 2000)]
    pub(crate) pods: usize,

    /// What is run, in this order.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "idle,cold,burst"
    )]
    pub(crate) parts: Vec<Part>,

    /// One scheduler alone, to look at it.
    #[arg(long, value_enum)]
    only: Option<Contender>,

    /// Pods already bound in the cold start.
    #[arg(long, default_value_t = 50_000)]
    pub(crate) bound: usize,

    /// Nothing new is begun after so many minutes.
    #[arg(long, default_value_t = 24)]
    minutes: u64,

    /// Where plimsoll-scheduler is; without it beside this program's folder.
    #[arg(long)]
    bin_dir: Option<PathBuf>,
}

/// A kind of pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// A request and nothing else.
    Plain,
    /// A soft spread over zones and over nodes.
    Spread,
}

/// A part of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Pods that wait at the start.
    Burst,
    /// One pod at a time, both schedulers beside each other.
    Idle,
    /// A start with many pods bound.
    Cold,
}

// === impl Args ===

impl Args {
    /// Sizes and kinds, smallest first.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (usize, Kind)> {
        let sizes = self.nodes.iter();
        sizes.flat_map(|nodes| self.kinds.iter().map(|kind| (*nodes, *kind)))
    }

    pub(crate) fn contenders(&self) -> Vec<Contender> {
        match self.only {
            Some(one) => vec![one],
            None => vec![Contender::Stock, Contender::Plimsoll],
        }
    }

    pub(crate) fn within(&self) -> Duration {
        Duration::from_secs(60 * self.minutes)
    }

    /// The scheduler that is shipped.
    pub(crate) fn scheduler(&self) -> anyhow::Result<PathBuf> {
        // This program is target/release/examples/race.
        let this = std::env::current_exe()?;
        let folder = self.bin_dir.as_deref().or(this.ancestors().nth(2));
        Ok(folder
            .context("no target folder")?
            .join("plimsoll-scheduler"))
    }
}
