//! The settings of this crate and their defaults.
//!
//! Made by the program from its flags and files; what is here is valid as it is.

use std::time::Duration;

use plimsoll_config::Extender;

use crate::client::ClientOptions;
use crate::lease::LeaseOptions;

/// Requests of binding cycles in flight at most. Beyond 32 an API server with etcd gets
/// slower, not faster, and each is a connection of its own (HTTP/1.1).
const BINDING_LANE: usize = 32;
/// Status patches in flight at most: a quarter, so that a thousand pods that fit nowhere
/// never stand in the way of those that do.
const STATUS_LANE: usize = 8;
/// Events for people written per second at most, kept up over time: as many as a stock
/// scheduler may send in one burst; a binding is one event, so binds are faster for a while.
const EVENTS_PER_SECOND: u32 = 100;
/// Time for what is under way to end after the stop signal: a call's limit and a second
/// look fit, and so does the usual grace of a pod (30 s).
const GRACE: Duration = Duration::from_secs(15);

/// How to start a [`Cluster`](crate::Cluster).
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the API server is.
    pub client: ClientOptions,
    /// Name of this replica, such as the host's: the end of `reportingInstance` in events.
    pub instance: String,
    /// Requests of binding cycles in flight at most; at least 1.
    pub binding_lane: usize,
    /// Status patches in flight at most; at least 1.
    pub status_lane: usize,
    /// Events for people written per second at most, kept up over time; at least 1.
    pub events_per_second: u32,
    /// The HTTP extenders of the configuration, in its order.
    pub extenders: Vec<Extender>,
    /// Time for what is under way to end after the stop signal.
    pub grace: Duration,
    /// The lease that decides which replica schedules; without, this one does.
    pub election: Option<LeaseOptions>,
}

// === impl Options ===

impl Options {
    /// The defaults, for this server and this name of the replica.
    pub fn new(client: ClientOptions, instance: String) -> Self {
        Self {
            client,
            instance,
            binding_lane: BINDING_LANE,
            status_lane: STATUS_LANE,
            events_per_second: EVENTS_PER_SECOND,
            extenders: Vec::new(),
            grace: GRACE,
            election: None,
        }
    }
}
