//! One watch, from its request to its end.
//!
//! Takes the lines of a watch, gives the engine's events, and moves the version on with
//! each event that the engine has taken. An object that cannot be understood is left out,
//! not the watch.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt as _;
use kube::api::WatchParams;
use kube::core::Request;
use plimsoll_core::Event;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, timeout, timeout_at};

use super::EngineGone;
use super::known::Known;
use super::lines::{LINE_MAX, Line, Lines};
use super::list::skipped;
use super::partner::Partner;
use crate::call::{Answer, Api, Call, CallError, chain};
use crate::kind::{Head, Kind};

/// How long the server is asked to keep a watch open, in seconds. kube-scheduler asks for
/// 300 to 600: a connection that died without a word would be noticed as late as that.
const WATCH_SECONDS: u32 = 60;
/// Longest time without a byte: the server's time and a margin.
const SILENCE_LIMIT: Duration = Duration::from_secs(WATCH_SECONDS as u64 + 5);
/// Longest time to the head of the answer.
const OPEN_LIMIT: Duration = Duration::from_secs(30);

/// How long after the head of the answer what was missed has come: the server sends it, or
/// that it no longer has it, at once. It says nothing when there was nothing.
const SETTLE: Duration = Duration::from_millis(250);

/// Everything that one watch needs.
pub(super) struct Stream<'a, K: Kind> {
    pub(super) kind: &'a K,
    pub(super) api: &'a Api,
    pub(super) events: &'a Sender<Event>,
    /// The last loss before this watch.
    pub(super) since: u64,
}

/// How a watch ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By the server, in order.
    Closed,
    /// The connection broke.
    Broken(String),
    /// No byte for too long.
    Silent,
    /// The other watch was lost after this one began.
    Recalled,
    /// The server no longer has the version.
    Expired,
    /// It did not begin, or the server reported an error.
    Failed {
        message: String,
        retry_after: Option<Duration>,
        /// The server may never accept this version, however often it is asked.
        refused: bool,
    },
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
}

// === impl Stream ===

impl<K: Kind> Stream<'_, K> {
    /// Watches from `version` until the watch ends.
    ///
    /// # Errors
    /// The engine takes no more events.
    pub(super) async fn run(
        &self,
        version: &mut String,
        known: &mut Known<K::Object>,
        partner: &mut Partner,
    ) -> Result<End, EngineGone> {
        // What the server has said comes first.
        let opened = tokio::select! {
            biased;
            opened = self.open(version) => opened,
            () = partner.loss_after(self.since) => Err(End::Recalled),
        };
        let mut body = match opened {
            Ok(body) => body,
            Err(end) => return Ok(end),
        };
        let mut lines = Lines::new(LINE_MAX);
        let settled = Instant::now() + SETTLE;
        let mut limit = settled;
        loop {
            let frame = tokio::select! {
                biased;
                frame = timeout_at(limit, body.frame()) => frame,
                () = partner.loss_after(self.since) => return Ok(End::Recalled),
            };
            let frame = match frame {
                Ok(None) => return Ok(End::Closed),
                Ok(Some(Ok(frame))) => Some(frame),
                Ok(Some(Err(error))) => return Ok(End::Broken(chain(&CallError::Lost(error)))),
                Err(_) if limit == settled => None,
                Err(_) => return Ok(End::Silent),
            };
            let data = frame.as_ref().and_then(|frame| frame.data_ref());
            for line in lines.push(data.map_or(&[], |data| &data[..])) {
                partner.in_step().await;
                if let Some(end) = self.take(&line, version, known).await? {
                    return Ok(end);
                }
            }
            limit = settled;
            if Instant::now() >= settled {
                partner.caught_up(self.since);
                limit = Instant::now() + SILENCE_LIMIT;
            }
        }
    }

    async fn open(&self, version: &str) -> Result<kube::client::Body, End> {
        let params = WatchParams {
            field_selector: self.kind.field_selector().map(str::to_owned),
            timeout: Some(WATCH_SECONDS),
            bookmarks: true,
            ..WatchParams::default()
        };
        let request = Request::new(self.kind.path())
            .watch(&params, version)
            .map_err(|error| End::failed(chain(&error)))?;
        let response = self
            .api
            .open(Call::new("watch", self.kind.name(), request), OPEN_LIMIT)
            .await
            .map_err(|error| End::failed(chain(&error)))?;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let code = response.status();
        let Ok(Ok(answer)) = timeout(OPEN_LIMIT, Answer::of_refusal(response)).await else {
            return Err(End::refusal(code, "", None));
        };
        Err(End::refusal(code, &answer.message(), answer.retry_after()))
    }

    /// Takes one line. `Some` if it ends the watch.
    async fn take(
        &self,
        line: &Line,
        version: &mut String,
        known: &mut Known<K::Object>,
    ) -> Result<Option<End>, EngineGone> {
        let Line::Whole(text) = line else {
            skipped(self.api, self.kind.name(), None, "line too long");
            return Ok(None);
        };
        let change: Change<'_> = match serde_json::from_slice(text) {
            Ok(change) => change,
            Err(error) => return Ok(Some(End::garbled(&error))),
        };
        let json = change.object.get();
        if change.r#type == "ERROR" {
            return Ok(Some(End::reported(json)));
        }
        let (event, next) = self.read(&change.r#type, json, known);
        if let Some(event) = event {
            self.events.send(event).await.map_err(|_| EngineGone)?;
        }
        if !next.is_empty() {
            *version = next;
        }
        Ok(None)
    }

    /// The event that a change is to the engine, if it is one, and its version.
    fn read(
        &self,
        what: &str,
        json: &str,
        known: &mut Known<K::Object>,
    ) -> (Option<Event>, String) {
        if matches!(what, "ADDED" | "MODIFIED") {
            match self.kind.decode(json.as_bytes()) {
                Ok(object) => {
                    let object = Arc::new(object);
                    let meta = K::meta(&object);
                    known.set(meta, &object);
                    let version = meta.resource_version.as_ref().to_owned();
                    return (Some(self.kind.set(object)), version);
                }
                Err(error) => {
                    let head = Head::of(json);
                    skipped(self.api, self.kind.name(), head.as_ref(), &chain(&error));
                    return (
                        None,
                        head.map(|head| head.version().to_owned())
                            .unwrap_or_default(),
                    );
                }
            }
        }
        let Some(head) = Head::of(json) else {
            skipped(self.api, self.kind.name(), None, "no metadata");
            return (None, String::new());
        };
        let version = head.version().to_owned();
        if what == "DELETED" {
            known.remove(&head.uid());
            return (Some(self.kind.gone(&head, json)), version);
        }
        if what != "BOOKMARK" {
            skipped(
                self.api,
                self.kind.name(),
                Some(&head),
                "unknown type of change",
            );
        }
        (None, version)
    }
}

// === impl End ===

impl End {
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Broken(_) => "broken",
            Self::Silent => "silent",
            Self::Recalled => "recalled",
            Self::Expired => "expired",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether a watch that stood is lost, and with it perhaps the way to the server.
    pub(super) fn is_loss(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Silent | Self::Expired)
    }

    /// Whether the server has said how long to wait.
    pub(super) fn is_asked_to_wait(&self) -> bool {
        let Self::Failed { retry_after, .. } = self else {
            return false;
        };
        retry_after.is_some()
    }

    fn failed(message: String) -> Self {
        Self::Failed {
            message,
            retry_after: None,
            refused: false,
        }
    }

    /// A line that is no change: from here on nothing is known of what was missed.
    fn garbled(error: &serde_json::Error) -> Self {
        let message = format!("a line of the watch is no change: {error}");
        Self::Failed {
            message,
            retry_after: None,
            refused: true,
        }
    }

    /// An error reported in the stream.
    fn reported(json: &str) -> Self {
        match serde_json::from_str::<Status>(json) {
            Ok(Status { code, message }) => {
                let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                Self::refusal(code, &message, None)
            }
            Err(error) => Self::garbled(&error),
        }
    }

    fn refusal(code: StatusCode, message: &str, retry_after: Option<Duration>) -> Self {
        if code == StatusCode::GONE {
            return Self::Expired;
        }
        // Credentials and load change with time; other refusals are about what was asked. 504
        // is how a server answers a version that it has not reached.
        let passing = [
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        let refused = (code.is_client_error() && !passing.contains(&code))
            || code == StatusCode::GATEWAY_TIMEOUT;
        Self::Failed {
            message: format!("{code}: {message}"),
            retry_after,
            refused,
        }
    }
}
