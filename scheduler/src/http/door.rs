//! The door of the admin port: takes a listener, gives connections, so many at once and
//! each for so long. Clients that connect and say nothing, or ask and never read, must not
//! use up the process's descriptors (those for the API server are of the same stock), nor
//! keep the probes waiting: where all places are taken, the oldest connection goes.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

/// Connections at once: scrapers, probes, people.
const PLACES: usize = 256;
/// Time of a whole connection, idling between requests included: a page takes milliseconds.
const VISIT_WITHIN: Duration = Duration::from_secs(30);

/// Lets connections in.
pub(super) struct Door {
    listener: TcpListener,
    /// The connections that may still be open, oldest first; dropping one ends it.
    places: VecDeque<oneshot::Sender<()>>,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// One connection; it fails once its time is over, or its place is needed.
pub(super) struct Visit<S> {
    stream: S,
    time: Pin<Box<Sleep>>,
    place: oneshot::Receiver<()>,
}

// === impl Door ===

impl Door {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            places: VecDeque::new(),
        }
    }

    /// Takes a place; where there is none, that of the oldest connection.
    fn take_place(&mut self) -> oneshot::Receiver<()> {
        if self.places.len() >= PLACES {
            self.places.retain(|place| !place.is_closed());
        }
        if self.places.len() >= PLACES {
            self.places.pop_front();
        }
        let (keeps, place) = oneshot::channel();
        self.places.push_back(keeps);
        place
    }
}

impl Listener for Door {
    type Io = Visit<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Visit::new(stream, self.take_place()), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

// === impl Peer ===

impl Connected<IncomingStream<'_, Door>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        Self(*stream.remote_addr())
    }
}

// === impl Visit ===

impl<S> Visit<S> {
    fn new(stream: S, place: oneshot::Receiver<()>) -> Self {
        Self {
            stream,
            time: Box::pin(sleep(VISIT_WITHIN)),
            place,
        }
    }

    /// Fails once the time is over or the place is lost, and leaves the task registered for
    /// both.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.time.as_mut().poll(cx).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if Pin::new(&mut self.place).poll(cx).is_ready() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Visit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Visit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_or_reads_nothing_is_let_go_when_the_time_is_over() {
        let (_keeps, place) = oneshot::channel();
        let (_client, server) = duplex(16);
        let mut visit = Visit::new(server, place);
        let start = Instant::now();
        let silent = visit.read_u8().await.unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed(), VISIT_WITHIN);

        let (_keeps, place) = oneshot::channel();
        let (_client, server) = duplex(16);
        let mut visit = Visit::new(server, place);
        let start = Instant::now();
        let unread = visit.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(unread.kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed(), VISIT_WITHIN);
    }

    #[tokio::test]
    async fn where_all_places_are_taken_the_oldest_connection_goes_and_no_other() {
        let mut door = Door::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let mut places: Vec<_> = (0..PLACES).map(|_| door.take_place()).collect();
        // One has ended by itself: its place is taken first.
        drop(places.remove(7));
        places.push(door.take_place());
        assert!(places.iter_mut().all(is_kept));
        places.push(door.take_place());
        let gone = places.iter_mut().position(|place| !is_kept(place));
        assert_eq!(gone, Some(0));
        assert!(places[1..].iter_mut().all(is_kept));
    }

    fn is_kept(place: &mut oneshot::Receiver<()>) -> bool {
        matches!(place.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }
}
