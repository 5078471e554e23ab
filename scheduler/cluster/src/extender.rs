//! Calls to one HTTP extender.
//!
//! Takes what the file says of the extender, then the body of a request; gives the body of an
//! answer with status 200, or why there is none, in the words of kube-scheduler's client. What
//! is in the bodies is the crate `plimsoll-extender`'s. Nothing is retried here.

mod error;
mod tls;
mod words;

use std::fmt;
use std::time::Duration;

use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use plimsoll_config::Extender;
use plimsoll_extender::{Verb, url};
use tokio::time::{Instant, timeout_at};

pub(crate) use self::error::CallError;
pub use self::tls::ClientError;
use crate::client::AGENT;
use crate::metrics::{ExtenderSeries, Metrics};

/// Largest answer that is read, in bytes. Filter may answer with every node as a whole: 5,000
/// nodes of 20 kB (50 images, managed fields) are 100 MB. What is larger is a fault, and must
/// not take the memory of the scheduler.
pub(crate) const ANSWER_MAX: usize = 256 << 20;
/// Idle connections kept (Go `DefaultMaxIdleConnsPerHost`).
const IDLE_MAX: usize = 2;
/// How long an idle connection is kept (Go `IdleConnTimeout` of the default transport).
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// When TCP looks after a silent connection (Go `net.Dialer`, which has 30 s).
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const JSON: &str = "application/json";

/// A client of one extender, with connections of its own. Cheap to clone; clones share them.
#[derive(Clone)]
pub(crate) struct Client {
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    extender: Extender,
    series: ExtenderSeries,
    answer_max: usize,
}

/// The settings hold a key, which is not for the log.
impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").finish_non_exhaustive()
    }
}

// === impl Client ===

impl Client {
    /// Reads certificates and keys. Opens no connection, and does not look at the URL, as
    /// kube-scheduler does not: a bad one fails each call. Every call is counted in `metrics`.
    ///
    /// # Errors
    /// A certificate or key cannot be used.
    pub(crate) fn new(extender: &Extender, metrics: &Metrics) -> Result<Self, ClientError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(IDLE_MAX)
            // Servers written by hand may know headers only as Go writes them.
            .http1_title_case_headers(true)
            .build(tls::connector(extender, tcp)?);
        Ok(Self {
            http,
            extender: extender.clone(),
            series: metrics.extender(),
            answer_max: ANSWER_MAX,
        })
    }

    /// Posts `body` to the path that the extender has for `verb`, takes the whole answer, all
    /// within its `httpTimeout`, and has it read. Dropping the future ends the call, and its
    /// connection.
    ///
    /// # Errors
    /// There is no path for `verb`, no answer in time, no whole answer, its status is not 200,
    /// or it is of no use to `read`.
    pub(crate) async fn ask<T>(
        &self,
        verb: Verb,
        body: Vec<u8>,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<T, CallError> {
        let Some(path) = verb.path(&self.extender) else {
            return Err(CallError::NotAsked { verb: verb.name() });
        };
        let started = Instant::now();
        let url = url(&self.extender.url_prefix, path);
        let answer = self.exchange(path, &url, body).await;
        let answer = answer.and_then(|body| read(&body).map_err(CallError::Unusable));
        let outcome = answer.as_ref().map_or_else(CallError::outcome, |_| "ok");
        let prefix = &self.extender.url_prefix;
        self.series.asked(prefix, verb, outcome, started.elapsed());
        answer
    }

    /// The answer as it is.
    #[cfg(test)]
    async fn post(&self, verb: Verb, body: Vec<u8>) -> Result<Vec<u8>, CallError> {
        self.ask(verb, body, |answer| Ok(answer.to_vec())).await
    }

    async fn exchange(&self, path: &str, url: &str, body: Vec<u8>) -> Result<Vec<u8>, CallError> {
        let deadline = Instant::now() + self.extender.http_timeout;
        let sending = self.http.request(request(url, body)?);
        let response = match timeout_at(deadline, sending).await {
            Ok(response) => response.map_err(|error| CallError::of_sending(url, &error))?,
            Err(_) => {
                return Err(CallError::NoHeaders {
                    url: url.to_owned(),
                });
            }
        };
        if response.status() != http::StatusCode::OK {
            return Err(CallError::Status {
                path: path.to_owned(),
                url: url.to_owned(),
                code: response.status().as_u16(),
            });
        }
        let reading = self.read(response);
        timeout_at(deadline, reading)
            .await
            .unwrap_or(Err(CallError::NoBody))
    }

    async fn read(&self, response: Response<Incoming>) -> Result<Vec<u8>, CallError> {
        let too_large = CallError::TooLarge {
            limit: self.answer_max,
        };
        let body = response.into_body();
        if body.size_hint().lower() > self.answer_max as u64 {
            return Err(too_large);
        }
        match Limited::new(body, self.answer_max).collect().await {
            Ok(read) => Ok(read.to_bytes().into()),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large),
            Err(error) => Err(CallError::of_reading(error.as_ref())),
        }
    }

    /// Reads no more than `answer_max` bytes of an answer.
    #[cfg(test)]
    fn with_answer_max(mut self, answer_max: usize) -> Self {
        self.answer_max = answer_max;
        self
    }
}

fn request(url: &str, body: Vec<u8>) -> Result<Request<Full<Bytes>>, CallError> {
    let bad = |cause: String| CallError::Url {
        url: url.to_owned(),
        cause,
    };
    let uri: Uri = url.parse().map_err(|cause| bad(format!("{cause}")))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        scheme => {
            let scheme = scheme.unwrap_or_default();
            return Err(bad(format!("unsupported protocol scheme {scheme:?}")));
        }
    }
    Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(CONTENT_TYPE, JSON)
        .header(USER_AGENT, AGENT)
        .body(Full::from(body))
        .map_err(|cause| bad(cause.to_string()))
}

#[cfg(test)]
pub(crate) mod tests;
