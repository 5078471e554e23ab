//! The admin port: health, readiness, metrics, the switch of load.
//!
//! Takes what others keep (readiness, the metrics registry) and asks the engine, gives text.

mod debug;
mod door;
mod load;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use plimsoll_cluster::{Leadership, Ready};
use plimsoll_ingest::Ingest;
use prometheus_client::registry::Registry;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::door::{Door, Peer};
use crate::clock::Clock;
use crate::debugger::Debugger;
use crate::inspect::Inspector;

/// The text format of Prometheus as prometheus-client writes it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Why a leader is not well.
const OVERDUE: &str = "leaderElection failed: the lease is not renewed, and the process still runs";

/// Time for requests under way to end after the stop signal: a page takes milliseconds. A
/// client that never ends its request must not hold the process up.
const GRACE: Duration = Duration::from_secs(2);

/// What the pages are made from.
#[derive(Debug, Clone)]
pub(crate) struct Admin {
    pub(crate) ready: Ready,
    pub(crate) leadership: Leadership,
    pub(crate) registry: Arc<Registry>,
    pub(crate) inspector: Inspector,
    pub(crate) ingest: Arc<Ingest>,
    pub(crate) clock: Clock,
    /// Whether agents are listened to: without them there is nothing to switch.
    pub(crate) load_enabled: bool,
    /// The configuration as it runs.
    pub(crate) configz: Arc<Value>,
    pub(crate) debugger: Debugger,
}

/// Serves the admin port until `stop` is cancelled.
///
/// # Errors
/// The socket fails.
pub(crate) async fn serve(
    listener: TcpListener,
    admin: Admin,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/healthz", get(livez))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .merge(load::routes())
        .merge(debug::routes())
        .with_state(admin)
        .into_make_service_with_connect_info::<Peer>();
    let serving = axum::serve(Door::new(listener), router)
        .with_graceful_shutdown(stop.clone().cancelled_owned());
    let end_of_grace = async {
        stop.cancelled().await;
        sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served?,
        () = end_of_grace => {}
    }
    Ok(())
}

/// The check `leaderElection` of kube-scheduler: a leader that has neither renewed its lease
/// nor ended is stuck.
async fn livez(State(admin): State<Admin>) -> impl IntoResponse {
    if admin.leadership.is_overdue() {
        (StatusCode::INTERNAL_SERVER_ERROR, OVERDUE)
    } else {
        (StatusCode::OK, "ok")
    }
}

/// Who waits for the lease is ready all the same: it knows the cluster.
async fn readyz(State(admin): State<Admin>) -> impl IntoResponse {
    if admin.leadership.is_overdue() {
        (StatusCode::INTERNAL_SERVER_ERROR, OVERDUE)
    } else if admin.ready.is_ready() {
        (StatusCode::OK, "ok")
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "nodes and pods have not been listed yet",
        )
    }
}

async fn metrics(State(admin): State<Admin>) -> impl IntoResponse {
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &admin.registry) {
        Ok(()) => (StatusCode::OK, [(header::CONTENT_TYPE, OPEN_METRICS)], text),
        Err(problem) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            [(header::CONTENT_TYPE, "text/plain")],
            problem.to_string(),
        ),
    }
}
