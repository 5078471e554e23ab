//! The answer of the API server: a code, perhaps a time to wait, a body.
//!
//! Takes an HTTP response, gives the answer, and says how a refusal is to be taken.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, Response, StatusCode};
use kube::client::Body;
use plimsoll_core::{Failure, FailureKind};
use serde::Deserialize;

use super::CallError;

/// Longest message kept of an answer, in bytes: it goes to a log line and a condition.
const MESSAGE_MAX: usize = 1024;
/// Longest wait that a server may ask for, as the engine bounds it for its own requests: a
/// wrong number of some proxy must not keep the scheduler blind for hours.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);

/// An answer, whatever its code.
#[derive(Debug)]
pub(crate) struct Answer {
    code: StatusCode,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct Status {
    message: Option<String>,
}

// === impl Answer ===

impl Answer {
    /// Reads the whole body.
    ///
    /// # Errors
    /// The connection broke.
    pub(super) async fn read(response: Response<Body>) -> Result<Self, CallError> {
        let (head, body) = response.into_parts();
        let body = match body.collect_bytes().await {
            Ok(bytes) => bytes.to_vec(),
            // A refusal is known by its code alone.
            Err(_) if !head.status.is_success() => Vec::new(),
            Err(error) => return Err(CallError::Lost(error)),
        };
        Ok(Self {
            code: head.status,
            retry_after: retry_after(&head.headers),
            body,
        })
    }

    /// The refusal in a response that was opened to be read as a stream.
    pub(crate) async fn of_refusal(response: Response<Body>) -> Result<Self, CallError> {
        Self::read(response).await
    }

    pub(crate) fn code(&self) -> StatusCode {
        self.code
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// How long the server asks us to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What the server said, for people.
    pub(crate) fn message(&self) -> String {
        let said = match serde_json::from_slice::<Status>(&self.body) {
            Ok(Status {
                message: Some(message),
            }) => message,
            _ => String::from_utf8_lossy(&self.body).trim().to_owned(),
        };
        if said.is_empty() {
            return self.code.to_string();
        }
        said[..said.floor_char_boundary(MESSAGE_MAX)].to_owned()
    }

    /// The answer itself if it is a success.
    ///
    /// # Errors
    /// The refusal, by its code.
    pub(crate) fn accepted(self) -> Result<Self, Failure> {
        if self.code.is_success() {
            return Ok(self);
        }
        let kind = match self.code {
            StatusCode::NOT_FOUND => FailureKind::NotFound,
            StatusCode::CONFLICT => FailureKind::Conflict,
            StatusCode::TOO_MANY_REQUESTS => FailureKind::TooManyRequests {
                retry_after: self.retry_after,
            },
            code if code.is_server_error() => FailureKind::Unavailable,
            _ => FailureKind::Refused,
        };
        Err(Failure {
            kind,
            message: self.message(),
        })
    }
}

/// `Retry-After` in seconds, as far as it is honoured: the API server does not use the form
/// with a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}
