//! Preemption with the plugins that are shipped, against an API server that may fail.

mod extender;
mod faults;
mod nominations;
mod property;
mod world;
