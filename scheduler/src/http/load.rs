//! `/load`: how load is judged, the switch, what nodes carried lately.
//!
//! Takes a question or a switch, gives JSON. Who may switch: only this machine, which is
//! where `kubectl port-forward` comes from.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::Json;
use axum::Router;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use plimsoll_framework::LoadMode;
use plimsoll_ingest::HistoryPoint;
use serde_json::{Value, json};
use tracing::warn;

use super::Admin;
use super::door::Peer;
use crate::inspect::LoadAnswer;

/// Why a switch from elsewhere is refused, and how it is done.
const NOT_FROM_HERE: &str = "load is switched from the scheduler's own machine only: run \
    `kubectl port-forward` to its pod and send the POST to localhost\n";
/// Why it is refused where no agent is listened to.
const DISABLED: &str = "load.enabled is false in the PlimsollConfiguration, so the telemetry \
    port is closed and there is no load to judge: set it to true and restart (with --load=off \
    it begins switched off)\n";
/// The engine has ended: so will the process.
pub(super) const ENDED: &str = "the scheduler is stopping\n";
/// A question without a node.
const NO_NODE: &str = "of which node: /load/history?node=NAME\n";

/// The routes below `/load`.
pub(super) fn routes() -> Router<Admin> {
    Router::new()
        .route("/load", get(show))
        .route("/load/history", get(history))
        .route(
            "/load/on",
            post(|peer, state, headers| switch(peer, state, headers, true)),
        )
        .route(
            "/load/off",
            post(|peer, state, headers| switch(peer, state, headers, false)),
        )
}

async fn show(State(admin): State<Admin>) -> Response {
    match admin.inspector.load().await {
        Some(answer) => page(&admin, &answer),
        None => (StatusCode::SERVICE_UNAVAILABLE, ENDED).into_response(),
    }
}

/// The last minutes of one node, as its agent told them: for people, never judged.
async fn history(
    State(admin): State<Admin>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let Some(node) = query.get("node") else {
        return (StatusCode::BAD_REQUEST, NO_NODE).into_response();
    };
    let points = admin.ingest.history(node, admin.clock.mono());
    let points: Vec<Value> = points.iter().map(point).collect();
    Json(json!({"node": node, "points": points})).into_response()
}

fn point(point: &HistoryPoint) -> Value {
    json!({
        "ageSeconds": point.age.as_secs_f64(),
        "cpuMillicores": point.cpu,
        "memoryBytes": point.memory,
        "rxBytesPerSecond": point.rx,
        "txBytesPerSecond": point.tx,
    })
}

async fn switch(
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    State(admin): State<Admin>,
    headers: HeaderMap,
    on: bool,
) -> Response {
    // A page in a browser on this machine is not a person who decided to.
    if !is_here(peer.ip()) || headers.contains_key(header::ORIGIN) {
        return (StatusCode::FORBIDDEN, NOT_FROM_HERE).into_response();
    }
    if !admin.load_enabled {
        return (StatusCode::CONFLICT, DISABLED).into_response();
    }
    match admin.inspector.switch_load(on).await {
        Some(answer) => {
            warn!(on, "the judgement of load was switched by hand");
            page(&admin, &answer)
        }
        None => (StatusCode::SERVICE_UNAVAILABLE, ENDED).into_response(),
    }
}

/// The two addresses that `localhost` is. Others of the loopback's network are those of
/// proxies beside the process, which speak for anybody.
pub(super) fn is_here(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    ip == IpAddr::V4(Ipv4Addr::LOCALHOST) || ip == IpAddr::V6(Ipv6Addr::LOCALHOST)
}

fn page(admin: &Admin, answer: &LoadAnswer) -> Response {
    let LoadAnswer { stats, lasted } = answer;
    let mode = match stats.mode {
        LoadMode::Live => "live",
        LoadMode::BrownOut => "brownOut",
        LoadMode::Off => "off",
    };
    let since = admin.clock.now().wall.checked_sub(*lasted).ok();
    let census = &stats.census;
    Json(json!({
        "mode": mode,
        "since": since.map(|since| since.to_string()),
        "nodes": {
            "reporting": census.reporting,
            "silent": census.silent,
            "never": census.never,
        },
        "brownOuts": census.brown_outs,
    }))
    .into_response()
}

#[cfg(test)]
mod tests {
    use super::is_here;

    #[test]
    fn only_localhost_is_here() {
        let cases = [
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("127.0.0.6", false),
            ("10.0.0.1", false),
            ("::ffff:10.0.0.1", false),
        ];
        for (address, here) in cases {
            assert_eq!(is_here(address.parse().unwrap()), here, "{address}");
        }
    }
}
