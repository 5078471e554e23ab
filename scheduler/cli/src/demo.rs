//! `plimsoll demo`: the blind spot, told twice on one machine without Kubernetes.
//!
//! An embedded API server, 32 nodes (this machine with the real agent, and simulated ones
//! whose agents speak the real protocol), 40 replicas. The story runs once with requests
//! only and once with measured load; the report says what a user should conclude.

mod cast;
mod clock;
mod objects;
mod outcome;
mod policy;
mod report;
mod run;
mod source;
mod story;
mod summary;
mod view;
mod world;

pub(crate) use story::{DemoOptions, demo};
