//! All tasks of this crate, put together.
//!
//! Takes the options and the ends of the channels to the engine, gives the tasks as
//! futures, each with a name: the caller runs them, and decides what it means when one ends.

use std::pin::Pin;
use std::sync::Arc;

use plimsoll_config::Extender;
use plimsoll_core::{Command, Decision, Event};
use plimsoll_objects::ObjectKind;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::call::Api;
use crate::carry::{Carrier, Ports, Writer};
use crate::client::{Clients, ConnectError};
use crate::consult::{ASKS_MAX, Consultant, Keeps, Originals};
use crate::extender::Client;
use crate::inventory::Inventory;
use crate::kind::{Nodes, Others, Pods};
use crate::lease::{Candidate, Leadership};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pending::Pending;
use crate::ready::Ready;
use crate::record::{Recorder, Scribe};
use crate::refused::departures;
use crate::watch::{Watch, partners};

/// Takes each decision as it is made. Called by the task that takes the engine's commands:
/// it must be quick and must not block.
pub type DecisionSink = Box<dyn FnMut(Box<Decision>) + Send>;

/// The ends of the channels between this crate and the engine.
pub struct Ends {
    /// Takes what happened in the cluster and the outcomes of commands.
    pub events: Sender<Event>,
    /// Gives the engine's commands. Dropping its other end is how the engine says that it
    /// has ended: what was commanded before is still carried out.
    pub commands: Receiver<Command>,
    /// Takes the decisions.
    pub decided: DecisionSink,
}

/// One task: to be run by the caller, on a tokio runtime.
pub struct Task {
    /// Name for logs.
    pub name: &'static str,
    /// Ends with `Ok` after the stop signal; with an error, or before the signal, the
    /// scheduler is of no use any more.
    pub run: Pin<Box<dyn Future<Output = Result<(), TaskError>> + Send>>,
}

/// Why a task ended before it was told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The engine's end of the events is dropped.
    #[error("the engine takes no more events")]
    EngineGone,
    /// Another replica leads, or may: the process is to end at once.
    #[error("the lease is lost")]
    LeaseLost,
}

/// What [`Cluster::start`] gives.
pub struct Running {
    /// Whether the engine has been told of the whole cluster once.
    pub ready: Ready,
    /// Lists what the API server has, for people.
    pub inventory: Inventory,
    /// Whether this replica leads.
    pub leadership: Leadership,
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// The cluster, as far as a scheduler has to do with it.
#[derive(Debug)]
pub struct Cluster;

// === impl Cluster ===

impl Cluster {
    /// Prepares the clients and all tasks. Nothing is sent before the tasks are run. To be
    /// called inside a tokio runtime.
    ///
    /// On `shutdown` the watches end at once. Commands are taken until the engine drops its
    /// end, and carried out until [`Options::grace`] is over; then the lease is handed over;
    /// events for people end last.
    ///
    /// # Errors
    /// The options lead to no server, or to credentials that cannot be used.
    pub async fn start(
        options: Options,
        ends: Ends,
        metrics: Metrics,
        shutdown: CancellationToken,
    ) -> Result<Running, ConnectError> {
        let clients = Clients::prepare(&options.client).await?;
        metrics.rest().set_host(&clients.host);
        let consulted = consulted(&options.extenders, &metrics)?;
        Ok(assemble(
            &options,
            (clients, consulted),
            ends,
            &metrics,
            &shutdown,
        ))
    }
}

/// A client for each extender.
fn consulted(
    extenders: &[Extender],
    metrics: &Metrics,
) -> Result<Vec<(Extender, Client)>, ConnectError> {
    let client = |(index, extender): (usize, &Extender)| {
        let client = Client::new(extender, metrics);
        let client = client.map_err(|source| ConnectError::Extender { index, source })?;
        Ok((extender.clone(), client))
    };
    extenders.iter().enumerate().map(client).collect()
}

fn assemble(
    options: &Options,
    (clients, consulted): (Clients, Vec<(Extender, Client)>),
    ends: Ends,
    metrics: &Metrics,
    shutdown: &CancellationToken,
) -> Running {
    let ready = Ready::default();
    let pending = Arc::<Pending>::default();
    let watches = Api::new(clients.watches, metrics.clone());
    let writes = Api::new(clients.writes, metrics.clone());
    let inventory = Inventory::new(writes.clone());
    let (carried, answered) = (CancellationToken::new(), CancellationToken::new());
    let acting = [carried.clone(), answered.clone()];
    let (leadership, election) = election(options, &writes, shutdown, acting);
    let Ends {
        events,
        commands,
        decided,
    } = ends;

    let (departures, inquest) = departures(writes.clone());
    let originals = Arc::new(Originals::new(Keeps::of(&options.extenders)));
    let pods = Pods::new(Arc::clone(&pending), departures, Arc::clone(&originals));
    let (leads, follows) = partners();
    let nodes = Watch::new(
        Nodes::new(Arc::clone(&originals)),
        watches.clone(),
        events.clone(),
        ready.clone(),
        leads,
    );
    let others = others(&watches, &events, &ready, shutdown);
    let pods = Watch::new(pods, watches, events.clone(), ready.clone(), follows);

    let recorder = Recorder::new(options.instance.clone(), metrics.clone());
    let (busy, yields_to) = watch::channel(false);
    let scribe = Scribe::new(
        recorder.clone(),
        writes.clone(),
        options.events_per_second,
        yields_to,
    );
    let (asks, asked) = channel(ASKS_MAX);
    let consultant = Consultant::new(consulted, originals, asked, events.clone());
    let consultant = consultant.while_leading(leadership.clone(), answered.drop_guard());
    let ports = Ports {
        commands,
        asks,
        events,
        decided,
        recorder,
    };
    let lanes = (options.binding_lane, options.status_lane);
    let api = writes.while_leading(leadership.clone());
    let carrier = Carrier::new(Writer { api, pending }, ports, lanes, busy);
    let done = carried.clone().drop_guard();
    let commands = carrier.run(shutdown.clone(), options.grace, done);
    let mut tasks = vec![
        Task::new("watch nodes", nodes.run(shutdown.clone())),
        Task::new("watch pods", pods.run(shutdown.clone())),
        Task::new("refused pods", inquest.run(shutdown.clone())),
        Task::new("commands", commands),
        // Events follow the commands that caused them, so their writer ends after the carrier.
        Task::new("events", scribe.run(carried)),
        Task::new("extenders", consultant.run(shutdown.clone(), options.grace)),
    ];
    tasks.extend(others);
    tasks.extend(election);
    Running {
        ready,
        inventory,
        leadership,
        tasks,
    }
}

/// Whether this replica leads, and the task that decides it, if a lease does.
fn election(
    options: &Options,
    api: &Api,
    shutdown: &CancellationToken,
    acting: [CancellationToken; 2],
) -> (Leadership, Option<Task>) {
    let Some(lease) = options.election.clone() else {
        return (Leadership::always(), None);
    };
    let candidate = Candidate::new(api.clone(), lease);
    let leadership = candidate.leadership();
    let run = candidate.run(shutdown.clone(), acting);
    (leadership, Some(Task::new("leader election", run)))
}

/// The watches of the kinds besides nodes and pods.
fn others(
    watches: &Api,
    events: &Sender<Event>,
    ready: &Ready,
    shutdown: &CancellationToken,
) -> [Task; ObjectKind::ALL.len()] {
    ObjectKind::ALL.map(|kind| {
        // Nothing waits for them after the start, and they for nothing.
        let (alone, _) = partners();
        let watch = Watch::new(
            Others(kind),
            watches.clone(),
            events.clone(),
            ready.clone(),
            alone,
        );
        Task::new(kind.plural(), watch.run(shutdown.clone()))
    })
}

// === impl Task ===

impl Task {
    fn new(
        name: &'static str,
        run: impl Future<Output = Result<(), TaskError>> + Send + 'static,
    ) -> Self {
        Self {
            name,
            run: Box::pin(run),
        }
    }
}

#[cfg(test)]
mod tests;
