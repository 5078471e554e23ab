//! Builds everything, binds sockets eagerly, then runs every task until told to stop.
//!
//! Takes [`AppOptions`] (made from flags and files, or by an embedder), gives a process.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use plimsoll_cluster::{ClientOptions, Cluster, Ends, LeaseOptions, Running};
use plimsoll_config::SchedulerConfig;
use plimsoll_config::plimsoll::PlimsollConfig;
use plimsoll_core::{Command, Engine, EngineOptions, Event, Stopwatch};
use plimsoll_ingest::Ingest;
use prometheus_client::registry::Registry as Series;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::clock::{self, Clock};
use crate::debugger::Debugger;
use crate::decisions::Decisions;
use crate::door::door;
use crate::drive::{Driver, Mode, SlowCycles};
use crate::http::{self, Admin};
use crate::inspect::Inspector;
use crate::lease::lease;
use crate::metrics::Metrics;
use crate::tasks::Tasks;

/// Events on their way to the engine: a list of 500 objects is one event, so this holds
/// some seconds of a busy cluster; beyond it the watches wait, and lose nothing.
const EVENTS: usize = 1024;
/// Commands on their way to the cluster: a cycle gives at most a few, and the engine itself
/// bounds what is unanswered.
const COMMANDS: usize = 1024;

/// What the scheduler is made of.
#[derive(Debug, Clone)]
pub struct AppOptions {
    /// Where the API server is.
    pub access: ClientOptions,
    /// The profiles.
    pub scheduler: SchedulerConfig,
    /// Plimsoll's own settings.
    pub plimsoll: PlimsollConfig,
    /// Accept agents without TLS; without it the telemetry port stays closed.
    pub insecure_plaintext: bool,
    /// Judge load from the start; it can be switched while the scheduler runs.
    pub load_on: bool,
    /// Series of each node's load among the metrics.
    pub node_load_metrics: bool,
    /// Name of this replica in events.
    pub instance: String,
}

/// A scheduler that is built and has its sockets, and does nothing yet.
#[derive(Debug)]
pub struct App {
    tasks: Tasks,
    telemetry: Option<SocketAddr>,
    admin: SocketAddr,
    decisions: Decisions,
    inspector: Inspector,
}

// === impl App ===

impl App {
    /// Builds the scheduler. It ends once `stop` is cancelled.
    ///
    /// # Errors
    /// A profile cannot be built, a port is taken, or there is no way to the API server.
    pub async fn build(options: AppOptions, stop: CancellationToken) -> anyhow::Result<Self> {
        tell_what_is_missing(&options.scheduler);
        let lease = lease(&options.scheduler, &options.instance)?;
        let engine = engine(&options, lease.is_none())?;
        let mut tasks = Tasks::new(stop);
        let mut series = Series::default();
        let clock = Clock::start();
        let ingest = Arc::new(Ingest::new());
        ingest.register(&mut series);

        let telemetry = telemetry(&options, &ingest, clock, &mut tasks).await?;
        let (events, from_cluster) = mpsc::channel::<Event>(EVENTS);
        let (commands, to_cluster) = mpsc::channel::<Command>(COMMANDS);
        let ends = Ends {
            events,
            commands: to_cluster,
            decided: Box::new(|_| {}),
        };
        let edge = cluster(&options, lease, ends, &mut series, &mut tasks).await?;

        let decisions = Decisions::default();
        let (inspector, questions) = Inspector::new();
        let driver = Driver {
            engine,
            clock,
            leadership: edge.leadership.clone(),
            leads: false,
            events: from_cluster,
            ingest: Arc::clone(&ingest),
            commands,
            decisions: decisions.clone(),
            metrics: Metrics::new(&mut series, options.node_load_metrics),
            questions,
            mode: Mode::default(),
            slow: SlowCycles::default(),
        };
        let stop = tasks.stop_signal();
        tasks.spawn_thread("engine", move || driver.run(stop));

        let listener = listen("admin", options.plimsoll.admin_listen).await?;
        let admin = listener
            .local_addr()
            .context("the admin port has no address")?;
        let debugger = Debugger {
            inspector: inspector.clone(),
            inventory: edge.inventory,
        };
        let stop = tasks.stop_signal();
        tasks.spawn("debugger", debugger.clone().run(Debugger::signal()?, stop));
        let pages = Admin {
            configz: Arc::new(plimsoll_config::configz(&options.scheduler)),
            debugger,
            ready: edge.ready,
            leadership: edge.leadership,
            registry: Arc::new(series),
            inspector: inspector.clone(),
            ingest,
            clock,
            load_enabled: options.plimsoll.load_enabled,
        };
        let stop = tasks.stop_signal();
        tasks.spawn("admin", http::serve(listener, pages, stop));
        Ok(Self {
            tasks,
            telemetry,
            admin,
            decisions,
            inspector,
        })
    }

    /// Where agents connect; `None` if the port is closed.
    pub fn telemetry_address(&self) -> Option<SocketAddr> {
        self.telemetry
    }

    /// Where health and metrics are.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin
    }

    /// A view of the newest decisions.
    pub fn decisions(&self) -> Decisions {
        self.decisions.clone()
    }

    /// Asks the running engine.
    pub fn inspector(&self) -> Inspector {
        self.inspector.clone()
    }

    /// Runs until the stop signal.
    ///
    /// # Errors
    /// A task ended before the signal, or failed.
    pub async fn run(self) -> anyhow::Result<()> {
        let telemetry = self
            .telemetry
            .map_or_else(|| "closed".to_owned(), |address| address.to_string());
        info!(admin = %self.admin, telemetry, "scheduler runs");
        self.tasks.run().await
    }
}

fn engine(options: &AppOptions, leads: bool) -> anyhow::Result<Engine> {
    let defaults = EngineOptions::default();
    let binding = options.plimsoll.binding;
    let settings = EngineOptions {
        seed: options.plimsoll.seed.unwrap_or(defaults.seed),
        min_binds_in_flight: usize::from(binding.min_in_flight),
        max_binds_in_flight: usize::from(binding.max_in_flight),
        load_on: options.plimsoll.load_enabled && options.load_on,
        link_speeds: Arc::new(options.plimsoll.link_speeds.clone()),
        stopwatch: Some(Stopwatch(clock::stopwatch)),
        leads,
        ..defaults
    };
    Engine::new(&options.scheduler, settings).context("the profiles cannot be built")
}

async fn telemetry(
    options: &AppOptions,
    ingest: &Arc<Ingest>,
    clock: Clock,
    tasks: &mut Tasks,
) -> anyhow::Result<Option<SocketAddr>> {
    if !options.plimsoll.load_enabled {
        info!("load is switched off: the telemetry port stays closed");
        return Ok(None);
    }
    let tls = options.plimsoll.telemetry_tls.clone();
    let Some(door) = door(tls, options.insecure_plaintext)? else {
        return Ok(None);
    };
    let listener = listen("telemetry", options.plimsoll.telemetry_listen).await?;
    let address = listener
        .local_addr()
        .context("the telemetry port has no address")?;
    let (ingest, stop) = (Arc::clone(ingest), tasks.stop_signal());
    tasks.spawn("telemetry", async move {
        plimsoll_ingest::serve(listener, ingest, door, move || clock.mono(), stop).await?;
        Ok(())
    });
    Ok(Some(address))
}

/// Starts the edge to the cluster; its tasks are taken out of what is given.
async fn cluster(
    options: &AppOptions,
    lease: Option<LeaseOptions>,
    ends: Ends,
    series: &mut Series,
    tasks: &mut Tasks,
) -> anyhow::Result<Running> {
    let metrics = plimsoll_cluster::Metrics::default();
    metrics.register(series);
    let lane = usize::from(options.plimsoll.binding.max_in_flight);
    let settings = plimsoll_cluster::Options {
        binding_lane: lane,
        extenders: options.scheduler.extenders.clone(),
        election: lease,
        ..plimsoll_cluster::Options::new(options.access.clone(), options.instance.clone())
    };
    let mut running = Cluster::start(settings, ends, metrics, tasks.stop_signal()).await?;
    for part in running.tasks.drain(..) {
        let run = part.run;
        tasks.spawn(part.name, async move { Ok(run.await?) });
    }
    Ok(running)
}

async fn listen(what: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("the {what} port {address} cannot be opened"))
}

/// Says what the configuration asks for and this version cannot do.
fn tell_what_is_missing(config: &SchedulerConfig) {
    if !config.missing_defaults.is_empty() {
        warn!(
            plugins = config.missing_defaults.join(", "),
            "default plugins of kube-scheduler that this version does not have yet: pods that \
             need their verdicts must not be given to it"
        );
    }
    if config.leader_election.leader_elect && config.delay_cache_until_active {
        warn!("delayCacheUntilActive: this version always watches before it leads");
    }
    for warning in &config.warnings {
        warn!(path = %warning.path, text = warning.text, "configuration");
    }
}
