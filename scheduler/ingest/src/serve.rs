//! The gRPC server with all its limits. Takes a bound listener and how agents get in; serves until shutdown, then
//! tells every agent to come back later, and leaves no connection behind.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_proto::telemetry::v1::telemetry_server::TelemetryServer;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use crate::clock::Clock;
use crate::connection::{Accept, Lines};
use crate::service::{Ingest, Service};
use crate::tls::{Certificate, Door, keep_new};

/// Largest message: a report with 110 pods under a few kernels has some 10 KB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// Bytes on the way in one stream and on one connection: one largest message.
const WINDOW_BYTES: u32 = 64 * 1024;
/// Largest list of headers: a call of an agent has some 200 bytes of them.
const MAX_HEADER_BYTES: u32 = 8 * 1024;
/// Connections at once: one per node, and some that are being replaced.
const MAX_CONNECTIONS: usize = 20_000;
/// Calls at once on one connection: it speaks for one node.
const STREAMS_PER_CONNECTION: u32 = 1;
/// Pings go to connections that were silent for this long; a node at 1 Hz gets none.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// Time for the answer to a ping.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that connections have to end after the drain notice, before they are cut.
const DRAIN_GRACE: Duration = Duration::from_secs(2);

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The gRPC server failed.
    #[error("telemetry server failed")]
    Serve(#[source] tonic::transport::Error),
}

/// Serves agents that come through `door` on `listener` into `ingest` until `shutdown`. `clock` stamps arrivals: it
/// must be the engine's.
///
/// # Errors
/// See [`Error`].
pub async fn serve(
    listener: TcpListener,
    ingest: Arc<Ingest>,
    door: Door,
    clock: impl Clock,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let cut = CancellationToken::new();
    let open = ingest.metrics().connections.clone();
    let certificate = match door {
        Door::Plaintext => None,
        Door::Tls(certificate) => Some(certificate),
    };
    let accept = Accept::new(listener, MAX_CONNECTIONS, cut.clone(), open);
    let tls = certificate.as_ref().map(Certificate::configs);
    let metrics = ingest.metrics().clone();
    let lines = Lines::new(accept, tls, metrics.clone());
    let renewing = async move {
        match certificate {
            Some(certificate) => keep_new(certificate, metrics).await,
            None => pending().await,
        }
    };
    let service = TelemetryServer::new(Service::new(ingest, clock, shutdown.clone()))
        .max_decoding_message_size(MAX_MESSAGE_BYTES);
    let stop = shutdown.clone().cancelled_owned();
    let mut serving = pin!(server().serve_with_incoming_shutdown(service, lines, stop));
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = renewing => serving.await,
        () = end_of_grace(&shutdown) => {
            cut.cancel();
            serving.await
        }
    };
    ended.map_err(Error::Serve)
}

fn server() -> Server {
    Server::builder()
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
}

async fn end_of_grace(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    sleep(DRAIN_GRACE).await;
}
