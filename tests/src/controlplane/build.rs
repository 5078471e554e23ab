//! The programs of the control plane, built once: takes nothing, gives their folder.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::project_root;

/// The folder with etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kubectl,
/// built first if they are not there.
///
/// # Errors
/// Go is missing or the build fails; the reason is on standard error.
pub fn programs() -> anyhow::Result<PathBuf> {
    let script = project_root().join("tests/controlplane/build");
    let mut command = Command::new(&script);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = output
        .output()
        .with_context(|| format!("{} cannot be started", script.display()))?;
    ensure!(output.status.success(), "the control plane is not built");
    let folder = String::from_utf8(output.stdout).context("its folder is not text")?;
    Ok(PathBuf::from(folder.trim_end()))
}
