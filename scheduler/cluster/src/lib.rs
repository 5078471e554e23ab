//! The only crate with a Kubernetes client: list, watch, and carry out commands. It
//! has the client of HTTP extenders, too.
//!
//! Takes the engine's [`Command`](plimsoll_core::Command)s, gives its
//! [`Event`](plimsoll_core::Event)s. [`Cluster::start`] connects and returns the tasks of
//! this crate as futures: the caller runs them and owns them. Decides nothing: which pod
//! goes where, when to try again and what to say are the engine's.
//!
//! Absent on purpose: a store of objects (the engine's cache is the only one)
//! and any write for load.

mod annotations;
mod apply;
mod backoff;
mod bind;
mod call;
mod carry;
mod client;
mod clock;
mod cluster;
mod consult;
mod evict;
mod extender;
mod inventory;
mod kind;
mod lease;
mod metrics;
mod options;
mod path;
mod pending;
mod ready;
mod record;
mod refused;
mod retry;
mod rights;
mod status;
mod watch;

#[cfg(test)]
mod script;

pub use client::{ClientOptions, ConnectError};
pub use cluster::{Cluster, DecisionSink, Ends, Running, Task, TaskError};
pub use extender::ClientError;
pub use inventory::{Inventory, InventoryError, Listed, ListedPod};
pub use lease::{
    Action, Answer, Election, Found, Leadership, LeaseOptions, Moment, Record, Step, Timing,
};
pub use metrics::Metrics;
pub use options::Options;
pub use ready::Ready;
pub use rights::{LEASE_RIGHTS, RIGHTS, Right};
