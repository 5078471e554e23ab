//! The telemetry service: what all connections share, and the call that begins a stream.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_load::Sample;
use plimsoll_proto::telemetry::v1::AgentMessage;
use plimsoll_proto::telemetry::v1::telemetry_server::Telemetry;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::clock::Clock;
use crate::connection::Connection;
use crate::conversation::Conversation;
use crate::metrics::Metrics;
use crate::session::Session;
use crate::slots::{HistoryPoint, Slots};

/// Where samples of all nodes come together: the server fills it, the engine drains it.
#[derive(Debug)]
pub struct Ingest {
    slots: Slots,
    metrics: Metrics,
}

impl Ingest {
    /// Makes an empty one.
    pub fn new() -> Self {
        let metrics = Metrics::new();
        Self {
            slots: Slots::new(metrics.clone()),
            metrics,
        }
    }

    /// Exports the counters of the telemetry server in `registry`, as `plimsoll_ingest_*`.
    pub fn register(&self, registry: &mut Registry) {
        self.metrics.register(registry);
    }

    /// Gives the newest sample of each node that sent one since the last call, each node at
    /// most once.
    pub fn drain(&self) -> Vec<Sample> {
        self.slots.drain()
    }

    /// Waits until there is something to drain. For one waiter, the engine's driver; may
    /// wake it without need.
    pub async fn changed(&self) {
        self.slots.changed().await;
    }

    /// Gives what `node` carried in the last ten minutes, a point each ten seconds, oldest
    /// first, as of `now` on the engine's clock; nothing for a node that no agent speaks for.
    /// It reaches back before this process began: agents replay their last minutes.
    pub fn history(&self, node: &str, now: Duration) -> Vec<HistoryPoint> {
        self.slots.history(node, now)
    }

    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Default for Ingest {
    fn default() -> Self {
        Self::new()
    }
}

/// The gRPC service over an [`Ingest`].
pub(crate) struct Service {
    ingest: Arc<Ingest>,
    clock: Arc<dyn Clock>,
    drain: CancellationToken,
}

impl Service {
    /// Makes a service whose streams end with a drain notice once `drain` is cancelled.
    pub(crate) fn new(ingest: Arc<Ingest>, clock: impl Clock, drain: CancellationToken) -> Self {
        Self {
            ingest,
            clock: Arc::new(clock),
            drain,
        }
    }
}

#[tonic::async_trait]
impl Telemetry for Service {
    type StreamStream = Conversation;

    async fn stream(
        &self,
        request: Request<Streaming<AgentMessage>>,
    ) -> Result<Response<Conversation>, Status> {
        let connection = request.extensions().get::<Connection>().cloned();
        let connection = connection.ok_or_else(|| Status::internal("connection is unknown"))?;
        Ok(Response::new(Conversation::new(
            request.into_inner(),
            Session::new(Arc::clone(&self.ingest), connection),
            Arc::clone(&self.clock),
            self.drain.clone(),
            self.ingest.metrics().clone(),
        )))
    }
}
