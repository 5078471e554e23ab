//! Where log lines go: standard error, as text or JSON.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;

/// Begins to log.
///
/// # Errors
/// The filter cannot be read, or logging has begun already.
pub(crate) fn start(filter: &str, format: LogFormat) -> anyhow::Result<()> {
    let filter: EnvFilter = filter
        .parse()
        .with_context(|| format!("--log {filter}: expected a level or target=level pairs"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|problem| anyhow::anyhow!("logging cannot start: {problem}"))
}
