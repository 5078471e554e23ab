//! The telemetry server: sessions of agents become samples of the load model.
//!
//! `serve` accepts connections (`connection`), each speaks for one node. A stream on it is
//! a `conversation`: the async edge around a `session`, which holds the rules of the
//! protocol and knows no socket. `wire` turns reports into samples or says what is wrong
//! with them; `slots` keeps the newest sample of each node until the engine drains it.

mod clock;
mod connection;
mod conversation;
mod metrics;
mod serve;
mod service;
mod session;
mod slots;
pub mod tls;
mod transit;
mod wire;

pub use clock::Clock;
pub use serve::{Error, serve};
pub use service::Ingest;
pub use slots::HistoryPoint;
