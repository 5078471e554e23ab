//! The engine as its driver sees it: events in, commands out, on a virtual clock.

mod binding;
mod binding_faults;
mod build;
mod cycle;
mod evict;
mod fakes;
mod falls;
mod group;
mod group_storm;
mod harness;
mod intake;
mod load;
mod messages;
mod mix;
mod model;
mod objects;
mod ops;
mod permit;
mod promises;
mod queue;
mod status;
mod storms;
mod tables;
mod timing;
mod verdict;
mod world;
