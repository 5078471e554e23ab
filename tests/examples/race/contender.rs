//! The schedulers: takes a control plane, starts one of them against it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum;
use plimsoll_tests::controlplane::{Controlplane, Process, free_port, programs};
use plimsoll_tests::project_root;

use super::Args;

/// Plimsoll's user, with the groups that every service account has.
const USER: &str = "system:serviceaccount:plimsoll:plimsoll-scheduler";
const GROUPS: [&str; 2] = ["system:serviceaccounts", "system:serviceaccounts:plimsoll"];

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Contender {
    /// kube-scheduler with 5,000 requests per second allowed, its defaults otherwise.
    Stock,
    /// plimsoll-scheduler with default plugins, no agents: load is not judged.
    Plimsoll,
}

impl fmt::Display for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Stock => "stock",
            Self::Plimsoll => "plimsoll",
        })
    }
}

// === impl Contender ===

impl Contender {
    /// Gives Plimsoll's user the rights of the chart; kube-scheduler has its own.
    pub(crate) fn grant(cluster: &Controlplane) -> anyhow::Result<()> {
        let path = project_root().join("deploy/helm/plimsoll/files/rbac-rules.yaml");
        cluster.grant(USER, &serde_saphyr::from_str(&fs::read_to_string(path)?)?)
    }

    /// Starts it, for pods of this scheduler name.
    pub(crate) fn start(
        self,
        args: &Args,
        cluster: &Controlplane,
        name: &str,
    ) -> anyhow::Result<Process> {
        let log = cluster.folder().join(format!("{self}.log"));
        match self {
            Self::Stock => Process::start_tied(stock(cluster, name)?, &log),
            Self::Plimsoll => Process::start(plimsoll(args, cluster, name)?, &log),
        }
    }
}

fn stock(cluster: &Controlplane, name: &str) -> anyhow::Result<Command> {
    let kubeconfig = cluster.kubeconfig("system:kube-scheduler", &[])?;
    let config = cluster.folder().join("stock.yaml");
    let kubeconfig = kubeconfig.display();
    let text = format!(
        "{}clientConnection: {{kubeconfig: '{kubeconfig}', qps: 5000, burst: 5000}}\n",
        profile(name)
    );
    fs::write(&config, text)?;
    let mut command = Command::new(programs()?.join("kube-scheduler"));
    command
        .arg(flag("config", &config))
        .args(["--bind-address=127.0.0.1", "--authentication-skip-lookup"])
        .arg(format!("--secure-port={}", free_port()?));
    Ok(command)
}

fn plimsoll(args: &Args, cluster: &Controlplane, name: &str) -> anyhow::Result<Command> {
    let kubeconfig = cluster.kubeconfig(USER, &GROUPS)?;
    let file = |name: &str| cluster.folder().join(name);
    let (config, settings) = (file("profiles.yaml"), file("settings.yaml"));
    fs::write(&config, profile(name))?;
    let port = free_port()?;
    let text = format!(
        "apiVersion: plimsoll.dev/v1alpha1\nkind: PlimsollConfiguration\n\
         admin: {{listen: '127.0.0.1:{port}'}}\n"
    );
    fs::write(&settings, text)?;
    let mut command = Command::new(args.scheduler()?);
    command
        .arg(flag("kubeconfig", &kubeconfig))
        .arg(flag("config", &config))
        .arg(flag("plimsoll-config", &settings))
        .arg("--instance=race");
    Ok(command)
}

/// One profile with the default plugins.
fn profile(name: &str) -> String {
    format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         leaderElection: {{leaderElect: false}}\nprofiles: [{{schedulerName: {name}}}]\n"
    )
}

fn flag(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}
