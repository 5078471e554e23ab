//! Agents over sources that stand still, and a telemetry server whose samples are taken as the
//! engine takes them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_agent::app::{StreamOptions, run_with};
use plimsoll_agent::tasks;
use plimsoll_ingest::tls::Door;
use plimsoll_ingest::{Error, Ingest, serve};
use plimsoll_tests::flow::Steady;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::PERIOD;

/// The engine had run for this long: no age is cut off at its start.
const UPTIME: Duration = Duration::from_hours(1);

/// An address of the loopback where nobody listens.
pub(super) async fn free_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

/// Agents that run until they are dropped.
#[derive(Default)]
pub(super) struct Agents {
    running: JoinSet<Result<(), tasks::Error>>,
}

impl Agents {
    pub(super) fn start(&mut self, node: &str, scheduler: SocketAddr) {
        let target = format!("http://{scheduler}").parse().unwrap();
        self.start_with(StreamOptions::new(node, vec![target], PERIOD));
    }

    pub(super) fn start_with(&mut self, options: StreamOptions) {
        let machine = Steady::new(8, 1000.0);
        self.running
            .spawn(run_with(machine, options, CancellationToken::new()));
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }
}

/// A telemetry server.
pub(super) struct Server {
    ingest: Arc<Ingest>,
    registry: Registry,
    address: SocketAddr,
    origin: Instant,
    stop: CancellationToken,
    running: JoinSet<Result<(), Error>>,
    /// When the newest sample of each node was taken, on the engine's clock.
    newest: BTreeMap<Arc<str>, Duration>,
    /// Age of every sample at its arrival.
    ages: Vec<Duration>,
}

impl Server {
    pub(super) async fn start() -> Self {
        Self::behind(Door::Plaintext).await
    }

    pub(super) async fn behind(door: Door) -> Self {
        let ingest = Arc::new(Ingest::new());
        let mut registry = Registry::default();
        ingest.register(&mut registry);
        let mut server = Self {
            ingest,
            registry,
            address: free_port().await,
            origin: Instant::now(),
            stop: CancellationToken::new(),
            running: JoinSet::new(),
            newest: BTreeMap::new(),
            ages: Vec::new(),
        };
        server.serve(door).await;
        server
    }

    async fn serve(&mut self, door: Door) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        let origin = self.origin;
        let clock = move || UPTIME + origin.elapsed();
        let ingest = Arc::clone(&self.ingest);
        self.stop = CancellationToken::new();
        self.running
            .spawn(serve(listener, ingest, door, clock, self.stop.clone()));
    }

    /// Ends in good order, and begins again.
    pub(super) async fn restart(&mut self) {
        self.stop.cancel();
        self.running.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(self.streams(), 0);
        self.serve(Door::Plaintext).await;
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes samples for so long.
    pub(super) async fn listen_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while timeout_at(until, self.ingest.changed()).await.is_ok() {
            for sample in self.ingest.drain() {
                self.ages.push(sample.age);
                let taken_at = sample.taken_at();
                self.newest.insert(sample.node, taken_at);
            }
        }
    }

    /// Takes samples until there are so many streams.
    pub(super) async fn until_streams(&mut self, wanted: usize) {
        let start = Instant::now();
        while self.streams() != wanted {
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "{} streams",
                self.streams()
            );
            self.listen_for(Duration::from_millis(100)).await;
        }
    }

    /// Age of a node's newest sample at this moment.
    pub(super) fn newest_age(&self, node: &str) -> Duration {
        let taken_at = self.newest.get(node).unwrap();
        (UPTIME + self.origin.elapsed()).saturating_sub(*taken_at)
    }

    pub(super) fn nodes_heard(&self) -> usize {
        self.newest.len()
    }

    /// Samples so far.
    pub(super) fn taken(&self) -> usize {
        self.ages.len()
    }

    /// Age at arrival of the oldest sample after so many.
    pub(super) fn oldest_since(&self, taken: usize) -> Duration {
        self.ages[taken..].iter().copied().max().unwrap_or_default()
    }

    pub(super) fn series(&self, name: &str) -> f64 {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().unwrap())
    }

    pub(super) fn streams(&self) -> usize {
        self.series("plimsoll_ingest_streams") as usize
    }

    pub(super) fn connections(&self) -> usize {
        self.series("plimsoll_ingest_connections") as usize
    }

    pub(super) fn history(&self, node: &str) -> Vec<plimsoll_ingest::HistoryPoint> {
        self.ingest.history(node, UPTIME + self.origin.elapsed())
    }
}
