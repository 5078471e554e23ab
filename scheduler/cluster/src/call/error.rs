//! Why there is no answer.
//!
//! Takes an error of the client, says whether the request may have been carried out, and
//! how the engine is to take it.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use hyper_util::client::legacy;
use kube::client::AuthError;
use plimsoll_core::{Failure, FailureKind};

use super::Answer;
use crate::path::BadName;

/// How deep a chain of causes is followed: HTTP and TLS stacks nest a handful.
const CAUSES_MAX: usize = 16;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// A name cannot be part of a path.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The request is no valid HTTP.
    #[error("the request cannot be built")]
    Build(#[source] http::Error),
    /// No connection, or no credentials: nothing was sent.
    #[error("the API server cannot be reached")]
    NotSent(#[source] kube::Error),
    /// Another replica may lead by now: not sent, or not waited for.
    #[error("this replica does not lead")]
    NotLeading,
    /// The connection broke, after the request was sent for all that is known.
    #[error("the connection broke before the answer")]
    Lost(#[source] kube::Error),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Silent(Duration),
}

// === impl CallError ===

impl CallError {
    pub(super) fn from_kube(error: kube::Error) -> Self {
        if never_sent(&error) {
            Self::NotSent(error)
        } else {
            Self::Lost(error)
        }
    }

    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Name(_) | Self::Build(_) => "invalid",
            Self::NotSent(_) => "not_sent",
            Self::NotLeading => "not_leading",
            Self::Lost(_) => "lost",
            Self::Silent(_) => "timeout",
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let kind = match &error {
            CallError::Name(_) | CallError::Build(_) => FailureKind::Refused,
            CallError::NotSent(_) => FailureKind::Unavailable,
            CallError::NotLeading | CallError::Lost(_) | CallError::Silent(_) => {
                FailureKind::Unknown
            }
        };
        Self {
            kind,
            message: chain(&error),
        }
    }
}

impl From<BadName> for Failure {
    fn from(error: BadName) -> Self {
        CallError::from(error).into()
    }
}

/// An accepted answer, or how the call failed.
pub(crate) fn accepted(sent: Result<Answer, CallError>) -> Result<Answer, Failure> {
    sent?.accepted()
}

/// Whether an error of the client means that not one byte of the request was sent.
fn never_sent(error: &kube::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = match error {
        kube::Error::Auth(_) | kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => {
            return true;
        }
        kube::Error::Service(source) => Some(source.as_ref()),
        _ => None,
    };
    for _ in 0..CAUSES_MAX {
        let Some(found) = cause else { return false };
        let no_connection = found
            .downcast_ref::<legacy::Error>()
            .is_some_and(legacy::Error::is_connect);
        if no_connection || found.is::<AuthError>() {
            return true;
        }
        cause = found.source();
    }
    false
}

/// An error and its causes in one line; a cause that its parent has already said is skipped.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    for _ in 0..CAUSES_MAX {
        let Some(found) = cause else { break };
        let said = found.to_string();
        if !text.contains(&said) {
            // Writing to a `String` does not fail.
            let _ = write!(text, ": {said}");
        }
        cause = found.source();
    }
    text
}
