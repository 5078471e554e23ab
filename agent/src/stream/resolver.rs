//! From a scheduler's name to its addresses. The system's resolver, or one that a program
//! brings along.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::timeout;

/// Time for an answer: the system's resolver tries its servers for about as long.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

type Answer = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves host and port.
#[derive(Clone)]
pub struct Resolver {
    ask: Arc<dyn Fn(String, u16) -> Answer + Send + Sync>,
}

impl Resolver {
    /// The system's.
    pub fn system() -> Self {
        Self::new(
            |host, port| async move { Ok(lookup_host((host.as_str(), port)).await?.collect()) },
        )
    }

    /// One's own.
    pub fn new<F, A>(ask: F) -> Self
    where
        F: Fn(String, u16) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        Self {
            ask: Arc::new(move |host, port| Box::pin(ask(host, port))),
        }
    }

    /// Gives the addresses, in an order of the resolver's choice.
    ///
    /// # Errors
    /// The resolver's, or that it does not answer.
    pub(crate) async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let answer = timeout(ANSWER_WITHIN, (self.ask)(host.to_owned(), port)).await;
        answer.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no answer"))?
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Resolver").finish_non_exhaustive()
    }
}
