//! `plimsoll verdict`: what the scheduler says of every pending pod of a case.
//!
//! Takes a case (a cluster, a configuration, pods), gives the words of the scheduler's own
//! engine and plugins as JSON, in the shape of the oracle that asks kube-scheduler.

mod answer;
mod case;
mod layout;
mod object;
mod world;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use self::answer::VerdictAnswer;

pub(crate) use self::answer::SequenceAnswer;
pub(crate) use self::world::World;

/// Down to which depth a value stands on a line of its own.
const LINES_TO_DEPTH: usize = 3;

/// Which case.
#[derive(Debug, clap::Args)]
pub(crate) struct CaseOptions {
    /// The case, or a golden file that has one: JSON, packed if the name ends in `.gz`; `-` is
    /// standard input.
    #[arg(value_name = "CASE.json")]
    pub(crate) case: PathBuf,

    /// Judge every node for every pod: keep no verdict for pods that are alike. The answer is
    /// the same.
    #[arg(long)]
    pub(crate) no_tables: bool,
}

/// Judges the pods of the case and prints every word.
///
/// # Errors
/// The case makes no sense; names the file and the place.
pub(crate) fn verdict(options: &CaseOptions) -> anyhow::Result<ExitCode> {
    let mut world = World::read(&options.case, !options.no_tables)?;
    let pending = world.pending();
    let verdicts = pending.iter().map(|(place, pod)| world.judge(place, pod));
    let verdicts: anyhow::Result<Vec<_>> = verdicts.collect();
    let verdicts = verdicts.with_context(|| options.case.display().to_string())?;
    print(&VerdictAnswer::of(&verdicts), LINES_TO_DEPTH)
}

/// Prints an answer.
///
/// # Errors
/// Nobody reads it.
pub(crate) fn print(answer: &impl Serialize, lines_to_depth: usize) -> anyhow::Result<ExitCode> {
    let compact = serde_json::to_string(answer).context("the answer cannot be written as JSON")?;
    let text = layout::lines(&compact, lines_to_depth);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("the answer cannot be printed")?;
    Ok(ExitCode::SUCCESS)
}
