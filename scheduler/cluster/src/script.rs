//! A scripted API server for the tests of this crate.
//!
//! Speaks HTTP/1.1 over in-memory connections and plays canned answers per route, in
//! order; what is asked beyond the script is never answered. Keeps what it was asked, and
//! when. All time is tokio's, so that tests with a paused clock are exact and quick.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::duplex;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::call::Api;
use crate::metrics::Metrics;

/// Bytes on their way in a connection at most.
const WIRE: usize = 64 << 10;

/// One canned answer.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A code, headers, a body.
    Answer(u16, Vec<(&'static str, &'static str)>, String),
    /// 200 and a body in chunks, and then this.
    Stream(Vec<String>, Then),
    /// No answer, ever.
    Hang,
    /// The connection is closed in place of an answer.
    Cut,
}

/// How a streamed body ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Close,
    Hang,
    Break,
}

/// One request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// `METHOD /path`, or `WATCH /path`.
    pub(crate) route: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

/// The server. Clones share the script and what was seen.
#[derive(Clone, Default)]
pub(crate) struct Script {
    state: Arc<Mutex<State>>,
    came: Arc<Notify>,
}

#[derive(Default)]
struct State {
    routes: BTreeMap<String, VecDeque<Reply>>,
    seen: Vec<Seen>,
    connections: JoinSet<()>,
}

// === impl Reply ===

impl Reply {
    /// 200 with a JSON body.
    pub(crate) fn ok(body: &Value) -> Self {
        Self::Answer(200, Vec::new(), body.to_string())
    }

    /// A refusal as the API server words it.
    pub(crate) fn status(code: u16, message: &str) -> Self {
        let status = serde_json::json!({"kind": "Status", "code": code, "message": message});
        Self::Answer(code, Vec::new(), status.to_string())
    }

    /// A watch that tells of `changes` and then ends.
    pub(crate) fn watch(changes: &[Value], then: Then) -> Self {
        Self::Stream(
            changes.iter().map(|change| format!("{change}\n")).collect(),
            then,
        )
    }
}

// === impl Script ===

impl Script {
    /// Adds an answer to a route (`POST /path`; `WATCH /path` for a watch).
    pub(crate) fn on(&self, route: &str, reply: Reply) -> &Self {
        self.state
            .lock()
            .routes
            .entry(route.to_owned())
            .or_default()
            .push_back(reply);
        self
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.lock().seen.clone()
    }

    /// The requests of one route so far.
    pub(crate) fn seen_on(&self, route: &str) -> Vec<Seen> {
        self.seen()
            .into_iter()
            .filter(|seen| seen.route == route)
            .collect()
    }

    /// Waits until a route has been asked `n` times, and gives these requests.
    pub(crate) async fn asked(&self, route: &str, n: usize) -> Vec<Seen> {
        loop {
            let came = self.came.notified();
            let seen = self.seen_on(route);
            if seen.len() >= n {
                return seen;
            }
            came.await;
        }
    }

    /// A client with metrics of its own.
    pub(crate) fn api(&self) -> Api {
        Api::new(self.client(), Metrics::default())
    }

    /// A client of this server: a connection per request.
    pub(crate) fn client(&self) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |request| script.clone().connect(request));
        Client::new(service, "default")
    }

    async fn connect(self, request: Request<Body>) -> Result<Response<Incoming>, hyper::Error> {
        let (near, far) = duplex(WIRE);
        let (mut sender, near) = hyper::client::conn::http1::handshake(TokioIo::new(near)).await?;
        let script = self.clone();
        let answer = service_fn(move |request| script.clone().answer(request));
        let far =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), answer);
        {
            let connections = &mut self.state.lock().connections;
            connections.spawn(async move { drop(near.await) });
            connections.spawn(async move { drop(far.await) });
        }
        sender.send_request(request).await
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Played>, io::Error> {
        let (head, body) = request.into_parts();
        let query = head.uri.query().unwrap_or_default().to_owned();
        let verb = if query.contains("watch=true") {
            "WATCH"
        } else {
            head.method.as_str()
        };
        let route = format!("{verb} {}", head.uri.path());
        let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let seen = Seen {
            route: route.clone(),
            query,
            headers: head.headers,
            body,
            at: Instant::now(),
        };
        let reply = {
            let mut state = self.state.lock();
            state.seen.push(seen);
            state.routes.get_mut(&route).and_then(VecDeque::pop_front)
        };
        self.came.notify_waiters();
        play(reply.unwrap_or(Reply::Hang)).await
    }
}

async fn play(reply: Reply) -> Result<Response<Played>, io::Error> {
    let mut response = Response::new(Played::new(Vec::new(), Then::Close));
    match reply {
        Reply::Answer(code, headers, body) => {
            *response.status_mut() = StatusCode::from_u16(code).map_err(io::Error::other)?;
            for (name, value) in headers {
                response
                    .headers_mut()
                    .insert(name, http::HeaderValue::from_static(value));
            }
            response.body_mut().chunks.push_back(body);
        }
        Reply::Stream(chunks, then) => {
            *response.body_mut() = Played::new(chunks, then);
        }
        Reply::Hang => match pending::<Infallible>().await {},
        Reply::Cut => return Err(io::Error::other("cut by the script")),
    }
    Ok(response)
}

/// A body that is played from a script.
struct Played {
    chunks: VecDeque<String>,
    then: Then,
    flushed: bool,
}

// === impl Played ===

impl Played {
    fn new(chunks: Vec<String>, then: Then) -> Self {
        Self {
            chunks: chunks.into(),
            then,
            flushed: false,
        }
    }
}

impl hyper::body::Body for Played {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(chunk) = self.chunks.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from(chunk)))));
        }
        if !std::mem::replace(&mut self.flushed, true) {
            // Once around, so that the chunks are on the wire before the end.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.then {
            Then::Close => Poll::Ready(None),
            Then::Hang => Poll::Pending,
            Then::Break => Poll::Ready(Some(Err(io::Error::other("broken by the script")))),
        }
    }
}
