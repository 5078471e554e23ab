//! List, then watch, for ever.
//!
//! Takes the API server's lists and watch streams of one kind, gives the engine's events.
//! A watch that ends is resumed at once from the last version seen; only when the server
//! no longer has that version is everything listed again, and the engine keeps what it
//! knows until the new list is whole. What one watch loses the other looks for too
//! ([`partner`]).
//!
//! ```text
//!  list --ok--> tell Listed --> watch --closed, broken, silent--> watch (same version)
//!   ^ \                           |  \----refused-----> wait ---> watch
//!   |  \--failed--> wait --> list |
//!   '-----------------------------'  expired (410), or refused again and again
//! ```

mod known;
mod lines;
mod list;
mod partner;
mod stream;

use std::time::Duration;

use plimsoll_core::Event;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use self::known::Known;
use self::list::Listing;
pub(crate) use self::partner::{Partner, partners};
use self::stream::{End, Stream};
use crate::backoff::Backoff;
use crate::call::Api;
use crate::cluster::TaskError;
use crate::kind::Kind;
use crate::ready::Ready;

/// Least wait after a failure.
const WAIT_LEAST: Duration = Duration::from_millis(100);
/// Longest wait after a failure: what a cluster may be blind for once its API server is back.
/// Two watches that ask once in a second or two are nothing to a server that starts.
const WAIT_MOST: Duration = Duration::from_secs(3);
/// Time between two looks whether a kind is served by now: an API is added rarely.
const UNSERVED_PAUSE: Duration = Duration::from_mins(1);
/// A watch that has lasted this long or has told of anything did its work.
const WORKED_AFTER: Duration = Duration::from_secs(1);
/// So many refusals of one version in a row, and everything is listed again: the version
/// may be one that this server never had (restored from a backup).
const REFUSALS_MAX: u32 = 5;

/// Keeps the engine told of one kind.
pub(crate) struct Watch<K: Kind> {
    kind: K,
    api: Api,
    events: Sender<Event>,
    ready: Ready,
    partner: Partner,
    known: Known<K::Object>,
    pace: Pace,
}

/// The engine takes no more events.
#[derive(Debug)]
struct EngineGone;

/// How fast a watch may begin again.
struct Pace {
    backoff: Backoff,
    /// Watches in a row that began and ended without work.
    fruitless: u32,
    /// Versions in a row that the server had no longer.
    expiries: u32,
    /// Refusals of a watch in a row.
    refusals: u32,
    /// The failure that was last told of: it is told once, not at each try.
    told: Option<String>,
}

// === impl Watch ===

impl<K: Kind> Watch<K> {
    pub(crate) fn new(
        kind: K,
        api: Api,
        events: Sender<Event>,
        ready: Ready,
        partner: Partner,
    ) -> Self {
        Self {
            kind,
            api,
            events,
            ready,
            partner,
            known: Known::default(),
            pace: Pace::new(),
        }
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// The engine takes no more events.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Result<(), TaskError> {
        let gone = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            gone = self.list_and_follow() => gone,
        };
        // The engine ends by the same signal, and may be gone before it is heard of here.
        let EngineGone = gone;
        if stop.is_cancelled() {
            return Ok(());
        }
        Err(TaskError::EngineGone)
    }

    async fn list_and_follow(&mut self) -> EngineGone {
        loop {
            let since = self.partner.last_loss();
            let Some(Listing { objects, version }) = self.list().await else {
                if let Err(gone) = self.without().await {
                    return gone;
                }
                continue;
            };
            self.pace.told = None;
            info!(
                kind = self.kind.name(),
                objects = objects.len(),
                version,
                "listed"
            );
            self.partner.in_step().await;
            self.kind.comes_after(&self.ready).await;
            if self.events.send(self.kind.listed(objects)).await.is_err() {
                return EngineGone;
            }
            self.partner.caught_up(since);
            self.kind.mark_listed(&self.ready);
            if let Err(gone) = self.follow(version).await {
                return gone;
            }
            self.api.metrics().relist(self.kind.name());
        }
    }

    /// The API server does not serve the kind: there are no objects of it, for now.
    async fn without(&mut self) -> Result<(), EngineGone> {
        if self.pace.is_news("not served") {
            info!(kind = self.kind.name(), "not served by this API server");
            let none = self.kind.listed(Vec::new());
            self.events.send(none).await.map_err(|_| EngineGone)?;
            self.kind.mark_listed(&self.ready);
        }
        sleep(UNSERVED_PAUSE).await;
        Ok(())
    }

    /// Lists everything, however often it takes; `None` if the kind is not served.
    async fn list(&mut self) -> Option<Listing<K>> {
        loop {
            match list::all(&self.api, &self.kind, &mut self.known).await {
                Ok(listing) => return Some(listing),
                Err(error) if self.kind.may_be_unserved() && error.is_not_found() => return None,
                Err(error) => {
                    let wait = self
                        .pace
                        .backoff
                        .next()
                        .max(error.retry_after().unwrap_or_default());
                    if self.pace.is_news(&error.to_string()) {
                        warn!(kind = self.kind.name(), %error, "list failed, trying again");
                    }
                    debug!(kind = self.kind.name(), %error, ?wait, "list failed");
                    self.pause(wait, error.retry_after().is_some()).await;
                }
            }
        }
    }

    /// Watches from `version` on; returns when everything has to be listed again.
    async fn follow(&mut self, mut version: String) -> Result<(), EngineGone> {
        loop {
            let started = Instant::now();
            let before = version.clone();
            let since = self.partner.last_loss();
            let stream = Stream {
                kind: &self.kind,
                api: &self.api,
                events: &self.events,
                since,
            };
            let end = stream
                .run(&mut version, &mut self.known, &mut self.partner)
                .await?;
            self.api
                .metrics()
                .watch_restart(self.kind.name(), end.label());
            log_end(self.kind.name(), &end, &version, &mut self.pace);
            let worked = version != before || started.elapsed() >= WORKED_AFTER;
            let next = self.pace.after(&end, worked);
            if next.list || end.is_loss() {
                self.partner.lost(since);
            }
            self.pause(next.wait, end.is_asked_to_wait()).await;
            if next.list {
                return Ok(());
            }
        }
    }

    /// Waits, and if the server has not asked for it, no longer than until it answers the
    /// partner.
    async fn pause(&mut self, wait: Duration, asked_for: bool) {
        if asked_for {
            sleep(wait).await;
        } else if !wait.is_zero() {
            self.partner.sleep(wait).await;
        }
    }
}

fn log_end(kind: &'static str, end: &End, version: &str, pace: &mut Pace) {
    match end {
        End::Closed => debug!(kind, version, "watch closed by the server"),
        End::Recalled => debug!(kind, version, "the other watch was lost, beginning again"),
        End::Broken(error) => info!(kind, version, error, "watch broken"),
        End::Silent => warn!(kind, version, "watch silent for too long"),
        End::Expired => warn!(kind, version, "version expired, listing again"),
        End::Failed { message, .. } if pace.is_news(message) => {
            warn!(kind, version, error = message, "watch failed, trying again");
        }
        End::Failed { message, .. } => debug!(kind, version, error = message, "watch failed again"),
    }
}

// === impl Pace ===

/// What to do after a watch has ended.
#[derive(Debug, PartialEq)]
struct Next {
    wait: Duration,
    list: bool,
}

impl Pace {
    fn new() -> Self {
        Self {
            backoff: Backoff::new(WAIT_LEAST, WAIT_MOST),
            fruitless: 0,
            expiries: 0,
            refusals: 0,
            told: None,
        }
    }

    /// Whether this failure is another one than the last.
    fn is_news(&mut self, failure: &str) -> bool {
        let news = self.told.as_deref() != Some(failure);
        if news {
            self.told = Some(failure.to_owned());
        }
        news
    }

    /// The server did what it was asked: begins anew.
    fn worked(&mut self) {
        self.backoff.reset();
        (self.fruitless, self.expiries, self.refusals) = (0, 0, 0);
        self.told = None;
    }

    fn after(&mut self, end: &End, worked: bool) -> Next {
        if worked {
            self.worked();
        } else if !matches!(end, End::Failed { .. }) {
            // A failure waits for itself: what follows it is not to wait for it again.
            self.fruitless += 1;
        }
        self.expiries += u32::from(matches!(end, End::Expired));
        if let End::Failed { refused: true, .. } = end {
            self.refusals += 1;
        }
        let list = matches!(end, End::Expired) || self.refusals >= REFUSALS_MAX;
        if list {
            self.refusals = 0;
        }
        let wait = match end {
            End::Failed { retry_after, .. } => {
                self.backoff.next().max(retry_after.unwrap_or_default())
            }
            // A server that is back has forgotten the version: waiting for it is over.
            End::Expired if self.expiries == 1 => Duration::ZERO,
            // One end without work is usual (a server that goes down, a slow list); a server
            // that does it again and again must not be asked without pause.
            _ if self.fruitless > 1 => self.backoff.next(),
            _ => Duration::ZERO,
        };
        Next { wait, list }
    }
}

#[cfg(test)]
mod tests;
