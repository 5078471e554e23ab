//! Which replica schedules: leader election on a `Lease`, as client-go does it.
//!
//! [`Election`] is the deciding part, without IO; [`Record`] is what the lease says.
//! `Candidate` carries the election out, [`Leadership`] is what it tells everybody else.

mod candidate;
mod election;
mod leadership;
mod record;
mod tell;

use std::time::Duration;

pub(crate) use self::candidate::Candidate;
pub use self::election::{Action, Answer, Election, Found, Moment, Step, Timing};
pub use self::leadership::Leadership;
pub use self::record::Record;

/// Which lease, and who asks for it.
#[derive(Debug, Clone)]
pub struct LeaseOptions {
    /// Namespace of the lease.
    pub namespace: String,
    /// Name of the lease.
    pub name: String,
    /// Who this process is: never the same twice.
    pub identity: String,
    /// The durations of `leaderElection`.
    pub timing: Timing,
    /// `reportingController` of the events about the lease.
    pub reporter: String,
}

// === impl LeaseOptions ===

impl LeaseOptions {
    /// Longest time of one request, as kube-scheduler has it
    /// (`cmd/kube-scheduler/app/options/options.go`, `makeLeaderElectionConfig`).
    fn call_limit(&self) -> Duration {
        const LEAST: Duration = Duration::from_secs(1);
        (self.timing.renew_deadline / 2).max(LEAST)
    }
}
