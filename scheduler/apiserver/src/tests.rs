//! The server as its clients see it: real requests over a real socket.

mod bindings;
mod client;
mod deletes;
mod faults;
mod fixtures;
mod garbage;
mod kubectl;
mod owner;
mod pages;
mod patches;
mod requests;
mod stats;
mod watches;
