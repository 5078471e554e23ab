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
//! | `pods` | with `--pods`: `uid` (of a static pod the hash of its manifest), `ageSeconds`, `cpuMillicores` (mean with a time constant of 10 s), `memoryBytes` (working set), `ended` |
//!
//! With `--sampler sysinfo` what sysinfo cannot tell is `null`, and the sources say `sysinfo`.

pub mod json;
mod text;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::sample::portable::{PortableSampler, Unsupported};
use crate::sample::{BackEnd, HostRoot, NodeSampler};
use crate::usage::{PodTable, Source};
use json::SampleJson;

/// What to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// Where the samples come from.
    pub input: SampleInput,
    /// One JSON object per sample instead of text.
    pub json: bool,
    /// The pods too.
    pub pods: bool,
}

/// Where samples come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleInput {
    /// A node, read `count` times after a first reading that only sets the base.
    Live {
        /// How it is measured.
        sampler: BackEnd,
        /// Its `/proc` and `/sys`, for the native sampler.
        root: HostRoot,
        /// Speed of its links in bytes per second, as the operator says.
        link_speed: Option<u64>,
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
    /// The second back end does not run here.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Pods asked of a back end that sees none.
    #[error("sysinfo cannot see pods: leave out --pods, or --sampler")]
    NoPods,
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
    let mut page = Page {
        json: options.json,
        pods: options.pods.then(PodTable::default),
        out,
    };
    match &options.input {
        SampleInput::Live {
            sampler: BackEnd::Native,
            root,
            link_speed,
            count,
            interval,
        } => {
            check(root, *interval)?;
            let sampler = NodeSampler::open(root.clone(), *interval)
                .with_link_speed(*link_speed)
                .with_pods_at_every_tick();
            page.live(sampler, SampleJson::of, (*count, *interval), clock)
        }
        SampleInput::Live {
            sampler: BackEnd::Sysinfo,
            link_speed,
            count,
            interval,
            ..
        } => {
            if options.pods {
                return Err(Error::NoPods);
            }
            if interval.is_zero() {
                return Err(Error::NoTime);
            }
            let sampler = PortableSampler::open(*interval, *link_speed)?;
            page.live(sampler, SampleJson::of_portable, (*count, *interval), clock)
        }
        SampleInput::Recorded { from, to, elapsed } => {
            let (from, to) = (HostRoot::below(from), HostRoot::below(to));
            check(&from, *elapsed)?;
            check(&to, *elapsed)?;
            let mut sampler = NodeSampler::open(from, *elapsed).with_pods_at_every_tick();
            page.take(&mut sampler, Duration::ZERO);
            sampler.move_to(to);
            page.take(&mut sampler, *elapsed);
            page.show(SampleJson::of(&sampler))
        }
    }
}

/// Where samples are shown, and how.
struct Page<'a> {
    json: bool,
    /// The newest pods, if they are to be shown.
    pods: Option<PodTable>,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    /// Shows `count` samples, one each `interval`.
    fn live<S: Source>(
        &mut self,
        mut source: S,
        json: fn(&S) -> SampleJson,
        (count, interval): (u32, Duration),
        clock: &mut dyn Clock,
    ) -> Result<(), Error> {
        self.take(&mut source, clock.now());
        for _ in 0..count {
            clock.sleep(interval);
            let now = clock.now();
            self.take(&mut source, now);
            self.show(json(&source))?;
            if let Some(survey) = source.survey(now) {
                source.apply(survey.run());
            }
        }
        Ok(())
    }

    fn take(&mut self, source: &mut impl Source, at: Duration) {
        source.sample(at);
        if let Some(pods) = &mut self.pods {
            *pods = source.pods(at).unwrap_or_else(|| PodTable::clone(pods));
        }
    }

    fn show(&mut self, sample: SampleJson) -> Result<(), Error> {
        let sample = match &self.pods {
            Some(pods) => sample.with_pods(pods),
            None => sample,
        };
        let written = if self.json {
            serde_json::to_writer(&mut *self.out, &sample)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(self.out))
        } else {
            text::write(&sample, self.out)
        };
        written
            .and_then(|()| self.out.flush())
            .map_err(Error::Write)
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

#[cfg(test)]
mod tests;
