//! Connections with or without TLS, as the gRPC server takes them. A handshake runs in a task
//! of its own, so that a slow one holds nobody up; so many at a time, each for so long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tonic::transport::server::Connected;
use tracing::{debug, error};

use super::Connection;
use super::accept::Accept;
use super::link::Link;
use crate::metrics::{Handshake, Metrics};

/// Time for a handshake; an honest one takes two round trips.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);
/// Handshakes at a time: at some 0.3 ms of CPU each, all of them are a tenth of a second.
/// Further connections wait in the listener's queue.
const MAX_HANDSHAKES: usize = 256;

/// One connection of an agent.
#[derive(Debug)]
pub(crate) enum Line {
    /// Without TLS.
    Plain(Link),
    /// With TLS.
    Secure(Box<TlsStream<Link>>),
}

/// The connections of a listener, each after its handshake.
#[derive(Debug)]
pub(crate) struct Lines {
    accept: Accept,
    /// What the next handshake uses; none without TLS.
    tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    handshakes: JoinSet<Result<Line, Handshake>>,
    metrics: Metrics,
}

impl Lines {
    pub(crate) fn new(
        accept: Accept,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        metrics: Metrics,
    ) -> Self {
        Self {
            accept,
            tls,
            handshakes: JoinSet::new(),
            metrics,
        }
    }

    /// Gives a connection whose handshake ended well.
    fn poll_shaken(&mut self, cx: &mut Context<'_>) -> Option<Line> {
        while let Poll::Ready(Some(ended)) = self.handshakes.poll_join_next(cx) {
            match ended {
                Ok(Ok(line)) => {
                    self.metrics.count_handshake(Handshake::Ok);
                    return Some(line);
                }
                Ok(Err(outcome)) => self.metrics.count_handshake(outcome),
                Err(problem) => {
                    error!(%problem, "handshake broke");
                    self.metrics.count_handshake(Handshake::Failed);
                }
            }
        }
        None
    }
}

impl Stream for Lines {
    type Item = io::Result<Line>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(line) = self.poll_shaken(cx) {
                return Poll::Ready(Some(Ok(line)));
            }
            if self.handshakes.len() >= MAX_HANDSHAKES {
                return Poll::Pending;
            }
            let link = match ready!(Pin::new(&mut self.accept).poll_next(cx)) {
                Some(Ok(link)) => link,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            let Some(tls) = &self.tls else {
                return Poll::Ready(Some(Ok(Line::Plain(link))));
            };
            let config = Arc::clone(&tls.borrow());
            self.handshakes.spawn(shake(link, config));
        }
    }
}

async fn shake(link: Link, config: Arc<ServerConfig>) -> Result<Line, Handshake> {
    let accepted = timeout(HANDSHAKE_WITHIN, TlsAcceptor::from(config).accept(link)).await;
    match accepted {
        Ok(Ok(stream)) => Ok(Line::Secure(Box::new(stream))),
        Ok(Err(error)) => {
            debug!(%error, "handshake failed");
            Err(Handshake::Failed)
        }
        Err(_) => {
            debug!("handshake took too long");
            Err(Handshake::Timeout)
        }
    }
}

impl Connected for Line {
    type ConnectInfo = Connection;

    fn connect_info(&self) -> Connection {
        match self {
            Self::Plain(link) => link.connect_info(),
            Self::Secure(stream) => stream.get_ref().0.connect_info(),
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(link) => Pin::new(link).poll_read(cx, buffer),
            Self::Secure(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(link) => Pin::new(link).poll_write(cx, bytes),
            Self::Secure(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(link) => Pin::new(link).poll_write_vectored(cx, slices),
            Self::Secure(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(link) => link.is_write_vectored(),
            Self::Secure(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(link) => Pin::new(link).poll_flush(cx),
            Self::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(link) => Pin::new(link).poll_shutdown(cx),
            Self::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
