//! The running server: binds the socket, owns every task, stops them all.

mod accept;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{net::TcpListener, runtime::Handle, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    faults::Faults,
    kubeconfig::kubeconfig,
    routes::App,
    stats::Stats,
    store::{PodDeletion, Settings, Store},
};

/// How many changes each resource keeps for watches and pages. At 5,000 binds a second a client may be
/// away for 6 seconds; in memory this is about 50 MB of pods of 1.5 KB, and they are shared with the
/// present objects.
const DEFAULT_HISTORY: usize = 32_768;

/// How often a watch is told the present revision, as kube-apiserver.
const DEFAULT_BOOKMARK_PERIOD: Duration = Duration::from_mins(1);

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port on 127.0.0.1, 0 for any free one.
    pub port: u16,
    /// How many changes each resource keeps; watches and lists of older states are refused with 410.
    pub history: usize,
    /// How often a watch that allows bookmarks gets one.
    pub bookmark_period: Duration,
    /// What becomes of a bound pod that is deleted.
    pub pod_deletion: PodDeletion,
    /// Namespaces that exist from the start, beside the four of every cluster.
    pub namespaces: Vec<String>,
    /// Fixes uids and generated names; absent, they differ from run to run.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            history: DEFAULT_HISTORY,
            bookmark_period: DEFAULT_BOOKMARK_PERIOD,
            pod_deletion: PodDeletion::default(),
            namespaces: Vec::new(),
            seed: None,
        }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken or not allowed.
    #[error("cannot listen on {address}")]
    Bind {
        /// The wanted address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// `start` was called outside a tokio runtime.
    #[error("an API server needs a tokio runtime to run on")]
    NoRuntime,
}

/// A running API server. It ends when it is shut down or dropped.
#[derive(Debug)]
pub struct ApiServer {
    address: SocketAddr,
    app: Arc<App>,
    tasks: JoinSet<()>,
}

impl ApiServer {
    /// Starts a server on the current tokio runtime.
    ///
    /// # Errors
    /// The port cannot be bound, or there is no runtime.
    pub fn start(options: Options) -> Result<Self, Error> {
        let runtime = Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let (listener, address) = listen(wanted).map_err(|source| Error::Bind {
            address: wanted,
            source,
        })?;
        let settings = Settings {
            history: options.history,
            seed: options.seed.unwrap_or_else(clock::seed),
            pod_deletion: options.pod_deletion,
            namespaces: options.namespaces,
        };
        let app = Arc::new(App {
            store: Store::new(&settings),
            faults: Faults::default(),
            stats: Stats::default(),
            bookmark_period: options.bookmark_period,
            stop: CancellationToken::new(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn_on(accept::accept(listener, Arc::clone(&app)), &runtime);
        tracing::info!(%address, "api server listens");
        Ok(Self {
            address,
            app,
            tasks,
        })
    }

    /// Gives the address that the server listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives a kubeconfig (YAML) of this server for any Kubernetes client.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(self.address)
    }

    /// Gives the objects, for the owner to read and write in process.
    pub fn store(&self) -> Store {
        self.app.store.clone()
    }

    /// Gives the faults.
    pub fn faults(&self) -> Faults {
        self.app.faults.clone()
    }

    /// Gives the counts of requests and writes.
    pub fn stats(&self) -> Stats {
        self.app.stats.clone()
    }

    /// Ends watches, finishes the requests under way, closes all connections, and waits for it.
    pub async fn shutdown(mut self) {
        self.app.stop.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "api server task ended badly");
            }
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.app.stop.cancel();
    }
}

fn listen(wanted: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = std::net::TcpListener::bind(wanted)?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
