//! What a file leaves out.
//!
//! Takes [`v1::Configuration`], gives [`Defaulted`] in which nothing is missing; values are
//! as the file has them, however wrong. Mirrors `pkg/scheduler/apis/config/v1/defaults.go`
//! and `default_plugins.go` of Kubernetes 1.37 with default feature gates.

use plimsoll_framework::Point;
use plimsoll_objects::ApiDuration;

use crate::v1;
use crate::v1::extender::Extender;
use crate::v1::profile::Profile;
use crate::v1::sections::{ClientConnection, LeaderElection};

/// Workers of kube-scheduler; read, checked and printed, but this engine has one thread.
const PARALLELISM: i32 = 16;
/// First wait of a pod after a failed attempt, in seconds.
const POD_INITIAL_BACKOFF_SECONDS: i64 = 1;
/// Longest such wait, in seconds.
const POD_MAX_BACKOFF_SECONDS: i64 = 10;
/// Scheduler name of a single profile without one.
pub(crate) const SCHEDULER_NAME: &str = "default-scheduler";
/// How long a lease is good without renewal.
const LEASE_DURATION: ApiDuration = ApiDuration::from_secs(15);
/// How long the leader tries to renew before it gives up.
const RENEW_DEADLINE: ApiDuration = ApiDuration::from_secs(10);
/// Pause between tries.
const RETRY_PERIOD: ApiDuration = ApiDuration::from_secs(2);
/// The only kind of lock that is left.
pub(crate) const RESOURCE_LOCK: &str = "leases";
/// Namespace of the lease.
const RESOURCE_NAMESPACE: &str = "kube-system";
/// Name of the lease.
const RESOURCE_NAME: &str = "kube-scheduler";
/// Wire format that kube-scheduler asks for; kept for the printed configuration.
const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// Requests per second to the API server.
const QPS: f64 = 50.0;
/// Requests at once to the API server.
const BURST: i32 = 100;

/// The default plugins in run order, with their score weights (0: the default of 1).
pub(crate) const PLUGINS: [(&str, i32); 20] = [
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeName", 0),
    ("NodeUnschedulable", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
    ("NodeDeclaredFeatures", 0),
];
/// Plugins of kube-scheduler that its default feature gates leave out, with their points
/// for pods.
pub(crate) const GATED_PLUGINS: [(&str, &[Point]); 4] = [
    (
        "DeferredPodScheduling",
        &[Point::PreFilter, Point::Filter, Point::Permit],
    ),
    ("GangScheduling", &[Point::PreEnqueue, Point::Permit]),
    ("TopologyPlacementGenerator", &[]),
    ("PodGroupPodsCount", &[]),
];
/// Plugins that v1 refuses by name.
pub(crate) const REMOVED_PLUGINS: [&str; 4] = [
    "AzureDiskLimits",
    "CinderLimits",
    "EBSLimits",
    "GCEPDLimits",
];

/// A file with nothing left out, not yet checked.
#[derive(Debug, Clone)]
pub(crate) struct Defaulted {
    pub(crate) parallelism: i32,
    pub(crate) election: Election,
    pub(crate) client: Client,
    pub(crate) enable_profiling: bool,
    pub(crate) enable_contention_profiling: bool,
    /// `None` is a meaning of its own: all nodes.
    pub(crate) percentage_of_nodes_to_score: Option<i32>,
    pub(crate) pod_initial_backoff_seconds: i64,
    pub(crate) pod_max_backoff_seconds: i64,
    /// At least one.
    pub(crate) profiles: Vec<Profile>,
    pub(crate) extenders: Vec<Extender>,
    pub(crate) delay_cache_until_active: bool,
}

/// `leaderElection`.
#[derive(Debug, Clone)]
pub(crate) struct Election {
    pub(crate) leader_elect: bool,
    pub(crate) lease_duration: ApiDuration,
    pub(crate) renew_deadline: ApiDuration,
    pub(crate) retry_period: ApiDuration,
    pub(crate) resource_lock: String,
    pub(crate) resource_namespace: String,
    pub(crate) resource_name: String,
}

/// `clientConnection`.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) kubeconfig: String,
    pub(crate) accept_content_types: String,
    pub(crate) content_type: String,
    pub(crate) qps: f64,
    pub(crate) burst: i32,
}

/// Fills in what `file` leaves out.
pub(crate) fn fill(file: v1::Configuration) -> Defaulted {
    let enable_profiling = file.enable_profiling.unwrap_or(true);
    Defaulted {
        parallelism: file.parallelism.unwrap_or(PARALLELISM),
        election: election(file.leader_election),
        client: client(file.client_connection),
        enable_profiling,
        enable_contention_profiling: file.enable_contention_profiling.unwrap_or(enable_profiling),
        percentage_of_nodes_to_score: file.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds: file
            .pod_initial_backoff_seconds
            .unwrap_or(POD_INITIAL_BACKOFF_SECONDS),
        pod_max_backoff_seconds: file
            .pod_max_backoff_seconds
            .unwrap_or(POD_MAX_BACKOFF_SECONDS),
        profiles: profiles(file.profiles),
        extenders: file.extenders,
        delay_cache_until_active: file.delay_cache_until_active.unwrap_or(false),
    }
}

/// A zero duration or an empty text in this section counts as left out.
fn election(section: LeaderElection) -> Election {
    let length = |given: Option<ApiDuration>, default| {
        given
            .filter(|given| *given != ApiDuration::ZERO)
            .unwrap_or(default)
    };
    Election {
        leader_elect: section.leader_elect.unwrap_or(true),
        lease_duration: length(section.lease_duration, LEASE_DURATION),
        renew_deadline: length(section.renew_deadline, RENEW_DEADLINE),
        retry_period: length(section.retry_period, RETRY_PERIOD),
        resource_lock: text(section.resource_lock, RESOURCE_LOCK),
        resource_namespace: text(section.resource_namespace, RESOURCE_NAMESPACE),
        resource_name: text(section.resource_name, RESOURCE_NAME),
    }
}

/// A zero or an empty text in this section counts as left out.
fn client(section: ClientConnection) -> Client {
    Client {
        kubeconfig: section.kubeconfig.unwrap_or_default(),
        accept_content_types: section.accept_content_types.unwrap_or_default(),
        content_type: text(section.content_type, CONTENT_TYPE),
        qps: section.qps.filter(|qps| *qps != 0.0).unwrap_or(QPS),
        burst: section.burst.filter(|burst| *burst != 0).unwrap_or(BURST),
    }
}

/// One profile at least; only a single one may go without a name.
fn profiles(mut profiles: Vec<Profile>) -> Vec<Profile> {
    if profiles.is_empty() {
        profiles.push(Profile::default());
    }
    if let [single] = profiles.as_mut_slice() {
        single
            .scheduler_name
            .get_or_insert_with(|| SCHEDULER_NAME.to_owned());
    }
    profiles
}

fn text(given: Option<String>, default: &str) -> String {
    given
        .filter(|given| !given.is_empty())
        .unwrap_or_else(|| default.to_owned())
}
