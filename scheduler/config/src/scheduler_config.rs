//! The configuration of a scheduler: complete, checked, with typed args.
//!
//! The last stage: nothing here is optional in order to mean a default.

use std::time::Duration;

use plimsoll_framework::FieldPath;
use plimsoll_objects::ApiDuration;

use crate::defaults::{Client, Defaulted, Election};
use crate::extender::Extender;
use crate::profile::Profile;

/// What a `KubeSchedulerConfiguration` says, defaults filled in.
#[derive(Debug, Clone)]
pub struct SchedulerConfig {
    /// `parallelism`. Read and printed; this engine has one thread.
    pub parallelism: u32,
    /// `percentageOfNodesToScore`, for profiles without their own.
    pub percentage_of_nodes_to_score: NodesToScore,
    /// `podInitialBackoffSeconds`.
    pub pod_initial_backoff: Duration,
    /// `podMaxBackoffSeconds`; not less than the initial one.
    pub pod_max_backoff: Duration,
    /// `leaderElection`.
    pub leader_election: LeaderElection,
    /// `clientConnection`.
    pub client_connection: ClientConnection,
    /// `enableProfiling`.
    pub enable_profiling: bool,
    /// `enableContentionProfiling`.
    pub enable_contention_profiling: bool,
    /// `delayCacheUntilActive`: watches start only after leading.
    pub delay_cache_until_active: bool,
    /// At least one, each with a name of its own.
    pub profiles: Vec<Profile>,
    /// `extenders`, in the order of the file.
    pub extenders: Vec<Extender>,
    /// Default plugins of kube-scheduler that this build does not have: whatever they check
    /// is not checked. To be logged at the start.
    pub missing_defaults: Vec<&'static str>,
    /// What is allowed but hardly meant. To be logged at the start.
    pub warnings: Vec<Warning>,
}

/// How many feasible nodes are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodesToScore {
    /// All nodes are looked at. `Differs:` what a file that says nothing means; kube-scheduler
    /// then looks at a part that shrinks with the cluster.
    All,
    /// kube-scheduler's part: 50 % less one point per 125 nodes, at least 5 % (0 in the file).
    Adaptive,
    /// This part of all nodes in percent, 1 to 100.
    Percent(u8),
}

/// `leaderElection`. The durations are positive, unless `leader_elect` is off: then nothing
/// in this section is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderElection {
    /// Whether a lease decides which replica schedules.
    pub leader_elect: bool,
    /// How long the lease is good without renewal.
    pub lease_duration: ApiDuration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: ApiDuration,
    /// Pause between tries.
    pub retry_period: ApiDuration,
    /// Namespace of the lease.
    pub resource_namespace: String,
    /// Name of the lease.
    pub resource_name: String,
    /// Kind of the lock: `leases`, unless `leader_elect` is off.
    pub resource_lock: String,
}

/// `clientConnection`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientConnection {
    /// Path of the kubeconfig file; empty for the one of the cluster or the environment.
    pub kubeconfig: String,
    /// `acceptContentTypes`. Read and printed; this client speaks JSON.
    pub accept_content_types: String,
    /// `contentType`. Read and printed; this client speaks JSON.
    pub content_type: String,
    /// Requests per second; a negative value means no bound.
    pub qps: f64,
    /// Requests at once.
    pub burst: u32,
}

/// Something that is allowed but hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub path: FieldPath,
    /// What.
    pub text: String,
}

// === impl NodesToScore ===

impl NodesToScore {
    /// The meaning of a checked field of the file.
    pub(crate) fn from_file(percentage: Option<i32>) -> Self {
        match percentage {
            None => Self::All,
            Some(..=0) => Self::Adaptive,
            Some(percentage) => Self::Percent(u8::try_from(percentage).unwrap_or(100).min(100)),
        }
    }

    /// As the file would say it; `All` is what a file that says nothing means.
    pub(crate) fn to_file(self) -> u8 {
        match self {
            Self::All | Self::Adaptive => 0,
            Self::Percent(percentage) => percentage,
        }
    }
}

// === impl SchedulerConfig ===

impl SchedulerConfig {
    /// Settings out of a file that has been checked, and no profiles yet.
    pub(crate) fn new(file: &Defaulted) -> Self {
        let seconds = |n: i64| Duration::from_secs(u64::try_from(n).unwrap_or(0));
        let percentage = file.percentage_of_nodes_to_score;
        Self {
            parallelism: u32::try_from(file.parallelism).unwrap_or(1),
            percentage_of_nodes_to_score: NodesToScore::from_file(percentage),
            pod_initial_backoff: seconds(file.pod_initial_backoff_seconds),
            pod_max_backoff: seconds(file.pod_max_backoff_seconds),
            leader_election: LeaderElection::new(&file.election),
            client_connection: ClientConnection::new(&file.client),
            enable_profiling: file.enable_profiling,
            enable_contention_profiling: file.enable_contention_profiling,
            delay_cache_until_active: file.delay_cache_until_active,
            profiles: Vec::new(),
            extenders: file.extenders.iter().map(Extender::new).collect(),
            missing_defaults: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

// === impl LeaderElection ===

impl LeaderElection {
    fn new(election: &Election) -> Self {
        Self {
            leader_elect: election.leader_elect,
            lease_duration: election.lease_duration,
            renew_deadline: election.renew_deadline,
            retry_period: election.retry_period,
            resource_namespace: election.resource_namespace.clone(),
            resource_name: election.resource_name.clone(),
            resource_lock: election.resource_lock.clone(),
        }
    }
}

// === impl ClientConnection ===

impl ClientConnection {
    fn new(client: &Client) -> Self {
        Self {
            kubeconfig: client.kubeconfig.clone(),
            accept_content_types: client.accept_content_types.clone(),
            content_type: client.content_type.clone(),
            qps: client.qps,
            burst: u32::try_from(client.burst).unwrap_or(0),
        }
    }
}
