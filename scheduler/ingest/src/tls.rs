//! TLS of the telemetry port. Takes the paths of a certificate chain and its key; gives what
//! a handshake needs, and keeps it as new as the files are.
//!
//! Kubernetes replaces a mounted Secret by swapping a symbolic link, so the files are read
//! again and compared by content. A pair that cannot be used is logged and counted, and the
//! old one goes on.

mod pair;
mod reload;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::sync::watch;

pub use pair::Error;
use pair::{Content, Pair};
pub(crate) use reload::keep_new;

/// Paths of a certificate chain and its key, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The leaf's private key.
    pub key: PathBuf,
}

/// How agents get in.
#[derive(Debug)]
pub enum Door {
    /// Without TLS: for tests and demonstrations.
    Plaintext,
    /// Over TLS 1.3; the agents know the scheduler by this certificate.
    Tls(Certificate),
}

/// A certificate with its key, fit to be served.
#[derive(Debug)]
pub struct Certificate {
    files: Files,
    content: Content,
    not_after: Option<Duration>,
    config: watch::Sender<Arc<ServerConfig>>,
}

impl Certificate {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn load(files: Files) -> Result<Self, Error> {
        let content = Content::read(&files)?;
        let Pair { config, not_after } = Pair::parse(&content, &files)?;
        Ok(Self {
            files,
            content,
            not_after,
            config: watch::Sender::new(config),
        })
    }

    /// When it expires, since the Unix epoch; `None` if that cannot be read from it.
    pub fn not_after(&self) -> Option<Duration> {
        self.not_after
    }

    /// What the next handshake uses.
    pub(crate) fn configs(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.config.subscribe()
    }

    /// Reads the files again; says whether there was something new in them.
    ///
    /// # Errors
    /// The new content cannot be served; the old one is kept, and the same fault is not
    /// reported twice.
    fn take(&mut self, read: Result<Content, Error>) -> Result<bool, Error> {
        let content = read?;
        if content == self.content {
            return Ok(false);
        }
        let parsed = Pair::parse(&content, &self.files);
        self.content = content;
        let Pair { config, not_after } = parsed?;
        self.not_after = not_after;
        self.config.send_replace(config);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
