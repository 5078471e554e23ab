//! The admin port: health, readiness, metrics.
//!
//! Takes what others keep (readiness, the metrics registry), gives text. Has no say in
//! anything.

mod door;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use plimsoll_cluster::Ready;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::door::Door;

/// The text format of Prometheus as prometheus-client writes it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Time for requests under way to end after the stop signal: a page takes milliseconds. A
/// client that never ends its request must not hold the process up.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
struct Admin {
    ready: Ready,
    registry: Arc<Registry>,
}

/// Serves the admin port until `stop` is cancelled.
///
/// # Errors
/// The socket fails.
pub(crate) async fn serve(
    listener: TcpListener,
    ready: Ready,
    registry: Arc<Registry>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(Admin { ready, registry });
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

async fn readyz(State(admin): State<Admin>) -> impl IntoResponse {
    if admin.ready.is_ready() {
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
