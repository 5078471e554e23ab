//! `plimsoll`: the command line for people.

use std::io::Write;
use std::process::ExitCode;

mod args;
mod check;
mod demo;
mod sequence;
mod verdict;

fn main() -> ExitCode {
    let outcome = args::parse().run();
    outcome.unwrap_or_else(|problem| {
        // Where standard error is gone there is nobody left to tell.
        drop(writeln!(std::io::stderr(), "error: {problem:#}"));
        ExitCode::from(2)
    })
}
