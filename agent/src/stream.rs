//! Keeps one stream to every replica of a scheduler alive. Takes the feed of readings, gives
//! each scheduler the newest one that its connection has room for.
//!
//! A [`Roster`] follows the addresses of one scheduler's name, a keeper the attempts to one
//! address, a session one connection; the outbox is what a session sends.

mod backoff;
mod credit;
mod dial;
mod end;
mod keeper;
mod outbox;
pub(crate) mod past;
mod pods;
mod resolver;
mod roster;
mod session;
mod target;

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::instrument;

pub use dial::TlsOptions;
pub use outbox::Feed;
pub use past::Past;
pub use resolver::Resolver;
pub use session::Keepalive;
pub use target::{Error as TargetError, Target};

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::report::Identity;
use crate::usage::Machine;
use roster::Roster;

/// What a stream needs of the agent.
#[derive(Debug, Clone)]
pub struct Line {
    /// Who speaks.
    pub identity: Identity,
    /// What is known of the machine, newest value.
    pub machine: watch::Receiver<Machine>,
    /// Time between two samples, as it is at present.
    pub period: watch::Receiver<Duration>,
    /// The node's readings, newest value.
    pub feed: Feed,
    /// What the node carried lately.
    pub past: Past,
    /// By what an `https` scheduler is known.
    pub tls: Option<TlsOptions>,
    /// When a silent connection is given up.
    pub keepalive: Keepalive,
    /// Who finds the addresses of a scheduler.
    pub resolver: Resolver,
    /// The clock that readings are stamped with.
    pub clock: Clock,
    /// Where the stream counts.
    pub metrics: Metrics,
}

/// Streams to every address of `target` until `shutdown`.
#[instrument(name = "stream", skip_all, fields(scheduler = %target))]
pub async fn keep(target: Target, line: Line, shutdown: CancellationToken) {
    let roster = Roster::new(target, line);
    // Everything a session owns may be dropped at any await.
    let _ = shutdown.run_until_cancelled(roster.run()).await;
}
