//! The Plimsoll scheduler: everything wired together.
//!
//! [`run`] is the whole program, given a registry of plugins: an out-of-tree plugin is a
//! binary of a few lines that calls it. [`App`] is the same for those who embed it (the
//! demo and tests): built from values, run until a token is cancelled.

mod app;
mod args;
mod clock;
mod debugger;
mod decisions;
mod descriptors;
mod door;
mod drive;
mod files;
mod http;
mod inspect;
mod lease;
mod logging;
mod metrics;
mod program;
mod tasks;

pub use app::{App, AppOptions};
pub use args::{Args, LogFormat, Switch};
pub use clock::Clock;
pub use decisions::Decisions;
pub use inspect::{Inspector, LoadAnswer};
pub use plimsoll_cluster::ClientOptions;
pub use program::run;
