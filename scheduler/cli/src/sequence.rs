//! `plimsoll sequence`: the pending pods of a case, placed one after another.
//!
//! Takes a case, gives what the scheduler's own engine and plugins do with it as JSON.

use std::cmp::Reverse;
use std::process::ExitCode;

use anyhow::Context;

use crate::verdict::{CaseOptions, SequenceAnswer, World, print};

/// Down to which depth a value stands on a line of its own.
const LINES_TO_DEPTH: usize = 2;

/// Places the pods of the case and prints where they go.
///
/// # Errors
/// The case makes no sense; names the file and the place.
pub(crate) fn sequence(options: &CaseOptions) -> anyhow::Result<ExitCode> {
    let mut world = World::read(&options.case, !options.no_tables)?;
    let mut queue = world.pending();
    queue.sort_by_key(|(_, pod)| Reverse(pod.spec.priority));
    let placed = queue.iter().map(|(place, pod)| world.place(place, pod));
    let placed: anyhow::Result<Vec<_>> = placed.collect();
    let placed = placed.with_context(|| options.case.display().to_string())?;
    print(&SequenceAnswer::of(&placed), LINES_TO_DEPTH)
}
