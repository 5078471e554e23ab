//! Why a stream ended, in words for the log and with what the next wait needs.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use plimsoll_proto::telemetry::v1::Refusal;

use super::dial;

/// Why a stream ended.
#[derive(Debug)]
pub(crate) enum End {
    /// No connection.
    Dial(dial::Error),
    /// The connection broke while the call began.
    Transport(tonic::transport::Error),
    /// The call failed or broke.
    Status(tonic::Status),
    /// No answer to `Hello` in time.
    Silent,
    /// The scheduler ended the stream without a word.
    Closed,
    /// Samples come at another pace than the scheduler was told.
    Paced,
    /// The scheduler refused the stream.
    Refused(Refusal),
    /// The scheduler speaks another schema.
    Schema(u32),
    /// The scheduler goes away; come back after a time in this range.
    Drained {
        /// Shortest wait.
        min: Duration,
        /// Longest wait.
        max: Duration,
    },
}

/// One line for the log, with causes: it is where these errors stop travelling.
impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dial(error) => match error.source() {
                Some(cause) => write!(out, "{error}: {cause}"),
                None => write!(out, "{error}"),
            },
            Self::Transport(error) => write!(out, "no connection: {}", innermost(error)),
            Self::Status(status) => write!(out, "the call broke: {}", words(status)),
            Self::Silent => write!(out, "the scheduler does not answer"),
            Self::Closed => write!(out, "the scheduler closed the stream"),
            Self::Paced => write!(out, "samples come at another pace now"),
            Self::Refused(refusal) => {
                write!(
                    out,
                    "refused ({}): {}",
                    refusal.reason().as_str_name(),
                    refusal.detail
                )
            }
            Self::Schema(schema) => write!(out, "the scheduler speaks schema {schema}"),
            Self::Drained { .. } => write!(out, "the scheduler goes away"),
        }
    }
}

fn words(status: &tonic::Status) -> String {
    let cause = status.source().map(|cause| innermost(cause).to_string());
    let words = if status.message().is_empty() {
        None
    } else {
        Some(status.message())
    };
    let said = words.map_or_else(|| status.code().to_string(), ToOwned::to_owned);
    cause.map_or_else(|| said.clone(), |cause| format!("{said}: {cause}"))
}

/// The error at the bottom of a chain: the layers above it only say "transport error".
fn innermost<'e>(error: &'e (dyn StdError + 'static)) -> &'e (dyn StdError + 'static) {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}
