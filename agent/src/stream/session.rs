//! One stream to one address of a scheduler, from dialling to its end. Takes the address
//! and the outgoing half's inputs; gives why the stream ended.

use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_proto::telemetry::v1::refusal::Reason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::telemetry_client::TelemetryClient;
use plimsoll_proto::telemetry::v1::{Hello, Refusal, SchedulerMessage, Welcome};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint, Uri};
use tracing::info;

use super::end::End;
use super::outbox::{Feed, Grant, Outbox, Shared};
use crate::report::SCHEMA;

/// Time for the TCP handshake.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Time for the answer to `Hello`: a scheduler that accepts and says nothing is as good as
/// gone.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);
/// Client pings; servers and proxies punish more frequent ones.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Time for the answer to a ping.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time between two reports that a scheduler may ask for, as the longest period of an
/// agent: a wrong number must not silence a node for hours.
const LONGEST_INTERVAL: Duration = Duration::from_mins(1);
/// Largest message taken; answers have a few dozen bytes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// A dialled stream.
#[derive(Debug)]
pub(crate) struct Session {
    inbound: Streaming<SchedulerMessage>,
    grants: watch::Sender<Grant>,
    welcomed_at: Option<Instant>,
}

impl Session {
    /// Dials `address` on a connection of its own and says `Hello`. `origin` is what the
    /// scheduler is called in requests.
    ///
    /// # Errors
    /// How the attempt ended.
    pub(crate) async fn open(
        address: SocketAddr,
        origin: &Uri,
        hello: Hello,
        feed: Feed,
        shared: Shared,
    ) -> Result<Self, End> {
        let channel = dial(address, origin).await.map_err(End::Transport)?;
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

    /// Listens until the stream ends. `connected` is one more while the scheduler takes
    /// reports.
    pub(crate) async fn run(&mut self, connected: &Gauge) -> End {
        let welcome = timeout(WELCOME_WITHIN, self.next()).await;
        match welcome.unwrap_or(Err(End::Silent)) {
            Ok(Body::Welcome(welcome)) if welcome.schema == SCHEMA => {
                self.welcomed(welcome);
                connected.inc();
                let end = self.listen().await;
                connected.dec();
                end
            }
            Ok(Body::Welcome(welcome)) => End::Schema(welcome.schema),
            Ok(Body::Refusal(refusal)) => End::Refused(refusal),
            Ok(Body::Drain(drain)) => drained(drain.min_delay_ms, drain.max_delay_ms),
            Ok(Body::Ack(_)) => protocol_end("an answer to a report came before the welcome"),
            Err(end) => end,
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

    async fn listen(&mut self) -> End {
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

async fn dial(address: SocketAddr, origin: &Uri) -> Result<Channel, tonic::transport::Error> {
    Endpoint::from_shared(format!("http://{address}"))?
        .origin(origin.clone())
        .connect_timeout(CONNECT_WITHIN)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .connect()
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
