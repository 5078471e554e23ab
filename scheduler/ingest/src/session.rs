//! The rules of one stream, without any socket. Takes the agent's messages with their
//! arrival; gives what to answer, and publishes samples into the node's row.
//!
//! ```text
//! silent --Hello--> speaking --History?, Report*--> ..
//!    |                 |
//!    +-----------------+--> refused: protocol, schema, identity, capacity, superseded,
//!                           implausible (16 bad reports in a row, or too many a second)
//! ```

mod late;
mod pace;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use plimsoll_proto::telemetry::v1::agent_message::Body as Said;
use plimsoll_proto::telemetry::v1::refusal::Reason as WireReason;
use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::{Ack, AgentMessage, Hello, History, Refusal, Report, Welcome};
use tracing::{debug, warn};

use crate::connection::Connection;
use crate::metrics::{Metrics, Reason, What};
use crate::service::Ingest;
use crate::slots::{Claim, ClaimError, PublishError};
use crate::transit::Transit;
use crate::wire::{Arrival, HelloError, Omissions, SCHEMA, Speaker};
use late::Late;
use pace::Pace;

/// Bad reports in a row that end a stream: at 1 Hz a fault of some seconds passes, and a
/// broken agent is told once, not each second.
const MAX_BAD_IN_A_ROW: u32 = 16;
/// Reports after which an answer is due: half of what an agent may have unanswered.
const ACK_EACH: u32 = 8;
/// Time after which the next report is answered whatever the count.
const ACK_AFTER: Duration = Duration::from_secs(5);
/// Wanted time between two reports: 0 leaves it to the agent.
const KEEP_INTERVAL: u32 = 0;

/// What to do after a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn {
    /// Nothing.
    Listen,
    /// Say this and go on.
    Say(Body),
    /// Say this and end the stream.
    Refuse(Refusal),
}

/// One stream.
#[derive(Debug)]
pub(crate) struct Session {
    ingest: Arc<Ingest>,
    connection: Connection,
    speaking: Option<Speaking>,
}

/// A stream whose `Hello` was taken.
#[derive(Debug)]
struct Speaking {
    speaker: Speaker,
    claim: Claim,
    transit: Transit,
    acks: Acks,
    pace: Pace,
    bad_in_a_row: u32,
    /// A report came: history has no place any more.
    has_reported: bool,
    has_replayed: bool,
    late: Late,
}

impl Session {
    pub(crate) fn new(ingest: Arc<Ingest>, connection: Connection) -> Self {
        Self {
            ingest,
            connection,
            speaking: None,
        }
    }

    /// Takes one message that arrived at `now` on the engine's clock.
    pub(crate) fn hear(&mut self, message: AgentMessage, now: Duration) -> Turn {
        if let Some(speaking) = &mut self.speaking
            && !speaking.pace.allows(now)
        {
            let node = &*speaking.speaker.node;
            warn!(node, "agent is refused for the number of its reports");
            let detail = "more reports a second than any agent sends".to_owned();
            return self.refuse(Reason::Rate, detail);
        }
        match (message.body, &mut self.speaking) {
            (Some(Said::Hello(hello)), None) => self.begin(&hello, now),
            (Some(Said::Report(report)), Some(speaking)) => {
                speaking.report(report, now, self.ingest.metrics())
            }
            (Some(Said::Hello(hello)), Some(speaking)) => {
                if *hello.node_name == *speaking.speaker.node {
                    self.refuse(Reason::Protocol, "Hello came twice".to_owned())
                } else {
                    self.refuse(Reason::Identity, another_name(&hello.node_name))
                }
            }
            (Some(Said::History(history)), Some(speaking)) => {
                if std::mem::replace(&mut speaking.has_replayed, true) || speaking.has_reported {
                    let detail = "History came twice or after a report".to_owned();
                    return self.refuse(Reason::Protocol, detail);
                }
                speaking.replay(&history, now, self.ingest.metrics());
                Turn::Listen
            }
            // A message of a newer version that says nothing to this one.
            (None, Some(_)) => Turn::Listen,
            (Some(Said::Report(_) | Said::History(_)) | None, None) => self.refuse(
                Reason::Protocol,
                "the first message was not Hello".to_owned(),
            ),
        }
    }

    /// Becomes ready with the refusal when a newer stream speaks for the node.
    pub(crate) fn poll_superseded(&mut self, cx: &mut Context<'_>) -> Poll<Refusal> {
        let Some(speaking) = &mut self.speaking else {
            return Poll::Pending;
        };
        speaking
            .claim
            .poll_superseded(cx)
            .map(|()| superseded(self.ingest.metrics()))
    }

    /// The node that the stream speaks for, once it said so.
    pub(crate) fn node(&self) -> Option<&str> {
        self.speaking
            .as_ref()
            .map(|speaking| &*speaking.speaker.node)
    }

    fn begin(&mut self, hello: &Hello, now: Duration) -> Turn {
        let speaker = match Speaker::from_hello(hello) {
            Ok(speaker) => speaker,
            Err(error @ HelloError::Schema(_)) => {
                return self.refuse(Reason::Schema, error.to_string());
            }
            Err(error @ HelloError::Name) => {
                return self.refuse(Reason::Identity, error.to_string());
            }
        };
        if !self.connection.speaks_for(&speaker.node) {
            return self.refuse(Reason::Identity, another_name(&speaker.node));
        }
        let claim = match self
            .ingest
            .slots()
            .claim(&speaker.node, speaker.start_id, now)
        {
            Ok(claim) => claim,
            Err(error @ ClaimError::Superseded) => {
                return self.refuse(Reason::Superseded, error.to_string());
            }
            Err(error @ ClaimError::Capacity) => {
                return self.refuse(Reason::Capacity, error.to_string());
            }
        };
        debug!(
            node = &*speaker.node,
            version = hello.agent_version,
            "agent speaks"
        );
        self.speaking = Some(Speaking {
            speaker,
            claim,
            transit: Transit::default(),
            acks: Acks {
                newest: 0,
                unsaid: 0,
                said_at: now,
            },
            pace: Pace::new(now),
            bad_in_a_row: 0,
            has_reported: false,
            has_replayed: false,
            late: Late::default(),
        });
        Turn::Say(Body::Welcome(Welcome {
            schema: SCHEMA,
            interval_ms: KEEP_INTERVAL,
        }))
    }

    fn refuse(&self, reason: Reason, detail: String) -> Turn {
        Turn::Refuse(refusal(self.ingest.metrics(), reason, detail))
    }
}

impl Speaking {
    fn report(&mut self, report: Report, now: Duration, metrics: &Metrics) -> Turn {
        let sequence = report.sequence;
        self.has_reported = true;
        match self.publish(report, now, metrics) {
            Ok(()) => self.bad_in_a_row = 0,
            Err(Bad::Superseded) => return Turn::Refuse(superseded(metrics)),
            Err(Bad::Report) => self.bad_in_a_row += 1,
        }
        if self.bad_in_a_row >= MAX_BAD_IN_A_ROW {
            let node = &*self.speaker.node;
            warn!(node, "agent is refused for implausible reports");
            let detail = format!("{MAX_BAD_IN_A_ROW} implausible reports in a row");
            return Turn::Refuse(refusal(metrics, Reason::Implausible, detail));
        }
        match self.acks.due(sequence, now) {
            Some(sequence) => Turn::Say(Body::Ack(Ack { sequence })),
            None => Turn::Listen,
        }
    }

    fn publish(&mut self, report: Report, now: Duration, metrics: &Metrics) -> Result<(), Bad> {
        let sent = report.sent_ms.map(Duration::from_millis);
        let delay = sent.map_or(Duration::ZERO, |sent| self.transit.delay(sent, now));
        let arrival = Arrival { at: now, delay };
        let mut omissions = Omissions::default();
        let taken = self.speaker.sample(report, arrival, &mut omissions);
        for (what, reason) in &omissions.list {
            metrics.refuse(*what, *reason);
        }
        let sample = taken.map_err(|error| self.drop_report(error.reason(), metrics))?;
        let Some(sample) = self.late.pass(sample, delay) else {
            metrics.refuse(What::Report, Reason::Late);
            return Ok(());
        };
        let age = sample.age;
        match self.claim.publish(sample) {
            Ok(()) => {}
            Err(PublishError::Superseded) => return Err(Bad::Superseded),
            Err(PublishError::Replay) => return Err(self.drop_report(Reason::Replay, metrics)),
        }
        metrics.samples.inc();
        metrics.sample_age.observe(age.as_secs_f64());
        if omissions.are_implausible() {
            Err(Bad::Report)
        } else {
            Ok(())
        }
    }

    fn replay(&self, history: &History, now: Duration, metrics: &Metrics) {
        let mut omissions = Omissions::default();
        match self.speaker.history(history, now, &mut omissions) {
            Ok(points) => self.claim.replay(&points),
            Err(error) => metrics.refuse(What::History, error.reason()),
        }
        for (what, reason) in &omissions.list {
            metrics.refuse(*what, *reason);
        }
    }

    fn drop_report(&self, reason: Reason, metrics: &Metrics) -> Bad {
        debug!(node = &*self.speaker.node, ?reason, "report is dropped");
        metrics.refuse(What::Report, reason);
        Bad::Report
    }
}

/// What was wrong with a report.
enum Bad {
    /// It, or a part of it, cannot be.
    Report,
    /// It came on a stream that no longer owns the node.
    Superseded,
}

/// When reports are answered.
#[derive(Debug)]
struct Acks {
    newest: u64,
    unsaid: u32,
    said_at: Duration,
}

impl Acks {
    /// Notes that a report arrived; gives the sequence to answer if an answer is due.
    fn due(&mut self, sequence: u64, now: Duration) -> Option<u64> {
        self.newest = self.newest.max(sequence);
        self.unsaid += 1;
        if self.unsaid < ACK_EACH && now.saturating_sub(self.said_at) < ACK_AFTER {
            return None;
        }
        self.unsaid = 0;
        self.said_at = now;
        Some(self.newest)
    }
}

fn another_name(name: &str) -> String {
    let name: String = name
        .chars()
        .filter(|letter| !letter.is_control())
        .take(64)
        .collect();
    format!("this connection speaks for another node than {name:?}")
}

fn superseded(metrics: &Metrics) -> Refusal {
    let detail = "a newer stream speaks for this node".to_owned();
    refusal(metrics, Reason::Superseded, detail)
}

fn refusal(metrics: &Metrics, reason: Reason, detail: String) -> Refusal {
    metrics.refuse(What::Stream, reason);
    let on_wire = match reason {
        Reason::Schema => WireReason::Schema,
        Reason::Identity => WireReason::Identity,
        Reason::Superseded => WireReason::Superseded,
        Reason::Implausible | Reason::Rate => WireReason::Implausible,
        Reason::Capacity => WireReason::Capacity,
        _ => WireReason::Protocol,
    };
    Refusal {
        reason: on_wire.into(),
        detail,
    }
}

#[cfg(test)]
mod tests;
