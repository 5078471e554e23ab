//! Keeps one stream to a scheduler alive: dial, talk, and after every loss wait and dial
//! again. Takes the feed of readings, gives each scheduler the newest one that its
//! connection has room for.
//!
//! A scheduler behind several addresses gets one [`Session`] at a time, on the next address
//! after every attempt.

mod backoff;
mod credit;
mod end;
mod outbox;
mod session;
mod target;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, instrument, warn};

pub use outbox::Feed;
pub use target::{Error as TargetError, Target};

use crate::clock::Clock;
use crate::metrics::{Metrics, Reconnect};
use crate::report::{Identity, hello};
use crate::usage::Machine;
use backoff::Backoff;
use end::End;
use outbox::Shared;
use session::Session;

/// What a stream needs of the agent.
#[derive(Debug, Clone)]
pub struct Line {
    /// Who speaks.
    pub identity: Identity,
    /// What is known of the machine, newest value.
    pub machine: watch::Receiver<Machine>,
    /// The node's readings, newest value.
    pub feed: Feed,
    /// The clock that readings are stamped with.
    pub clock: Clock,
    /// Where the stream counts.
    pub metrics: Metrics,
}

/// Streams to `target` until `shutdown`.
#[instrument(name = "stream", skip_all, fields(scheduler = %target))]
pub async fn keep(target: Target, line: Line, shutdown: CancellationToken) {
    let keeper = Keeper::new(target, line);
    // Everything a session owns may be dropped at any await.
    let _ = shutdown.run_until_cancelled(keeper.run()).await;
}

/// The loop of attempts to one scheduler.
#[derive(Debug)]
struct Keeper {
    target: Target,
    line: Line,
    shared: Shared,
    backoff: Backoff,
    attempt: usize,
    /// What the last attempt ended with, so that a lasting fault is logged once.
    last_fault: Option<String>,
}

/// How an attempt ended and for how long the scheduler took reports.
struct Attempt {
    end: End,
    lived: Duration,
}

impl Keeper {
    fn new(target: Target, line: Line) -> Self {
        let shared = Shared {
            clock: line.clock,
            last_sent: Arc::default(),
            reports_sent: line.metrics.reports_sent.clone(),
        };
        Self {
            target,
            line,
            shared,
            backoff: Backoff::new(fastrand::Rng::new()),
            attempt: 0,
            last_fault: None,
        }
    }

    async fn run(mut self) {
        loop {
            let attempt = self.attempt().await;
            let wait = self.wait_after(&attempt);
            self.tell(&attempt, wait);
            sleep(wait).await;
        }
    }

    async fn attempt(&mut self) -> Attempt {
        let address = match self.next_address().await {
            Ok(address) => address,
            Err(end) => {
                return Attempt {
                    end,
                    lived: Duration::ZERO,
                };
            }
        };
        debug!(%address, "dialling");
        let machine = *self.line.machine.borrow();
        let session = Session::open(
            address,
            self.target.origin(),
            hello(&self.line.identity, machine),
            self.line.feed.clone(),
            self.shared.clone(),
        );
        match session.await {
            Ok(mut session) => {
                let end = session.run(&self.line.metrics.stream_connected).await;
                Attempt {
                    end,
                    lived: session.lived(),
                }
            }
            Err(end) => Attempt {
                end,
                lived: Duration::ZERO,
            },
        }
    }

    /// Resolves anew and goes on to the next address, so that one dead replica does not
    /// hold the node's figures back.
    async fn next_address(&mut self) -> Result<SocketAddr, End> {
        let mut addresses = self.target.resolve().await.map_err(End::Resolve)?;
        addresses.sort_unstable();
        let index = self
            .attempt
            .checked_rem(addresses.len())
            .ok_or(End::NoAddress)?;
        self.attempt = self.attempt.wrapping_add(1);
        Ok(addresses[index])
    }

    fn wait_after(&mut self, attempt: &Attempt) -> Duration {
        match attempt.end {
            End::Drained { min, max } => self.backoff.drained(min, max),
            _ => self.backoff.next(attempt.lived),
        }
    }

    fn tell(&mut self, attempt: &Attempt, wait: Duration) {
        let reason = reconnect_reason(&attempt.end);
        self.line.metrics.count_reconnect(reason);
        let wait_ms = wait.as_millis() as u64;
        if let End::Drained { .. } = attempt.end {
            info!(wait_ms, "scheduler drains the stream");
            self.last_fault = None;
            return;
        }
        let fault = attempt.end.to_string();
        if attempt.lived.is_zero() && self.last_fault.as_ref() == Some(&fault) {
            debug!(fault, wait_ms, "stream is still down");
            return;
        }
        warn!(fault, wait_ms, "stream is down");
        self.last_fault = Some(fault);
    }
}

fn reconnect_reason(end: &End) -> Reconnect {
    match end {
        End::Resolve(_) | End::NoAddress => Reconnect::Resolve,
        End::Transport(_) => Reconnect::Connect,
        End::Status(_) => Reconnect::Lost,
        End::Silent => Reconnect::Silent,
        End::Closed => Reconnect::Closed,
        End::Refused(_) | End::Schema(_) => Reconnect::Refused,
        End::Drained { .. } => Reconnect::Drained,
    }
}
