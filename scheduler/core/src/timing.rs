//! What took how long: measurements for metrics, kept until the driver takes them.
//!
//! The engine reads no clock. A driver that wants figures gives it a [`Stopwatch`]; nothing
//! that is decided depends on it, and without one nothing is measured or kept.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{ClusterEvent, Point};
use plimsoll_objects::ObjectKey;

/// Reads a monotonic clock whose zero is anywhere.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(pub fn() -> Duration);

/// From here on a cycle is slow: kube-scheduler traces what takes longer than this
/// (`schedule_one.go` `schedulePod`, `LogIfLong`).
pub const SLOW_CYCLE: Duration = Duration::from_millis(100);

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// All plugins of one extension point ran (`framework_extension_point_duration_seconds`).
    Point {
        /// The profile.
        profile: Arc<str>,
        /// The point, such as `PreFilter`.
        point: &'static str,
        /// `Success` or the framework's name of a code.
        status: &'static str,
        /// How long.
        took: Duration,
    },
    /// One plugin ran once, in a sampled cycle (`plugin_execution_duration_seconds`).
    Plugin {
        /// The plugin.
        plugin: &'static str,
        /// The point, or `ScoreExtensionNormalize`.
        point: &'static str,
        /// `Success` or the framework's name of a code.
        status: &'static str,
        /// How long.
        took: Duration,
    },
    /// A node was found (`scheduling_algorithm_duration_seconds`).
    Algorithm(Duration),
    /// An attempt ended, its binding included (`scheduling_attempt_duration_seconds`).
    Attempt {
        /// The profile.
        profile: Arc<str>,
        /// `scheduled`, `unschedulable` or `error`.
        result: &'static str,
        /// From the beginning of its cycle.
        took: Duration,
    },
    /// A pod was bound (`pod_scheduling_sli_duration_seconds`, `pod_scheduling_attempts`).
    Scheduled {
        /// Attempts it took.
        attempts: u32,
        /// From the first time it could have been tried.
        waited: Duration,
    },
    /// A pod waited for permission (`permit_wait_duration_seconds`).
    PermitWait {
        /// `Success` or the framework's name of a code.
        result: &'static str,
        /// How long.
        took: Duration,
    },
    /// A change of the cluster was taken in, and whoever it may help was woken
    /// (`event_handling_duration_seconds`).
    Event {
        /// What changed.
        event: ClusterEvent,
        /// How long.
        took: Duration,
    },
    /// One cycle kept all others waiting for [`SLOW_CYCLE`] or longer.
    SlowCycle {
        /// The pod.
        pod: ObjectKey,
        /// How long.
        took: Duration,
    },
    /// So many pods were evicted for one (`preemption_victims`).
    Victims(usize),
    /// All victims of one pod were told to go, or not all could be
    /// (`preemption_goroutines_duration_seconds`, `preemption_goroutines_execution_total`).
    Evictions {
        /// `success` or `error`.
        result: &'static str,
        /// From the decision to the last answer.
        took: Duration,
    },
}

/// How often one plugin was asked at one point (`plugin_evaluation_total`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluations {
    /// The profile.
    pub profile: Arc<str>,
    /// The plugin.
    pub plugin: &'static str,
    /// `PreFilter`, `Filter`, `PreScore` or `Score`.
    pub point: &'static str,
    /// How often.
    pub count: u64,
}

/// The name of a point in kube-scheduler's metrics.
pub(crate) fn label(point: Point) -> &'static str {
    match point {
        Point::PreEnqueue => "PreEnqueue",
        Point::QueueSort => "QueueSort",
        Point::PreFilter => "PreFilter",
        Point::Filter => "Filter",
        Point::PostFilter => "PostFilter",
        Point::PreScore => "PreScore",
        Point::Score => "Score",
        Point::Reserve => "Reserve",
        Point::Permit => "Permit",
        Point::PreBind => "PreBind",
        Point::Bind => "Bind",
        Point::PostBind => "PostBind",
    }
}
