//! One stream to one address of a scheduler, from dialling to its end. Takes the address
//! and the outgoing half's inputs; gives why the stream ended.

use std::io;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use plimsoll_proto::telemetry::v1::refusal::Reason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::telemetry_client::TelemetryClient;
use plimsoll_proto::telemetry::v1::{Hello, Refusal, SchedulerMessage, Welcome};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;
use tracing::info;

use super::dial::Socket;
use super::end::End;
use super::outbox::{Feed, Grant, Outbox, Shared};
use crate::report::SCHEMA;

/// Time for the answer to `Hello`: a scheduler that accepts and says nothing is as good as
/// gone.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);
/// Client pings; servers and proxies punish more frequent ones.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Time for the answer to a ping.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Port that names nothing: the connection is made already.
const MADE: &str = "http://connection.invalid";
/// Longest time between two reports that a scheduler may ask for, as the longest period of an
/// agent: a wrong number must not silence a node for hours.
const LONGEST_INTERVAL: Duration = Duration::from_mins(1);
/// Largest message taken; answers have a few dozen bytes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// When a silent connection is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Time without a word after which the scheduler is asked for a sign of life.
    pub interval: Duration,
    /// Time for the answer.
    pub timeout: Duration,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self {
            interval: KEEPALIVE,
            timeout: KEEPALIVE_TIMEOUT,
        }
    }
}

/// A connection, and what the scheduler is called in requests on it.
pub(super) struct Dialled<'t> {
    pub(super) socket: Socket,
    pub(super) origin: &'t Uri,
    pub(super) keepalive: Keepalive,
}

/// A dialled stream.
#[derive(Debug)]
pub(crate) struct Session {
    inbound: Streaming<SchedulerMessage>,
    grants: watch::Sender<Grant>,
    welcomed_at: Option<Instant>,
}

impl Session {
    /// Says `Hello` on a connection of its own.
    ///
    /// # Errors
    /// How the attempt ended.
    pub(super) async fn open(
        dialled: Dialled<'_>,
        hello: Hello,
        feed: Feed,
        shared: Shared,
    ) -> Result<Self, End> {
        let channel = timeout(WELCOME_WITHIN, channel(dialled)).await;
        let channel = channel.map_err(|_| End::Silent)?.map_err(End::Transport)?;
        let grants = watch::Sender::new(Grant::default());
        let outbox = Outbox::new(hello, feed, grants.subscribe(), shared);
        let mut client = TelemetryClient::new(channel).max_decoding_message_size(MAX_MESSAGE_BYTES);
        let answer = timeout(WELCOME_WITHIN, client.stream(outbox));
        let answer = answer
            .await
            .map_err(|_| End::Silent)?
            .map_err(End::Status)?;
        Ok(Self {
            inbound: answer.into_inner(),
            grants,
            welcomed_at: None,
        })
    }

    /// Waits for the answer to `Hello`; reports leave from then on.
    ///
    /// # Errors
    /// How the attempt ended.
    pub(super) async fn welcome(&mut self) -> Result<(), End> {
        let welcome = timeout(WELCOME_WITHIN, self.next()).await;
        match welcome.unwrap_or(Err(End::Silent))? {
            Body::Welcome(welcome) if welcome.schema == SCHEMA => {
                self.welcomed(welcome);
                Ok(())
            }
            Body::Welcome(welcome) => Err(End::Schema(welcome.schema)),
            Body::Refusal(refusal) => Err(End::Refused(refusal)),
            Body::Drain(drain) => Err(drained(drain.min_delay_ms, drain.max_delay_ms)),
            Body::Ack(_) => Err(protocol_end(
                "an answer to a report came before the welcome",
            )),
        }
    }

    /// Gives how long the scheduler took reports; zero if it never did.
    pub(crate) fn lived(&self) -> Duration {
        self.welcomed_at
            .map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn welcomed(&mut self, welcome: Welcome) {
        self.welcomed_at = Some(Instant::now());
        let interval = interval(welcome);
        self.grants.send_modify(|grant| {
            grant.welcomed = true;
            grant.interval = interval;
        });
        info!(interval_ms = welcome.interval_ms, "stream is connected");
    }

    /// Listens until the stream ends.
    pub(super) async fn listen(&mut self) -> End {
        loop {
            match self.next().await {
                Ok(Body::Ack(ack)) => {
                    self.grants
                        .send_modify(|grant| grant.acked = grant.acked.max(ack.sequence));
                }
                // Asked to change pace: a second welcome is harmless.
                Ok(Body::Welcome(welcome)) => {
                    let interval = interval(welcome);
                    self.grants.send_modify(|grant| grant.interval = interval);
                }
                Ok(Body::Refusal(refusal)) => return End::Refused(refusal),
                Ok(Body::Drain(drain)) => return drained(drain.min_delay_ms, drain.max_delay_ms),
                Err(end) => return end,
            }
        }
    }

    /// Gives the next message that says something; one of a newer schema is passed over.
    async fn next(&mut self) -> Result<Body, End> {
        loop {
            match self.inbound.message().await {
                Ok(Some(SchedulerMessage { body: Some(body) })) => return Ok(body),
                Ok(Some(SchedulerMessage { body: None })) => {}
                Ok(None) => return Err(End::Closed),
                Err(status) => return Err(End::Status(status)),
            }
        }
    }
}

/// Speaks HTTP/2 on the connection. A channel that asks for a second one gets none: its
/// stream would be lost anyway, and the next is dialled where the name then points.
async fn channel(dialled: Dialled<'_>) -> Result<Channel, tonic::transport::Error> {
    let mut made = Some(TokioIo::new(dialled.socket));
    let take = service_fn(move |_: Uri| {
        let socket = made.take();
        async move { socket.ok_or_else(|| io::Error::other("the connection is lost")) }
    });
    Endpoint::from_static(MADE)
        .origin(dialled.origin.clone())
        .http2_keep_alive_interval(dialled.keepalive.interval)
        .keep_alive_timeout(dialled.keepalive.timeout)
        .keep_alive_while_idle(true)
        .connect_with_connector(take)
        .await
}

fn interval(welcome: Welcome) -> Duration {
    Duration::from_millis(welcome.interval_ms.into()).min(LONGEST_INTERVAL)
}

fn drained(min_ms: u32, max_ms: u32) -> End {
    End::Drained {
        min: Duration::from_millis(min_ms.into()),
        max: Duration::from_millis(max_ms.into()),
    }
}

fn protocol_end(detail: &str) -> End {
    End::Refused(Refusal {
        reason: Reason::Protocol.into(),
        detail: detail.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_kept_and_a_wrong_one_never_silences_a_node_for_long() {
        for (interval_ms, kept) in [
            (0, Duration::ZERO),
            (2_000, Duration::from_secs(2)),
            (u32::MAX, LONGEST_INTERVAL),
        ] {
            let welcome = Welcome {
                schema: SCHEMA,
                interval_ms,
            };
            assert_eq!(interval(welcome), kept);
        }
    }
}
