//! The programs that are shipped: takes a name, gives a path.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, ensure};
use plimsoll_tests::project_root;

/// Where the programs are, if not in this checkout's release build.
const FOLDER: &str = "PLIMSOLL_BIN_DIR";

/// The path of a program.
pub(crate) fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let path = folder()?.join(name);
    ensure!(path.exists(), "{} is not there", path.display());
    Ok(path)
}

fn folder() -> anyhow::Result<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = BUILT.get() {
        return Ok(folder.clone());
    }
    let folder = match given() {
        Some(folder) => folder,
        None => build()?,
    };
    Ok(BUILT.get_or_init(|| folder).clone())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test has no flags of its own: the test runner takes them all"
)]
fn given() -> Option<PathBuf> {
    std::env::var(FOLDER).ok().map(PathBuf::from)
}

fn build() -> anyhow::Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet"])
        .args(["-p", "plimsoll-scheduler", "-p", "plimsoll-agent"])
        .current_dir(project_root())
        .status()
        .context("cargo cannot be started")?;
    ensure!(status.success(), "the release build fails");
    // This program is target/debug/deps/e2e-...
    let this = std::env::current_exe()?;
    let target = this.ancestors().nth(3).context("no target folder")?;
    Ok(target.join("release"))
}
