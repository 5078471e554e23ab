//! The program: flags, logging, runtime, signals, exit code.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use plimsoll_framework::Registry;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::app::{App, AppOptions};
use crate::args::Args;
use crate::{descriptors, logging};

/// Runs the scheduler with the plugins of `registry` until it is told to stop. The door for
/// out-of-tree plugins: a binary of one's own calls this.
pub fn run(registry: &Registry) -> ExitCode {
    match start(&Args::parse(), registry) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // Where standard error is gone there is nobody left to tell.
            drop(writeln!(std::io::stderr(), "error: {}", chain(&problem)));
            ExitCode::FAILURE
        }
    }
}

/// All causes of a problem, outermost first; one that the text before it already says (as
/// some libraries' errors do) is left out.
fn chain(problem: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in problem.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn start(args: &Args, registry: &Registry) -> anyhow::Result<()> {
    logging::start(&args.log, args.log_format)?;
    let options = AppOptions::from_args(args, registry)?;
    descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("the runtime cannot be made")?;
    let ended = runtime.block_on(async {
        let stop = CancellationToken::new();
        let signals = Signals::listen()?;
        let running = App::build(options, stop.clone()).await?.run();
        tokio::pin!(running);
        tokio::select! {
            ran = &mut running => return ran,
            name = signals.first() => info!(signal = name, "stopping"),
        }
        stop.cancel();
        running.await
    });
    // A look at a name or a file that hangs in the system must not hold the process back.
    runtime.shutdown_background();
    ended
}

/// Threads for sockets and JSON; the engine has one of its own.
const WORKERS: usize = 2;

/// The signals that end the process in good order.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

// === impl Signals ===

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be listened to")?;
        let interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be listened to")?;
        Ok(Self {
            terminate,
            interrupt,
        })
    }

    async fn first(mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn a_cause_is_said_once() {
        let problem = anyhow::anyhow!("no such file")
            .context("cannot read a: no such file")
            .context("cannot start");
        assert_eq!(chain(&problem), "cannot start: cannot read a: no such file");
    }
}
