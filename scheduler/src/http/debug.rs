//! `/configz` and `/debug/dump`: takes the configuration and the debugger, gives JSON and text.
//! Who may have the dump: only this machine, as it costs the API server a list of all pods.

use axum::Json;
use axum::Router;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Admin;
use super::door::Peer;
use super::load::{ENDED, is_here};

/// Why a dump is refused, and how it is had.
const NOT_FROM_HERE: &str = "the dump is for the scheduler's own machine only: run \
    `kubectl port-forward` to its pod, or send the process SIGUSR2 and read its log\n";

/// The routes.
pub(super) fn routes() -> Router<Admin> {
    Router::new()
        .route("/configz", get(configz))
        .route("/debug/dump", get(dump))
}

async fn configz(State(admin): State<Admin>) -> Response {
    Json(&*admin.configz).into_response()
}

async fn dump(ConnectInfo(Peer(peer)): ConnectInfo<Peer>, State(admin): State<Admin>) -> Response {
    if !is_here(peer.ip()) {
        return (StatusCode::FORBIDDEN, NOT_FROM_HERE).into_response();
    }
    match admin.debugger.page().await {
        Some(text) => text.into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, ENDED).into_response(),
    }
}
