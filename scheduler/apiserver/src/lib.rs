//! An embedded Kubernetes API server: real HTTP/1.1 on the loopback, objects in memory.
//!
//! It takes the requests of any Kubernetes client and answers in the shapes of kube-apiserver, so
//! that the demo and the tests run without a cluster. It decides nothing: no controllers, no
//! kubelet, no garbage collection, no authentication. It depends on no other Plimsoll crate.
//!
//! Flow: `server` (sockets) -> `routes` (HTTP to calls) -> `store` (one lock, one revision, a bounded
//! history) with `admission` (defaults and validation) on the way in; watches read the history.

mod admission;
mod clock;
mod faults;
mod identity;
mod json;
mod kubeconfig;
mod names;
mod owners;
mod patch;
mod quantity;
mod resources;
mod routes;
mod schema;
mod selector;
mod server;
mod stats;
mod status;
mod store;
mod verb;
mod view;
mod watch;

#[cfg(test)]
mod tests;

pub use faults::{Fault, FaultId, Faults, Rule};
pub use schema::unknown_fields;
pub use server::{ApiServer, Error, Options};
pub use stats::{RequestCount, Stats, WriteCount};
pub use status::{Cause, Details, Status};
pub use store::{Binding, Object, PodDeletion, Store};
pub use verb::Verb;
