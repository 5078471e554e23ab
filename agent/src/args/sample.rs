//! Flags of `plimsoll-agent sample`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::error::ErrorKind;

use super::Measuring;
use super::duration::parse_duration;
use crate::inspect::{SampleInput, SampleOptions};

/// Flags of `sample`.
#[derive(Debug, Args)]
pub(super) struct SampleArguments {
    #[command(flatten)]
    measuring: Measuring,

    /// Number of samples to show; the first comes after one interval.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    count: u32,

    /// Time between two samples, as 1s or 500ms.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_duration)]
    interval: Duration,

    /// Shows JSON, one object per sample, instead of text.
    #[arg(long)]
    json: bool,

    /// Shows the pods too, by the uids of their cgroups.
    #[arg(long)]
    pods: bool,

    /// Recorded tree (with proc/ and sys/) of the first reading, instead of this machine.
    #[arg(
        long,
        value_name = "DIR",
        requires = "to",
        conflicts_with_all = ["proc", "sys", "sampler", "link_speed", "count", "interval"]
    )]
    from: Option<PathBuf>,

    /// Recorded tree of the second reading.
    #[arg(long, value_name = "DIR", requires = "from")]
    to: Option<PathBuf>,

    /// Time between the two recorded readings, as 1s or 500ms.
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "1s",
        requires = "from",
        value_parser = parse_duration
    )]
    elapsed: Duration,
}

impl SampleArguments {
    /// Gives what to show.
    ///
    /// # Errors
    /// In words, if flags do not go together.
    pub(super) fn options(self) -> Result<SampleOptions, (ErrorKind, &'static str)> {
        let input = if let (Some(from), Some(to)) = (self.from, self.to) {
            SampleInput::Recorded {
                from,
                to,
                elapsed: self.elapsed,
            }
        } else {
            let (sampler, root, link_speed) = self.measuring.checked()?;
            SampleInput::Live {
                sampler,
                root,
                link_speed,
                count: self.count,
                interval: self.interval,
            }
        };
        Ok(SampleOptions {
            input,
            json: self.json,
            pods: self.pods,
        })
    }
}
