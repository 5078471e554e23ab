//! Why an extender gave no answer.
//!
//! Takes an error of the HTTP client, tells apart what failed, and says it in the words of Go's
//! client where it has any: they end in events and conditions, where people search for them.

use std::error::Error;
use std::io;

use hyper_util::client::legacy;
use rustls::Error as TlsError;

use super::words::{io_words, tls_words};

/// How deep a chain of causes is followed: HTTP and TLS stacks nest a handful.
const CAUSES_MAX: usize = 16;

/// Why an extender gave no answer. `Display` is one whole line; causes are part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// The file has no path for that call.
    #[error("the extender is not asked to {verb}")]
    NotAsked {
        /// The call.
        verb: &'static str,
    },
    /// The URL is none. Nothing was sent.
    #[error("Post {url:?}: {cause}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// No connection. Nothing was sent.
    #[error("Post {url:?}: dial tcp{to}: {cause}")]
    Connect {
        /// The URL.
        url: String,
        /// A space and host and port, or nothing if the host has no address.
        to: String,
        /// What stands in the way.
        cause: String,
    },
    /// No TLS: one side does not believe the other. Nothing was read by the extender.
    #[error("Post {url:?}: {cause}")]
    Tls {
        /// The URL.
        url: String,
        /// Why not.
        cause: String,
    },
    /// No head of an answer within `httpTimeout`.
    #[error(
        "Post {url:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    )]
    NoHeaders {
        /// The URL.
        url: String,
    },
    /// No whole answer within `httpTimeout`.
    #[error(
        "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
    )]
    NoBody,
    /// Any status but 200.
    #[error("failed {path} with extender at URL {url}, code {code}")]
    Status {
        /// The path of the call.
        path: String,
        /// The URL.
        url: String,
        /// The status.
        code: u16,
    },
    /// The answer is larger than is read.
    #[error("the answer of the extender is larger than {limit} bytes")]
    TooLarge {
        /// The bound, [`ANSWER_MAX`](super::ANSWER_MAX).
        limit: usize,
    },
    /// The connection ended before the head of an answer. The extender may have acted.
    #[error("Post {url:?}: {cause}")]
    Closed {
        /// The URL.
        url: String,
        /// How it ended.
        cause: String,
    },
    /// The connection ended within the answer. The extender has most likely acted.
    #[error("{cause}")]
    CutShort {
        /// How it ended.
        cause: String,
    },
    /// The answer cannot be read, tells of an error, or says what it must not.
    #[error("{0}")]
    Unusable(String),
}

// === impl CallError ===

impl CallError {
    /// No head of an answer.
    pub(super) fn of_sending(url: &str, error: &legacy::Error) -> Self {
        let found = Causes::of(error);
        let url = url.to_owned();
        if let Some(cause) = found.tls {
            let cause = tls_words(cause);
            return Self::Tls { url, cause };
        }
        let cause = found.words();
        if !error.is_connect() {
            return Self::Closed { url, cause };
        }
        let authority = authority(&url);
        if found.no_address {
            let (to, host) = (String::new(), host(authority));
            let cause = format!("lookup {host}: no such host");
            return Self::Connect { url, to, cause };
        }
        if found.met_server {
            return Self::Tls { url, cause };
        }
        let to = format!(" {authority}");
        let cause = format!("connect: {cause}");
        Self::Connect { url, to, cause }
    }

    /// No whole body.
    pub(super) fn of_reading(error: &(dyn Error + 'static)) -> Self {
        let found = Causes::of(error);
        let cause = match found.io {
            Some(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => io_words(cause),
            _ => "unexpected EOF".to_owned(),
        };
        Self::CutShort { cause }
    }

    /// The name that series have for it.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::NotAsked { .. } | Self::Url { .. } => "invalid",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::NoHeaders { .. } | Self::NoBody => "timeout",
            Self::Status { .. } => "status",
            Self::TooLarge { .. } => "too_large",
            Self::Closed { .. } | Self::CutShort { .. } => "closed",
            Self::Unusable(_) => "unusable",
        }
    }
}

/// What is at the end of a chain of causes.
#[derive(Default)]
struct Causes<'e> {
    tls: Option<&'e TlsError>,
    io: Option<&'e io::Error>,
    no_address: bool,
    /// TCP was there, and then TLS failed without a word.
    met_server: bool,
}

impl<'e> Causes<'e> {
    fn of(error: &'e (dyn Error + 'static)) -> Self {
        let mut found = Self::default();
        let mut tcp_failed = false;
        let mut next = Some(error);
        for _ in 0..CAUSES_MAX {
            let Some(cause) = next else { break };
            if let Some(cause) = cause.downcast_ref() {
                found.tls = Some(cause);
            }
            if let Some(cause) = cause.downcast_ref() {
                found.io = Some(cause);
            }
            // The connector's own error has no public type, only these words.
            match cause.to_string().as_str() {
                "dns error" => (tcp_failed, found.no_address) = (true, true),
                "tcp connect error" => tcp_failed = true,
                _ => {}
            }
            next = inner(cause);
        }
        found.met_server = !tcp_failed;
        found
    }

    fn words(&self) -> String {
        match self.io {
            Some(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => io_words(cause),
            _ => "EOF".to_owned(),
        }
    }
}

/// The cause of an error: an `io::Error` hides the one that it wraps.
fn inner<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match wrapped {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// Host and port of a URL, as Go dials it.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// The host without its port.
fn host(authority: &str) -> &str {
    authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host)
}
