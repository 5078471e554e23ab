//! One accepted connection: the socket, its place under the limit, and two reasons to end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;

use super::Connection;

/// Time until a connection names its node; nobody else has any business here.
const HELLO_WITHIN: Duration = Duration::from_secs(15);

/// A connection that the gRPC server reads and writes.
#[derive(Debug)]
pub(crate) struct Link {
    stream: TcpStream,
    connection: Connection,
    /// Runs until the connection must have named its node.
    patience: Option<Pin<Box<Sleep>>>,
    /// Ready when the grace period of the server is over.
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: OwnedSemaphorePermit,
    open: Gauge,
}

impl Link {
    pub(super) fn new(
        stream: TcpStream,
        place: OwnedSemaphorePermit,
        cut: CancellationToken,
        open: Gauge,
    ) -> Self {
        open.inc();
        Self {
            stream,
            connection: Connection::default(),
            patience: Some(Box::pin(sleep(HELLO_WITHIN))),
            cut: Box::pin(cut.cancelled_owned()),
            _place: place,
            open,
        }
    }

    /// Says whether the connection may go on, and leaves the task registered for the end.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.cut.as_mut().poll(cx).is_ready() {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "server has ended",
            ));
        }
        if self.connection.has_spoken() {
            self.patience = None;
        }
        if self
            .patience
            .as_mut()
            .is_some_and(|patience| patience.as_mut().poll(cx).is_ready())
        {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "no node was named in time",
            ));
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Connected for Link {
    type ConnectInfo = Connection;

    fn connect_info(&self) -> Connection {
        self.connection.clone()
    }
}

impl AsyncRead for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
