//! `plimsoll-scheduler`: the plugins of this repository, run.

use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll_scheduler::run(&plimsoll_plugins::registry())
}
