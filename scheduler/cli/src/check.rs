//! `plimsoll check FILE`: what is wrong with a configuration file, and what is in effect.
//!
//! Takes a `KubeSchedulerConfiguration` or a `PlimsollConfiguration`, prints every mistake
//! with its line, what is allowed but hardly meant, and on request what runs where.

mod advice;
mod findings;
mod table;
mod text;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use self::findings::Findings;

/// A file of a hundred profiles has a tenth of it. What is larger is something else.
const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Certificates that a file names; bundles of all public roots have a tenth of it.
const CERTIFICATE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// Flags of `plimsoll check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// The file; `-` reads standard input.
    file: PathBuf,

    /// Prints what runs at every point of every profile, with weights and args.
    #[arg(long)]
    effective: bool,

    /// Prints one JSON object: `ok`, `errors` as kube-scheduler would report them, `warnings`
    /// and `effective`.
    #[arg(long)]
    json: bool,
}

/// Checks the file.
///
/// # Errors
/// It cannot be read, or nothing can be printed.
pub(crate) fn check(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let bytes = read(&options.file)?;
    let findings = Findings::of(&bytes, &read_named);
    let text = if options.json {
        format!("{:#}\n", findings.to_json())
    } else {
        text::render(
            &options.file.to_string_lossy(),
            &findings,
            options.effective,
        )
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("standard output cannot be written")?;
    Ok(if findings.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = path.display();
    let source: Box<dyn Read> = if path.as_os_str() == STANDARD_INPUT {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("{name} cannot be opened"))?)
    };
    let bytes = at_most(source, BYTES_MAX).with_context(|| format!("{name} cannot be read"))?;
    match bytes {
        Some(bytes) => Ok(bytes),
        None => bail!("{name} is larger than {BYTES_MAX} bytes: no configuration is"),
    }
}

/// A file that the configuration names, relative to where the command runs.
fn read_named(path: &str) -> Result<Vec<u8>, String> {
    let cannot = |problem: std::io::Error| format!("{path} cannot be read: {problem}");
    // A pipe or a device could be waited for, or read, for ever.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(format!("{path} is not a file"));
    }
    let file = File::open(path).map_err(cannot)?;
    let bytes = at_most(file, CERTIFICATE_BYTES_MAX).map_err(cannot)?;
    bytes.ok_or_else(|| format!("{path} is larger than {CERTIFICATE_BYTES_MAX} bytes"))
}

/// All that is there; `None` where it is more than `limit`.
fn at_most(source: impl Read, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests;
