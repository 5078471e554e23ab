//! A watch: the stream of events that one client follows.
//!
//! It takes its place in the history of a resource and gives chunks of newline-separated JSON events. It
//! holds no queue: it reads the shared history from its own place whenever there is something new, so a
//! slow client costs nothing, and one that falls behind the history is told so (410) and ended.

mod frame;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Bytes;
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep, interval_at, sleep};
use tokio_stream::{Stream, wrappers::WatchStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{
    faults::{Faults, closed},
    selector::Selection,
    status::Status,
    store::{Change, Object, Store, TooOld},
    view::View,
};
use frame::Kind;

/// How many changes a watch takes out of the history at a time: enough that the lock is taken rarely,
/// few enough that it is held shortly.
const BATCH: usize = 256;

/// When a chunk is sent though more events are at hand, in bytes: one write of a socket buffer.
const CHUNK_BYTES: usize = 64 * 1024;

/// The least time between bookmarks: a period of zero would never let the stream rest.
const MIN_BOOKMARK_PERIOD: Duration = Duration::from_millis(1);

/// How long a watch must last to get a bookmark before its end, as kube-apiserver, which sends that
/// bookmark so long before the end.
const LAST_BOOKMARK_LEAD: Duration = Duration::from_secs(2);

/// What a client asked to follow.
#[derive(Debug)]
pub(crate) struct WatchRequest {
    pub(crate) view: View,
    pub(crate) namespace: Option<String>,
    pub(crate) selection: Selection,
    pub(crate) start: Start,
    pub(crate) bookmarks: bool,
    pub(crate) bookmark_period: Duration,
    pub(crate) timeout: Duration,
}

/// Where a watch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the changes after a revision.
    After(u64),
    /// With the present objects as `ADDED` events; where asked, a bookmark marks their end.
    Objects { mark_end: bool },
    /// With the next change.
    Now,
}

/// The events of one watch, as chunks of a response body.
pub(crate) struct EventStream {
    store: Store,
    view: View,
    namespace: Option<String>,
    selection: Selection,
    /// All changes up to this revision have been looked at.
    cursor: u64,
    initial: std::vec::IntoIter<Arc<Object>>,
    mark_end: bool,
    bookmarks: bool,
    ended: bool,
    tip: WatchStream<u64>,
    closes: WatchStream<BTreeMap<String, u64>>,
    closes_before: u64,
    bookmark_due: Interval,
    lasts: Duration,
    timeout: Pin<Box<Sleep>>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl EventStream {
    /// Begins a watch.
    pub(crate) fn new(
        store: &Store,
        faults: &Faults,
        stop: &CancellationToken,
        request: WatchRequest,
    ) -> Self {
        let resource = request.view.resource;
        let tip = store.read(|state| state.collection(resource).subscribe());
        let closes = faults.closes();
        let closes_before = closed(&closes.borrow(), resource);
        let (initial, cursor) = match request.start {
            Start::After(revision) => (Vec::new(), revision),
            Start::Objects { .. } => {
                store.select(resource, request.namespace.as_deref(), &request.selection)
            }
            Start::Now => (Vec::new(), store.resource_version()),
        };
        let period = request.bookmark_period.max(MIN_BOOKMARK_PERIOD);
        let mut bookmark_due = interval_at(Instant::now() + period, period);
        bookmark_due.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            store: store.clone(),
            view: request.view,
            namespace: request.namespace,
            selection: request.selection,
            cursor,
            initial: initial.into_iter(),
            mark_end: request.start == Start::Objects { mark_end: true },
            bookmarks: request.bookmarks,
            ended: false,
            tip: WatchStream::from_changes(tip),
            closes: WatchStream::from_changes(closes),
            closes_before,
            bookmark_due,
            lasts: request.timeout,
            timeout: Box::pin(sleep(request.timeout)),
            stop: Box::pin(stop.clone().cancelled_owned()),
        }
    }

    /// Gives the events that are at hand, or nothing.
    fn chunk(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        for object in self.initial.by_ref() {
            frame::event(&mut out, Kind::Added, self.view, &object);
            if out.len() >= CHUNK_BYTES {
                return Some(out.into());
            }
        }
        if std::mem::take(&mut self.mark_end) {
            frame::bookmark(&mut out, self.view.resource, self.cursor, true);
        }
        while out.len() < CHUNK_BYTES {
            match self.changes() {
                Ok(changes) if changes.is_empty() => break,
                Ok(changes) => self.write(&mut out, &changes),
                Err(too_old) => {
                    frame::error(&mut out, &expired(self.cursor, too_old.oldest));
                    self.ended = true;
                    break;
                }
            }
        }
        (!out.is_empty()).then(|| out.into())
    }

    /// Takes the next changes out of the history.
    fn changes(&mut self) -> Result<Vec<Arc<Change>>, TooOld> {
        let (changes, revision) = self.store.read(|state| {
            let history = &state.collection(self.view.resource).history;
            let changes: Vec<_> = history
                .since(self.cursor)?
                .take(BATCH)
                .map(Arc::clone)
                .collect();
            Ok((changes, state.revision()))
        })?;
        self.cursor = match changes.last() {
            Some(last) if changes.len() == BATCH => last.revision(),
            _ => revision.max(self.cursor),
        };
        Ok(changes)
    }

    fn write(&self, out: &mut Vec<u8>, changes: &[Arc<Change>]) {
        for change in changes {
            if let Some((kind, object)) = self.seen(change) {
                frame::event(out, kind, self.view, object);
            }
        }
    }

    /// Gives what a change is for this watch: an object that begins to match is added, one that ceases to
    /// match is deleted.
    fn seen<'a>(&self, change: &'a Change) -> Option<(Kind, &'a Arc<Object>)> {
        let here = self
            .namespace
            .as_deref()
            .is_none_or(|it| it == change.object.namespace());
        if !here {
            return None;
        }
        let before = change
            .previous
            .as_ref()
            .is_some_and(|it| self.selection.matches(it));
        if change.deleted {
            return before.then_some((Kind::Deleted, &change.object));
        }
        match (before, self.selection.matches(&change.object)) {
            (true, true) => Some((Kind::Modified, &change.object)),
            (false, true) => Some((Kind::Added, &change.object)),
            (true, false) => Some((Kind::Deleted, change.left()?)),
            (false, false) => None,
        }
    }

    fn bookmark(&self) -> Bytes {
        let mut out = Vec::new();
        frame::bookmark(&mut out, self.view.resource, self.cursor, false);
        out.into()
    }

    /// Tells whether the watch was closed from outside.
    fn is_closed(&mut self, context: &mut Context<'_>) -> bool {
        while let Poll::Ready(closes) = Pin::new(&mut self.closes).poll_next(context) {
            let count = closes.map(|closes| closed(&closes, self.view.resource));
            if count.is_none_or(|count| count > self.closes_before) {
                return true;
            }
        }
        self.stop.as_mut().poll(context).is_ready()
    }
}

impl Stream for EventStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.ended || this.is_closed(context) {
            this.ended = true;
            return Poll::Ready(None);
        }
        loop {
            if let Some(chunk) = this.chunk() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            if this.timeout.as_mut().poll(context).is_ready() {
                // As kube-apiserver: a last bookmark, so that the client resumes from the very end.
                this.ended = true;
                let marks = this.bookmarks && this.lasts > LAST_BOOKMARK_LEAD;
                return Poll::Ready(marks.then(|| Ok(this.bookmark())));
            }
            match Pin::new(&mut this.tip).poll_next(context) {
                Poll::Ready(Some(_)) => continue,
                Poll::Ready(None) => {
                    this.ended = true;
                    return Poll::Ready(None);
                }
                Poll::Pending => {}
            }
            if this.bookmarks && this.bookmark_due.poll_tick(context).is_ready() {
                return Poll::Ready(Some(Ok(this.bookmark())));
            }
            return Poll::Pending;
        }
    }
}

/// The refusal of a watch whose place is no longer in the history.
fn expired(asked: u64, oldest: u64) -> Status {
    Status::expired(format!("too old resource version: {asked} ({oldest})"))
}

#[cfg(test)]
mod tests;
