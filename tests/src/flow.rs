//! Whole flows in one process: a cluster, schedulers and agents that speak to each other
//! over real sockets on the loopback.
//!
//! [`Stage`] is the cluster (an embedded API server), [`Scheduler`] the whole program
//! against it, [`Agent`] a node's agent over a source that stands still. Waiting is looking
//! again and again within [`BOUND`]; what took longer fails with all requests counted.

mod agent;
mod objects;
mod page;
mod profiles;
mod scheduler;
mod stage;

pub use agent::{Agent, Steady};
pub use objects::{PodObject, node, pod};
pub use page::Page;
pub use profiles::{PLIMSOLL, REQUESTS_ONLY, SOFT_CAP, TWO_PROFILES};
pub use scheduler::Scheduler;
pub use stage::{BOUND, Stage, Told};
