//! The agent's small HTTP server: `/metrics`, `/healthz`, `/readyz`. Takes a bound listener
//! and what to show; serves until shutdown. Heads are bounded in size and time, bodies are
//! not read at all.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::clock::Clock;
use crate::health::Health;
use crate::stream::Feed;

/// Connections at once: a scraper, two probes, and people.
const MAX_CONNECTIONS: usize = 16;
/// Largest head of a request; the least that hyper takes. Probes send 200 bytes.
const MAX_HEAD_BYTES: usize = 8 * 1024;
/// Most header lines of a request.
const MAX_HEADERS: usize = 32;
/// Time for the head of a request, and so for idling between two.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Time of a whole connection. A client that asks and never reads its answers would keep its
/// place for ever, and enough of them keep the probes out.
const CONNECTION_WITHIN: Duration = Duration::from_mins(1);
/// Pause after a failed accept, which is most often a want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

/// What the server shows.
#[derive(Debug)]
pub struct Site {
    /// What `/metrics` exports.
    pub registry: Registry,
    /// What `/healthz` asks.
    pub health: Health,
    /// What `/readyz` asks: ready means that there is a first reading.
    pub feed: Feed,
    /// The clock of `health`.
    pub clock: Clock,
}

/// Serves `site` on `listener` until `shutdown`.
pub async fn serve(listener: TcpListener, site: Arc<Site>, shutdown: CancellationToken) {
    let mut connections = JoinSet::new();
    let mut oldest_first = VecDeque::<AbortHandle>::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    make_room(&mut oldest_first);
                    oldest_first.push_back(connections.spawn(answer_all(stream, Arc::clone(&site))));
                }
                Err(error) => {
                    warn!(%error, "no connection is accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    connections.shutdown().await;
}

/// Ends the oldest connection where all places are taken: who holds one without a word must
/// not keep the probes waiting.
fn make_room(oldest_first: &mut VecDeque<AbortHandle>) {
    oldest_first.retain(|connection| !connection.is_finished());
    if oldest_first.len() < MAX_CONNECTIONS {
        return;
    }
    if let Some(oldest) = oldest_first.pop_front() {
        oldest.abort();
    }
}

async fn answer_all(stream: impl AsyncRead + AsyncWrite + Unpin, site: Arc<Site>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = site.answer(&request, site.clock.mono());
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    match timeout(CONNECTION_WITHIN, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "http connection broke"),
        Err(_) => debug!("http connection is cut, its time is over"),
    }
}

impl Site {
    /// Answers one request at `now` on the site's clock.
    pub fn answer<B: Body>(&self, request: &Request<B>, now: Duration) -> Response<Full<Bytes>> {
        if !request.body().is_end_stream() {
            let mut refused = text(StatusCode::PAYLOAD_TOO_LARGE, "no body is taken".to_owned());
            refused
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
            return refused;
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return text(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET is served".to_owned(),
            );
        }
        match request.uri().path() {
            "/metrics" => self.metrics(),
            "/healthz" => match self.health.check(now) {
                Ok(()) => text(StatusCode::OK, "ok".to_owned()),
                Err(stalled) => text(StatusCode::SERVICE_UNAVAILABLE, stalled.to_string()),
            },
            "/readyz" if self.feed.borrow().is_some() => text(StatusCode::OK, "ok".to_owned()),
            "/readyz" => text(StatusCode::SERVICE_UNAVAILABLE, "no reading yet".to_owned()),
            _ => text(
                StatusCode::NOT_FOUND,
                "/metrics, /healthz, /readyz".to_owned(),
            ),
        }
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let mut body = String::new();
        match encode(&mut body, &self.registry) {
            Ok(()) => respond(StatusCode::OK, METRICS_TYPE, body),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

fn text(status: StatusCode, mut words: String) -> Response<Full<Bytes>> {
    words.push('\n');
    respond(status, TEXT_TYPE, words)
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests;
