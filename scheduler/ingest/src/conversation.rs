//! The async edge of a session: the answers to one agent as a stream, fed by what the agent
//! says. Runs in the task of its call, and so needs no task or channel of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use plimsoll_proto::telemetry::v1::scheduler_message::Body;
use plimsoll_proto::telemetry::v1::{AgentMessage, Drain, SchedulerMessage};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Status, Streaming};
use tracing::{debug, info};

use crate::clock::Clock;
use crate::metrics::{Metrics, Reason, What};
use crate::session::{Session, Turn};

/// Range of the wait that agents are asked to take before they return to a scheduler that
/// went away: a restart takes seconds, and 15,000 agents need ten to return without a storm.
const DRAIN_MIN_MS: u32 = 500;
const DRAIN_MAX_MS: u32 = 10_000;
/// Messages taken in a row before other tasks get their turn.
const BURST: u32 = 32;

/// The answers to one agent.
pub(crate) struct Conversation {
    inbound: Streaming<AgentMessage>,
    session: Session,
    clock: Arc<dyn Clock>,
    drain: Pin<Box<WaitForCancellationFutureOwned>>,
    metrics: Metrics,
    over: bool,
}

impl Conversation {
    /// Begins a conversation that ends with a drain notice once `drain` is cancelled.
    pub(crate) fn new(
        inbound: Streaming<AgentMessage>,
        session: Session,
        clock: Arc<dyn Clock>,
        drain: CancellationToken,
        metrics: Metrics,
    ) -> Self {
        metrics.streams.inc();
        let drain = Box::pin(drain.cancelled_owned());
        Self {
            inbound,
            session,
            clock,
            drain,
            metrics,
            over: false,
        }
    }

    /// Gives the next answer; `None` ends the stream.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Body, Status>>> {
        if self.drain.as_mut().poll(cx).is_ready() {
            self.over = true;
            let notice = Drain {
                min_delay_ms: DRAIN_MIN_MS,
                max_delay_ms: DRAIN_MAX_MS,
            };
            return Poll::Ready(Some(Ok(Body::Drain(notice))));
        }
        if let Poll::Ready(refusal) = self.session.poll_superseded(cx) {
            self.over = true;
            return Poll::Ready(Some(Ok(Body::Refusal(refusal))));
        }
        for _ in 0..BURST {
            match Pin::new(&mut self.inbound).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    self.over = true;
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(status))) => return Poll::Ready(self.broken(status)),
                Poll::Ready(Some(Ok(message))) => {
                    if let Some(answer) = self.hear(message) {
                        return Poll::Ready(Some(Ok(answer)));
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn hear(&mut self, message: AgentMessage) -> Option<Body> {
        match self.session.hear(message, self.clock.mono()) {
            Turn::Listen => None,
            Turn::Say(body) => Some(body),
            Turn::Refuse(refusal) => {
                self.over = true;
                let node = self.session.node();
                let reason = refusal.reason().as_str_name();
                info!(node, reason, detail = refusal.detail, "stream is refused");
                Some(Body::Refusal(refusal))
            }
        }
    }

    /// The agent went away, or sent what is no message.
    fn broken(&mut self, status: Status) -> Option<Result<Body, Status>> {
        self.over = true;
        debug!(node = self.session.node(), %status, "stream broke");
        if is_malformed(&status) {
            self.metrics.refuse(What::Stream, Reason::Malformed);
            return Some(Err(status));
        }
        None
    }
}

/// A message that is none, or too large a one, as against a connection that broke.
fn is_malformed(status: &Status) -> bool {
    use tonic::Code;
    matches!(
        status.code(),
        Code::Internal | Code::OutOfRange | Code::ResourceExhausted
    )
}

impl Stream for Conversation {
    type Item = Result<SchedulerMessage, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(None);
        }
        let message = |body| SchedulerMessage { body: Some(body) };
        this.poll_answer(cx)
            .map(|answer| answer.map(|answer| answer.map(message)))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.metrics.streams.dec();
    }
}
