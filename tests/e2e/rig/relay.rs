//! A TCP relay between two programs that can fall silent, as a network does whose packets are
//! dropped: nobody is told.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;

/// A relay that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Odd while nothing passes. A connection passes only in the epoch that it began in: one
    /// that was silent once stays so, as after a lost state of a firewall.
    epoch: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
}

// === impl Relay ===

impl Relay {
    /// A relay to `target` on a port of its own.
    pub(crate) fn start(target: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let given = Arc::clone(&shared);
        thread::spawn(move || {
            for inner in listener.incoming().flatten() {
                // Only the relay's owner holds the other half.
                if Arc::strong_count(&given) == 1 {
                    return;
                }
                // A target that is away refuses, and so does the relay.
                drop(given.join(inner, target));
            }
        });
        Ok(Self { address, shared })
    }

    /// Where to connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on nothing passes, and no connection is closed.
    pub(crate) fn cut(&self) {
        let before = self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        assert!(before.is_multiple_of(2), "it is cut already");
    }

    /// New connections pass again; those of before stay silent for ever.
    pub(crate) fn heal(&self) {
        let before = self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        assert!(!before.is_multiple_of(2), "it is not cut");
    }

    /// Closes all connections.
    pub(crate) fn sever(&self) {
        for stream in self.shared.open.lock().drain(..) {
            // It may have been closed by an end.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.sever();
        self.shared = Arc::default();
        // Wakes the listener, which then sees that it is alone.
        drop(TcpStream::connect(self.address));
    }
}

// === impl Shared ===

impl Shared {
    fn join(self: &Arc<Self>, inner: TcpStream, target: SocketAddr) -> std::io::Result<()> {
        let outer = TcpStream::connect(target)?;
        let epoch = self.epoch.load(Ordering::SeqCst);
        let pairs = [
            (inner.try_clone()?, outer.try_clone()?),
            (outer.try_clone()?, inner.try_clone()?),
        ];
        self.open.lock().extend([inner, outer]);
        for (from, to) in pairs {
            let shared = Arc::downgrade(self);
            let passes = move || {
                let now = shared.upgrade().map(|it| it.epoch.load(Ordering::SeqCst));
                now == Some(epoch) && epoch.is_multiple_of(2)
            };
            thread::spawn(move || copy(from, to, passes));
        }
        Ok(())
    }
}

/// Copies until an end closes, and tells the other end, if it may speak to it.
fn copy(mut from: TcpStream, mut to: TcpStream, passes: impl Fn() -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let passed = &buffer[..count];
        if passes() && to.write_all(passed).is_err() {
            break;
        }
    }
    if passes() {
        drop(to.shutdown(Shutdown::Both));
    }
}
