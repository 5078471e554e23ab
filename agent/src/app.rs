//! Builds the whole agent and runs it: sampler, one stream per scheduler, HTTP server and
//! signals. Takes options that cannot be wrong; gives the first error that ends it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::clock::Clock;
use crate::health::Health;
use crate::http::{self, Site};
use crate::metrics::Metrics;
use crate::report::{Identity, Reading};
use crate::stream::{Feed, Keepalive, Line, Resolver, Target, TlsOptions, keep, past};
use crate::tasks::{self, Tasks};
use crate::ticker::{Outlets, Ticker};
use crate::usage::Source;

/// Why the agent could not start or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The metrics address could not be bound.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Signals could not be awaited.
    #[error("cannot wait for signals")]
    Signal(#[source] io::Error),
    /// A task ended early.
    #[error(transparent)]
    Tasks(#[from] tasks::Error),
}

/// What a stream of one node is made of.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// Name of the node as the Node object has it.
    pub node_name: String,
    /// The schedulers, each with a stream of its own.
    pub schedulers: Vec<Target>,
    /// Time between two samples.
    pub period: Duration,
    /// By what `https` schedulers are known.
    pub tls: Option<TlsOptions>,
    /// When a silent connection is given up.
    pub keepalive: Keepalive,
    /// Who finds the addresses of the schedulers.
    pub resolver: Resolver,
}

impl StreamOptions {
    /// Streams of one node with the usual settings.
    pub fn new(node_name: impl Into<String>, schedulers: Vec<Target>, period: Duration) -> Self {
        Self {
            node_name: node_name.into(),
            schedulers,
            period,
            tls: None,
            keepalive: Keepalive::default(),
            resolver: Resolver::system(),
        }
    }
}

/// What the process is made of.
#[derive(Debug, Clone)]
pub struct Options {
    /// The streams.
    pub stream: StreamOptions,
    /// Address of `/metrics` and `/healthz`.
    pub listen: SocketAddr,
}

/// Runs the agent as a process: until SIGTERM or SIGINT, or until a part of it dies.
///
/// # Errors
/// See [`Error`].
pub async fn run(source: impl Source, options: Options) -> Result<(), Error> {
    let address = options.listen;
    let bind = |source| Error::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(bind)?;
    let listen = listener.local_addr().map_err(bind)?;
    let signals = Signals::new().map_err(Error::Signal)?;
    let node = &*options.stream.node_name;
    info!(node, %listen, version = env!("CARGO_PKG_VERSION"), "agent is up");

    let shutdown = CancellationToken::new();
    let mut tasks = Tasks::new(shutdown.clone());
    let agent = Agent::new(&options.stream);
    let site = Arc::new(agent.site());
    agent.start(source, options.stream, &mut tasks);

    let stop = tasks.stop_signal();
    tasks.spawn("http", async move {
        http::serve(listener, site, stop).await;
        Ok(())
    });
    let stop = tasks.stop_signal();
    tasks.spawn("signals", async move {
        let name = stop.run_until_cancelled(signals.wait()).await;
        info!(signal = name, "agent stops");
        shutdown.cancel();
        Ok(())
    });
    Ok(tasks.run().await?)
}

/// Runs only the sampler and the streams of one node until `shutdown`: for programs that
/// hold many nodes at once. Each node has connections of its own.
///
/// # Errors
/// The part that ended before `shutdown`.
pub async fn run_with(
    source: impl Source,
    options: StreamOptions,
    shutdown: CancellationToken,
) -> Result<(), tasks::Error> {
    let mut tasks = Tasks::new(shutdown.child_token());
    Agent::new(&options).start(source, options, &mut tasks);
    tasks.run().await
}

/// What the tasks of one node share.
struct Agent {
    clock: Clock,
    metrics: Metrics,
    health: Health,
    readings: watch::Sender<Option<Arc<Reading>>>,
}

impl Agent {
    fn new(options: &StreamOptions) -> Self {
        Self {
            clock: Clock::start(),
            metrics: Metrics::new(),
            health: Health::new(options.period),
            readings: watch::Sender::new(None),
        }
    }

    fn feed(&self) -> Feed {
        self.readings.subscribe()
    }

    fn site(&self) -> Site {
        Site {
            registry: self.metrics.registry(self.feed()),
            health: self.health.clone(),
            feed: self.feed(),
            clock: self.clock,
        }
    }

    fn start(self, source: impl Source, options: StreamOptions, tasks: &mut Tasks) {
        let machine = watch::Sender::new(source.machine());
        let moments = past::empty();
        let period = watch::Sender::new(options.period);
        let line = Line {
            identity: Identity {
                node_name: options.node_name,
                start_id: fastrand::u64(..),
                period: options.period,
            },
            machine: machine.subscribe(),
            period: period.subscribe(),
            feed: self.feed(),
            past: moments.subscribe(),
            tls: options.tls,
            keepalive: options.keepalive,
            resolver: options.resolver,
            clock: self.clock,
            metrics: self.metrics.clone(),
        };
        for target in options.schedulers {
            let stop = tasks.stop_signal();
            let stream = keep(target, line.clone(), stop);
            tasks.spawn("stream", async move {
                stream.await;
                Ok(())
            });
        }
        let recording = past::record(self.feed(), moments, tasks.stop_signal());
        tasks.spawn("history", async move {
            recording.await;
            Ok(())
        });
        let outlets = Outlets {
            readings: self.readings,
            machine,
            period,
            metrics: self.metrics,
            health: self.health,
        };
        let ticker = Ticker::new(source, options.period, self.clock, outlets);
        let stop = tasks.stop_signal();
        tasks.spawn("sampler", async move {
            ticker.run(stop).await;
            Ok(())
        });
    }
}

/// The signals that end the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn wait(mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
