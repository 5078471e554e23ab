//! Flags of the scheduler: the only place that reads the command line and the environment.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Schedules pods by what nodes really carry.
///
/// Runs beside kube-scheduler, with a profile of a `schedulerName` of its own, or in its place.
/// It has all default plugins, calls HTTP extenders and elects a leader; configuration files of
/// kube-scheduler load unchanged.
#[derive(Debug, Clone, Parser)]
#[command(name = "plimsoll-scheduler", version)]
pub struct Args {
    /// A kubeconfig file. Without it the pod's service account is used.
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// A `KubeSchedulerConfiguration` (`kubescheduler.config.k8s.io/v1`). Without it: one profile
    /// named `default-scheduler` with the default plugins.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// A `PlimsollConfiguration` (`plimsoll.dev/v1alpha1`): ports, bounds, switches. Every field but
    /// `apiVersion` and `kind` is optional.
    #[arg(long, value_name = "FILE")]
    pub plimsoll_config: Option<PathBuf>,

    /// Accept agents without TLS, as long as the `PlimsollConfiguration` sets no `telemetry.tls`.
    /// With neither of the two the telemetry port stays closed and pods are placed by requests.
    #[arg(long)]
    pub insecure_plaintext: bool,

    /// Whether load is judged from the start. With `off` agents are listened to all the same, and
    /// `POST /load/on` on the admin port switches it on. The default is `load.enabled` of the
    /// `PlimsollConfiguration`; where that is false there is nothing to switch on.
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub load: Option<Switch>,

    /// Give the load of each node as metrics (`plimsoll_node_load_ratio`): up to 14 series a node.
    #[arg(long)]
    pub node_load_metrics: bool,

    /// Name of this replica, at the end of `reportingInstance` in events and at the beginning of
    /// `holderIdentity` in the lease.
    #[arg(long, env = "HOSTNAME", default_value = "unknown", value_name = "NAME")]
    pub instance: String,

    /// How log lines look.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,

    /// What is logged: a level, or `target=level` pairs with commas between. `debug` shows the
    /// scores of each plugin.
    #[arg(
        long,
        env = "PLIMSOLL_LOG",
        default_value = "info,kube_client=off",
        value_name = "FILTER"
    )]
    pub log: String,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
