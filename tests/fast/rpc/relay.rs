//! A TCP relay on the loopback that can stop forwarding without closing anything, as a network
//! that drops packets does, and can break everything, as a process that is killed does.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(super) struct Relay {
    address: SocketAddr,
    frozen: watch::Sender<bool>,
    accepted: Arc<Mutex<Vec<Instant>>>,
    running: JoinSet<()>,
}

impl Relay {
    /// Forwards what comes to `at` to `target` and back.
    pub(super) async fn between(at: SocketAddr, target: SocketAddr) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let (frozen, accepted) = (watch::Sender::new(false), Arc::default());
        let mut running = JoinSet::new();
        running.spawn(forward_all(
            listener,
            target,
            frozen.subscribe(),
            Arc::clone(&accepted),
        ));
        Self {
            address: at,
            frozen,
            accepted,
            running,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections so far.
    pub(super) fn accepted(&self) -> usize {
        self.accepted.lock().len()
    }

    /// When each of them came.
    pub(super) fn accepted_at(&self) -> Vec<Instant> {
        self.accepted.lock().clone()
    }

    /// From now on nothing passes.
    pub(super) fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    /// Connections that were there go on; those that came meanwhile never were.
    pub(super) fn thaw(&self) {
        self.frozen.send_replace(false);
    }

    /// Breaks all connections and frees the port.
    pub(super) async fn cut(mut self) {
        self.running.shutdown().await;
    }
}

async fn forward_all(
    listener: TcpListener,
    target: SocketAddr,
    frozen: watch::Receiver<bool>,
    accepted: Arc<Mutex<Vec<Instant>>>,
) {
    let mut pairs = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        accepted.lock().push(Instant::now());
        let mut frozen = frozen.clone();
        pairs.spawn(async move {
            if *frozen.borrow() {
                // A packet that was dropped: silence, and nothing after it.
                drop(frozen.wait_for(|frozen| !frozen).await);
                return;
            }
            let server = TcpStream::connect(target).await.unwrap();
            client.set_nodelay(true).unwrap();
            server.set_nodelay(true).unwrap();
            let (client, server) = (client.into_split(), server.into_split());
            tokio::join!(
                forward(client.0, server.1, frozen.clone()),
                forward(server.0, client.1, frozen)
            );
        });
        while pairs.try_join_next().is_some() {}
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut frozen: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut bytes).await.unwrap_or(0);
        if frozen.wait_for(|frozen| !frozen).await.is_err() {
            return;
        }
        if read == 0 || to.write_all(&bytes[..read]).await.is_err() {
            // The other side is told, as a FIN that gets through would.
            drop(to.shutdown().await);
            return;
        }
    }
}
