//! Where log lines go: to standard error, as text or JSON. Takes what the command line says.

use std::io;

use tracing::level_filters::LevelFilter;

use crate::args::{LogArguments, LogFormat, LogLevel};

/// Starts logging for the whole process; a second call changes nothing.
pub fn start(log: LogArguments) {
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(filter(log.log_level))
        .with_ansi(false);
    let started = match log.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if let Err(error) = started {
        tracing::debug!(error, "logging had been started before");
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
