//! The whole story: two runs, the report, the exit code.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::cast::{HOT, REAL_NODE, arriving, simulated_nodes, unplaceable};
use super::policy::Policy;
use super::report::{RealNode, Report, Verdict};
use super::run;
use super::summary::summary;
use super::view::View;

/// Flags of `plimsoll demo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoOptions {
    /// No live view: only the result, on standard output.
    #[arg(long)]
    headless: bool,

    /// The result as one JSON object (docs/demo.md) instead of text.
    #[arg(long)]
    json: bool,
}

/// Tells the story; 0 if Plimsoll's run is the better one, 1 if not.
///
/// # Errors
/// The story could not be told.
pub(crate) async fn demo(options: &DemoOptions) -> anyhow::Result<ExitCode> {
    let view = match (options.headless, std::io::stdout().is_terminal()) {
        (true, _) => View::Silent,
        (false, true) => View::live(simulated_nodes().len()),
        (false, false) => View::plain(),
    };
    let (requests_only, _) = run::run(Policy::RequestsOnly, &view).await?;
    let (plimsoll, last_sample) = run::run(Policy::Plimsoll, &view).await?;
    view.clear();
    let verdict = Verdict::of(&requests_only, &plimsoll);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        hot_threshold: HOT,
        replicas: arriving().count + unplaceable().count,
        runs: vec![requests_only, plimsoll],
        real_node: RealNode {
            name: REAL_NODE,
            last_sample,
        },
        verdict,
    };
    let text = if options.json {
        serde_json::to_string_pretty(&report).context("the report cannot be written as JSON")?
    } else {
        summary(&report)
    };
    writeln!(std::io::stdout(), "{}", text.trim_end()).context("the report cannot be printed")?;
    Ok(if report.verdict.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
