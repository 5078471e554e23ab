//! The outgoing half of a stream: `Hello`, what was before, then always the newest reading,
//! never a queue.
//! Takes the feed of readings and what the scheduler granted; gives one message each time
//! the transport has room for one, aged at that moment.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use plimsoll_proto::telemetry::v1::{AgentMessage, Hello, agent_message::Body};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tokio_stream::wrappers::WatchStream;

use super::credit::Credit;
use super::past::Past;
use super::pods::{Instants, Pods};
use crate::clock::Clock;
use crate::report::{Reading, Sending, history, report};

/// The newest reading of the node, `None` before the first.
pub type Feed = watch::Receiver<Option<Arc<Reading>>>;

/// What the scheduler granted so far on this stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The scheduler answered `Hello`: reports may follow.
    pub(crate) welcomed: bool,
    /// Least time between two reports; zero leaves it to the agent.
    pub(crate) interval: Duration,
    /// The newest report that arrived.
    pub(crate) acked: u64,
}

/// What all streams to one address share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    /// The last sequence given to any of them: a new stream does not repeat it.
    pub(crate) last_sent: Arc<AtomicU64>,
    pub(crate) reports_sent: Counter,
    /// What the node carried lately.
    pub(crate) past: Past,
}

/// The stream of messages of one session. Ends when the feed or the session ends.
#[derive(Debug)]
pub(crate) struct Outbox {
    hello: Option<Hello>,
    /// What was before this stream is still to be said.
    owes_past: bool,
    pods: Pods,
    /// The links' speed that the scheduler heard of last.
    told_link: Option<u64>,
    readings: WatchStream<Option<Arc<Reading>>>,
    grants: WatchStream<Grant>,
    grant: Grant,
    newest: Option<Arc<Reading>>,
    credit: Credit,
    /// Runs until the next report may leave; none while nothing holds it back.
    pause: Option<Pin<Box<Sleep>>>,
    shared: Shared,
}

impl Outbox {
    /// Makes the outgoing half that begins with `hello`.
    pub(crate) fn new(
        hello: Hello,
        feed: Feed,
        grants: watch::Receiver<Grant>,
        shared: Shared,
    ) -> Self {
        Self {
            told_link: hello.link_bytes_per_second,
            hello: Some(hello),
            owes_past: true,
            pods: Pods::default(),
            readings: WatchStream::new(feed),
            grants: WatchStream::new(grants),
            grant: Grant::default(),
            newest: None,
            credit: Credit::default(),
            pause: None,
            shared,
        }
    }

    /// Takes all that is new; says whether the stream goes on. Leaves the task registered
    /// for the next change of either input.
    fn take_news(&mut self, cx: &mut Context<'_>) -> bool {
        while let Poll::Ready(grant) = Pin::new(&mut self.grants).poll_next(cx) {
            let Some(grant) = grant else { return false };
            self.credit.acked(grant.acked);
            self.grant = grant;
        }
        while let Poll::Ready(reading) = Pin::new(&mut self.readings).poll_next(cx) {
            let Some(reading) = reading else { return false };
            let last_sent = self.shared.last_sent.load(Ordering::Relaxed);
            self.newest = reading.filter(|reading| reading.sequence > last_sent);
        }
        true
    }

    fn is_pausing(&mut self, cx: &mut Context<'_>) -> bool {
        let pausing = self
            .pause
            .as_mut()
            .is_some_and(|pause| pause.as_mut().poll(cx).is_pending());
        if !pausing {
            self.pause = None;
        }
        pausing
    }

    fn send(&mut self, reading: &Reading) -> AgentMessage {
        let link = reading.usage.link_bytes_per_second;
        let news = link.filter(|_| link != self.told_link);
        if news.is_some() {
            self.told_link = news;
        }
        if !self.grant.interval.is_zero() {
            self.pause = Some(Box::pin(sleep(self.grant.interval)));
        }
        self.credit.sent(reading.sequence);
        self.shared
            .last_sent
            .store(reading.sequence, Ordering::Relaxed);
        self.shared.reports_sent.inc();
        let now = self.shared.clock.mono();
        let sending = Sending {
            at: now,
            link_bytes_per_second: news,
        };
        let sample = reading.usage.taken_at;
        let pods = self.pods.due(&reading.pods, Instants { sample, now });
        message(Body::Report(report(reading, sending, pods)))
    }

    /// What the node carried before this stream; nothing in the first seconds of an agent.
    fn past(&mut self) -> Option<AgentMessage> {
        if !std::mem::take(&mut self.owes_past) {
            return None;
        }
        let history = history(&self.shared.past.borrow(), self.shared.clock.mono());
        (!history.points.is_empty()).then(|| message(Body::History(history)))
    }
}

impl Stream for Outbox {
    type Item = AgentMessage;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentMessage>> {
        let this = self.get_mut();
        if let Some(hello) = this.hello.take() {
            return Poll::Ready(Some(message(Body::Hello(hello))));
        }
        if !this.take_news(cx) {
            return Poll::Ready(None);
        }
        if !this.grant.welcomed {
            return Poll::Pending;
        }
        if let Some(past) = this.past() {
            return Poll::Ready(Some(past));
        }
        if !this.credit.may_send() || this.is_pausing(cx) {
            return Poll::Pending;
        }
        match this.newest.take() {
            Some(reading) => Poll::Ready(Some(this.send(&reading))),
            None => Poll::Pending,
        }
    }
}

fn message(body: Body) -> AgentMessage {
    AgentMessage { body: Some(body) }
}

#[cfg(test)]
mod tests;
