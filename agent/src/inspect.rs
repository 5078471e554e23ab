//! `plimsoll-agent sample`: takes one node or two recorded trees, gives what the sampler
//! finds there, as JSON lines or for people. The keys of the JSON are stable; what was not
//! measured is `null`.
//!
//! | key | value |
//! | --- | --- |
//! | `cpu` | `millicores`, `ratio` (of `cpus`, those online), `source` (`cgroup-v1`, `cgroup-v2`, `proc-stat`), `tickRatio` (by `/proc/stat` alone), `steal` |
//! | `memory` | `usedBytes`, `totalBytes`, `ratio` (of `totalBytes`, which is `MemTotal`), `arcReclaimableBytes` |
//! | `network` | `rxBytesPerSecond`, `txBytesPerSecond`, `linkBytesPerSecond`, `ratio` (the larger direction, of the links' speed), `source` (`sysfs`, `proc1`), `reason` (why there is no figure), `interfaces` |
//! | `psi` | `cpu`, `memory`, `io`: shares of time in which some task waited |
//! | `counters` | what went wrong so far, by reason |
//! | `untrusted` | why the figures cannot be trusted |

pub mod json;
mod text;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::sample::{HostRoot, NodeSampler};
use crate::usage::Source;
use json::SampleJson;

/// What to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// Where the samples come from.
    pub input: SampleInput,
    /// One JSON object per sample instead of text.
    pub json: bool,
}

/// Where samples come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleInput {
    /// A node, read `count` times after a first reading that only sets the base.
    Live {
        /// Its `/proc` and `/sys`.
        root: HostRoot,
        /// Number of samples.
        count: u32,
        /// Time between two of them; more than zero.
        interval: Duration,
    },
    /// Two recorded trees of one node, each a folder with `proc` and `sys`: one sample.
    Recorded {
        /// The earlier.
        from: PathBuf,
        /// The later.
        to: PathBuf,
        /// Time between the two; more than zero.
        elapsed: Duration,
    },
}

/// The clock of the caller: the edges own time.
pub trait Clock {
    /// Monotonic time.
    fn now(&mut self) -> Duration;
    /// Waits.
    fn sleep(&mut self, time: Duration);
}

/// Why samples could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder to read from is not there.
    #[error("{} is not a folder", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// No time between two samples.
    #[error("the time between two samples must be more than zero")]
    NoTime,
    /// The output is closed or full.
    #[error("cannot write a sample")]
    Write(#[source] io::Error),
}

/// Shows samples on `out`.
///
/// # Errors
/// If a folder is missing, an interval is zero, or `out` fails.
pub fn run_sample(
    options: &SampleOptions,
    out: &mut dyn Write,
    clock: &mut dyn Clock,
) -> Result<(), Error> {
    match &options.input {
        SampleInput::Live {
            root,
            count,
            interval,
        } => {
            check(root, *interval)?;
            let mut sampler = NodeSampler::open(root.clone(), *interval);
            sampler.sample(clock.now());
            for _ in 0..*count {
                clock.sleep(*interval);
                let now = clock.now();
                sampler.sample(now);
                show(&sampler, options.json, out)?;
                if let Some(survey) = sampler.survey(now) {
                    sampler.apply(survey.run());
                }
            }
            Ok(())
        }
        SampleInput::Recorded { from, to, elapsed } => {
            let (from, to) = (HostRoot::below(from), HostRoot::below(to));
            check(&from, *elapsed)?;
            check(&to, *elapsed)?;
            let mut sampler = NodeSampler::open(from, *elapsed);
            sampler.sample(Duration::ZERO);
            sampler.move_to(to);
            sampler.sample(*elapsed);
            show(&sampler, options.json, out)
        }
    }
}

fn check(root: &HostRoot, interval: Duration) -> Result<(), Error> {
    if interval.is_zero() {
        return Err(Error::NoTime);
    }
    // Of a recorded tree one of the two may be left out, as nothing in it was measured.
    if root.proc.is_dir() || root.sys.is_dir() {
        return Ok(());
    }
    Err(Error::NoFolder {
        path: root.proc.clone(),
    })
}

fn show(sampler: &NodeSampler, json: bool, out: &mut dyn Write) -> Result<(), Error> {
    let sample = SampleJson::of(sampler);
    let written = if json {
        serde_json::to_writer(&mut *out, &sample)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        text::write(&sample, out)
    };
    written.and_then(|()| out.flush()).map_err(Error::Write)
}

#[cfg(test)]
mod tests;
