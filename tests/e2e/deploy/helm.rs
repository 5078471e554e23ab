//! Helm, built from its Go module once: takes arguments, gives what it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, ensure};
use plimsoll_tests::project_root;

/// Namespace and release of every test.
pub(super) const NAMESPACE: &str = "plimsoll-system";
pub(super) const RELEASE: &str = "plimsoll";

/// The chart.
pub(super) fn chart() -> PathBuf {
    project_root().join("deploy/helm/plimsoll")
}

/// The value sets of the chart, in the order of their names.
pub(super) fn value_sets() -> anyhow::Result<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(chart().join("ci"))? {
        sets.push(entry?.path());
    }
    sets.sort();
    Ok(sets)
}

/// The program.
///
/// # Errors
/// Go is missing or the build fails; the reason is on standard error.
pub(super) fn program() -> anyhow::Result<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build().map_err(|problem| format!("{problem:#}")));
    built.as_deref().map_err(|words| anyhow::anyhow!("{words}"))
}

fn build() -> anyhow::Result<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helm");
    let mut go = Command::new("go");
    // The go command may stand where no shell looks.
    let path = std::env::join_paths(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .chain([PathBuf::from("/usr/local/go/bin")]),
    )?;
    go.current_dir(project_root().join("tests/helm"))
        .env("PATH", path)
        .args(["build", "-buildvcs=false", "-ldflags=-s -w", "-o"])
        .arg(&program)
        .arg("helm.sh/helm/v4/cmd/helm")
        .stdin(Stdio::null());
    let built = go
        .status()
        .context("Helm is built with Go, which is missing: install Go 1.26 or newer")?;
    ensure!(built.success(), "Helm is not built");
    Ok(program)
}

/// Runs Helm against the cluster of a kubeconfig.
///
/// # Errors
/// It cannot be built or started. An exit code other than 0 is no error.
pub(super) fn helm(kubeconfig: Option<&Path>, arguments: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new(program()?);
    match kubeconfig {
        Some(path) => command.env("KUBECONFIG", path),
        None => command.env_remove("KUBECONFIG"),
    };
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helm-home");
    command.env("HELM_CONFIG_HOME", &home);
    command.env("HELM_CACHE_HOME", &home);
    command.env("HELM_DATA_HOME", &home);
    command.args(arguments).stdin(Stdio::null());
    command.output().context("Helm cannot be started")
}

/// Runs Helm, which must succeed; gives its standard output.
///
/// # Errors
/// Helm's own words.
pub(super) fn helm_ok(kubeconfig: Option<&Path>, arguments: &[&str]) -> anyhow::Result<String> {
    let output = helm(kubeconfig, arguments)?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "helm {arguments:?}: {words}");
    String::from_utf8(output.stdout).context("Helm's words are not text")
}

/// Renders the chart with more arguments of `helm template`.
///
/// # Errors
/// Helm's own words.
pub(super) fn render(arguments: &[&str]) -> anyhow::Result<String> {
    let chart = chart();
    let chart = chart.to_string_lossy();
    let mut all = vec!["template", RELEASE, &chart, "--namespace", NAMESPACE];
    all.extend(arguments);
    helm_ok(None, &all)
}
