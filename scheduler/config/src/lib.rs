//! `KubeSchedulerConfiguration` v1: text in, a complete and checked configuration out.
//!
//! Stages: [`yaml`](self) (text to JSON) -> `v1` (fields as they are) -> `defaults` ->
//! `validate` and `profile` (rules, plugin lists, args) -> [`SchedulerConfig`]. Every stage
//! keeps all mistakes, so that a file is mended in one go; each carries the stage at which
//! kube-scheduler would have found it. A file made for kube-scheduler loads unchanged.
//!
//! Knows the contract of plugins and none of the plugins; reads no file and no environment.

mod configz;
mod defaults;
mod effective;
mod extender;
mod kube_scheduler;
mod lines;
mod load;
mod names;
pub mod plimsoll;
mod profile;
mod reader;
mod scheduler_config;
mod v1;
mod validate;
mod yaml;

pub use configz::configz;
pub use effective::effective;
pub use extender::{Extender, ExtenderTls, ManagedResource, ReadFile};
pub use kube_scheduler::as_kube_scheduler;
pub use lines::Lines;
pub use load::{Loaded, default_config, load, load_with_files};
pub use profile::{EnabledPlugin, PointListing, Points, Profile};
pub use scheduler_config::{
    ClientConnection, LeaderElection, NodesToScore, SchedulerConfig, Warning,
};

#[cfg(test)]
mod tests;
