//! Keeps one stream to one address alive: dial, talk, and after every loss wait and dial
//! again, for as long as the scheduler's name has the address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tracing::{debug, info, warn};

use super::Line;
use super::backoff::Backoff;
use super::dial::dial;
use super::end::End;
use super::outbox::Shared;
use super::session::{Dialled, Session};
use super::target::Target;
use crate::metrics::{Reconnect, StreamState};
use crate::report::{Identity, hello};

/// Time that a stream lives on after its address left the name.
const LEAVE_AFTER: Duration = Duration::from_mins(1);

/// What the roster and a keeper know of one address.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stay {
    /// The name does not have the address since then.
    pub(super) leaving_since: Option<Instant>,
    /// The scheduler takes reports, or said itself that it does not.
    pub(super) answers: bool,
}

/// What outlives the streams of one address.
#[derive(Debug)]
pub(super) struct Memory {
    backoff: Backoff,
    last_sent: Arc<AtomicU64>,
    /// The next attempt is not due before: an address that leaves the name and comes back
    /// waits on.
    not_before: Option<Instant>,
    /// What the last attempt ended with, so that a lasting fault is logged once.
    last_fault: Option<String>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(fastrand::Rng::new()),
            last_sent: Arc::default(),
            not_before: None,
            last_fault: None,
        }
    }
}

/// The loop of attempts to one address.
pub(super) struct Keeper {
    address: SocketAddr,
    target: Target,
    line: Line,
    shared: Shared,
    memory: Memory,
    stay: watch::Sender<Stay>,
    lost: Arc<Notify>,
}

/// How an attempt ended and for how long the scheduler took reports.
struct Attempt {
    end: End,
    lived: Duration,
}

impl Keeper {
    pub(super) fn new(
        (address, target): (SocketAddr, Target),
        line: Line,
        memory: Memory,
        stay: watch::Sender<Stay>,
        lost: Arc<Notify>,
    ) -> Self {
        let shared = Shared {
            clock: line.clock,
            last_sent: Arc::clone(&memory.last_sent),
            reports_sent: line.metrics.reports_sent.clone(),
            past: line.past.clone(),
        };
        Self {
            address,
            target,
            line,
            shared,
            memory,
            stay,
            lost,
        }
    }

    /// Runs until the address has left the name; gives back what the next stream to it needs.
    pub(super) async fn run(mut self) -> Memory {
        let mut stay = self.stay.subscribe();
        loop {
            if let Some(not_before) = self.memory.not_before.take() {
                let _waiting = self.line.metrics.enter(StreamState::Waiting);
                tokio::select! {
                    () = sleep_until(not_before) => {}
                    // The channel cannot close: its sender is here.
                    _ = stay.wait_for(|stay| stay.leaving_since.is_some()) => {
                        self.memory.not_before = Some(not_before);
                        return self.memory;
                    }
                }
            }
            let attempt = tokio::select! {
                attempt = self.attempt() => attempt,
                () = gone(stay.clone()) => {
                    info!("stream is closed: the scheduler's name has another address");
                    return self.memory;
                }
            };
            let answers = is_an_answer(&attempt.end);
            self.stay.send_modify(|stay| stay.answers = answers);
            let wait = self.wait_after(&attempt);
            self.tell(&attempt, wait);
            self.memory.not_before = Some(Instant::now() + wait);
            self.lost.notify_one();
        }
    }

    async fn attempt(&self) -> Attempt {
        debug!("dialling");
        let connecting = self.line.metrics.enter(StreamState::Connecting);
        let told = *self.line.period.borrow();
        let mut session = match self.open(told).await {
            Ok(session) => session,
            Err(end) => return Attempt::failed(end),
        };
        if let Err(end) = session.welcome().await {
            return Attempt::failed(end);
        }
        drop(connecting);
        let _connected = self.line.metrics.enter(StreamState::Connected);
        self.stay.send_modify(|stay| stay.answers = true);
        let mut period = self.line.period.clone();
        let end = tokio::select! {
            end = session.listen() => end,
            Ok(_) = period.wait_for(|now| needs_new_hello(told, *now)) => End::Paced,
        };
        Attempt {
            end,
            lived: session.lived(),
        }
    }

    /// Opens a stream that tells of samples `period` apart.
    async fn open(&self, period: Duration) -> Result<Session, End> {
        let tls = self.line.tls.as_ref();
        let socket = dial(self.address, &self.target, tls).await;
        let dialled = Dialled {
            socket: socket.map_err(End::Dial)?,
            origin: self.target.origin(),
            keepalive: self.line.keepalive,
        };
        let machine = *self.line.machine.borrow();
        let identity = Identity {
            period,
            ..self.line.identity.clone()
        };
        let hello = hello(&identity, machine);
        Session::open(dialled, hello, self.line.feed.clone(), self.shared.clone()).await
    }

    fn wait_after(&mut self, attempt: &Attempt) -> Duration {
        match attempt.end {
            End::Drained { min, max } => self.memory.backoff.drained(min, max),
            End::Refused(_) | End::Schema(_) => self.memory.backoff.refused(attempt.lived),
            _ => self.memory.backoff.next(attempt.lived),
        }
    }

    fn tell(&mut self, attempt: &Attempt, wait: Duration) {
        let reason = reconnect_reason(&attempt.end);
        self.line.metrics.count_reconnect(reason);
        let wait_ms = wait.as_millis() as u64;
        if let End::Drained { .. } = attempt.end {
            info!(wait_ms, "scheduler drains the stream");
            self.memory.last_fault = None;
            return;
        }
        let fault = attempt.end.to_string();
        if attempt.lived.is_zero() && self.memory.last_fault.as_ref() == Some(&fault) {
            debug!(fault, wait_ms, "stream is still down");
            return;
        }
        warn!(fault, wait_ms, "stream is down");
        self.memory.last_fault = Some(fault);
    }
}

impl Attempt {
    fn failed(end: End) -> Self {
        Self {
            end,
            lived: Duration::ZERO,
        }
    }
}

/// A scheduler takes figures for fresh for three of the periods that it was told: one that
/// doubled is within that, a longer one is not, and a shorter one would let it notice too
/// late that the node is silent.
fn needs_new_hello(told: Duration, now: Duration) -> bool {
    now > told * 2 || now < told
}

/// Waits until the address has been out of the name for a minute.
async fn gone(mut stay: watch::Receiver<Stay>) {
    loop {
        let leaving_since = stay.borrow_and_update().leaving_since;
        let left = async {
            match leaving_since {
                Some(since) => sleep_until(since + LEAVE_AFTER).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = left => return,
            changed = stay.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// Says whether somebody answers at the address, so that another way to the scheduler is no
/// better: one that drains must find its agents where and when it asked them to come back.
fn is_an_answer(end: &End) -> bool {
    match end {
        End::Drained { .. } | End::Paced | End::Refused(_) | End::Schema(_) => true,
        End::Dial(_) | End::Transport(_) | End::Status(_) | End::Silent | End::Closed => false,
    }
}

fn reconnect_reason(end: &End) -> Reconnect {
    match end {
        End::Dial(_) | End::Transport(_) => Reconnect::Connect,
        End::Status(_) => Reconnect::Lost,
        End::Silent => Reconnect::Silent,
        End::Closed => Reconnect::Closed,
        End::Paced => Reconnect::Paced,
        End::Refused(_) | End::Schema(_) => Reconnect::Refused,
        End::Drained { .. } => Reconnect::Drained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_told_of_a_period_that_its_own_patience_does_not_cover() {
        let seconds = Duration::from_secs;
        for (told, now, needs) in [
            (1, 1, false),
            (1, 2, false),
            (1, 4, true),
            (4, 8, false),
            (8, 1, true),
            (2, 1, true),
        ] {
            assert_eq!(
                needs_new_hello(seconds(told), seconds(now)),
                needs,
                "{told} s to {now} s"
            );
        }
    }

    #[test]
    fn a_scheduler_that_ends_a_stream_in_words_is_there() {
        let (min, max) = (Duration::ZERO, Duration::ZERO);
        for end in [End::Drained { min, max }, End::Paced, End::Schema(2)] {
            assert!(is_an_answer(&end), "{end}");
        }
        for end in [End::Silent, End::Closed] {
            assert!(!is_an_answer(&end), "{end}");
        }
    }
}
