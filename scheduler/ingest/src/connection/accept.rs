//! The accept loop as a stream: one connection per free place, and a pause after errors,
//! since the server above would ask again at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, PollSemaphore};
use tracing::{debug, warn};

use super::link::Link;

/// Pause after a failed accept, which is most often a want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The connections of a listener.
#[derive(Debug)]
pub(crate) struct Accept {
    listener: TcpListener,
    places: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
    pause: Option<Pin<Box<Sleep>>>,
    /// The last accept failed: a want that lasts is said once, not ten times a second.
    is_failing: bool,
    cut: CancellationToken,
    open: Gauge,
}

impl Accept {
    /// Accepts up to `limit` connections at once, counts them in `open` and cuts all of
    /// them when `cut` is cancelled.
    pub(crate) fn new(
        listener: TcpListener,
        limit: usize,
        cut: CancellationToken,
        open: Gauge,
    ) -> Self {
        Self {
            listener,
            places: PollSemaphore::new(Arc::new(Semaphore::new(limit))),
            place: None,
            pause: None,
            is_failing: false,
            cut,
            open,
        }
    }

    fn poll_link(&mut self, cx: &mut Context<'_>) -> Poll<Option<Link>> {
        if self.place.is_none() {
            self.place = ready!(self.places.poll_acquire(cx));
        }
        let (stream, _) = match ready!(self.listener.poll_accept(cx)) {
            Ok(accepted) => {
                self.is_failing = false;
                accepted
            }
            Err(error) => {
                if std::mem::replace(&mut self.is_failing, true) {
                    debug!(%error, "still no connection is accepted");
                } else {
                    warn!(%error, "no connection is accepted");
                }
                self.pause = Some(Box::pin(sleep(PAUSE)));
                return Poll::Ready(None);
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "connection is gone already");
            return Poll::Ready(None);
        }
        let link = self
            .place
            .take()
            .map(|place| Link::new(stream, place, self.cut.clone(), self.open.clone()));
        Poll::Ready(link)
    }
}

impl Stream for Accept {
    type Item = io::Result<Link>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            if let Some(link) = ready!(self.poll_link(cx)) {
                return Poll::Ready(Some(Ok(link)));
            }
        }
    }
}
