//! Read, marked, deleted: each step against a scripted API server.

use std::sync::Arc;

use plimsoll_core::{Failure, FailureKind, PodRef};
use plimsoll_objects::{ObjectKey, Uid};
use serde_json::json;

use super::evict;
use crate::script::{Reply, Script, Seen};

const GET: &str = "GET /api/v1/namespaces/ns/pods/victim";
const PATCH: &str = "PATCH /api/v1/namespaces/ns/pods/victim/status";
const DELETE: &str = "DELETE /api/v1/namespaces/ns/pods/victim";
const MESSAGE: &str = "plimsoll: preempting to accommodate a higher priority pod";

fn found() -> Reply {
    Reply::ok(&json!({"metadata": {"uid": "u7", "generation": 2}}))
}

fn accepted() -> Reply {
    Reply::ok(&json!({}))
}

/// Evicts against these answers; gives the outcome and the requests.
async fn outcome(replies: &[(&str, Reply)]) -> (Result<(), FailureKind>, Vec<Seen>) {
    let script = Script::default();
    for (route, reply) in replies {
        script.on(route, reply.clone());
    }
    let pod = PodRef {
        key: ObjectKey::new("ns", "victim"),
        uid: Uid(Arc::from("u7")),
    };
    let outcome = evict(&script.api(), &pod, MESSAGE).await;
    let kind = outcome.map_err(|failure: Failure| failure.kind);
    (kind, script.seen())
}

fn routes(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|seen| &*seen.route).collect()
}

#[tokio::test(start_paused = true)]
async fn a_victim_is_told_why_and_then_deleted_in_this_life_only() {
    let runs = json!({
        "metadata": {"uid": "u7", "generation": 2},
        "status": {"conditions": [
            {"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"},
        ]},
    });
    let replies = [
        (GET, Reply::ok(&runs)),
        (PATCH, accepted()),
        (DELETE, accepted()),
    ];
    let (outcome, seen) = outcome(&replies).await;
    assert_eq!(outcome, Ok(()));
    assert_eq!(routes(&seen), [GET, PATCH, DELETE]);
    let mut body = seen[1].body.clone();
    let since = body["status"]["conditions"][0]["lastTransitionTime"].take();
    assert!(since.is_string(), "{since}");
    let expected = json!({
        "metadata": {"uid": "u7"},
        "status": {"conditions": [{
            "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            "message": MESSAGE, "observedGeneration": 2, "lastTransitionTime": null,
        }], "$setElementOrder/conditions": [
            {"type": "PodScheduled"}, {"type": "Ready"}, {"type": "DisruptionTarget"},
        ]},
    });
    assert_eq!(body, expected);
    assert_eq!(seen[2].body["preconditions"], json!({"uid": "u7"}));
}

#[tokio::test(start_paused = true)]
async fn a_victim_that_was_told_before_is_only_deleted() {
    let told = json!({
        "metadata": {"uid": "u7", "generation": 2},
        "status": {"conditions": [{
            "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            "message": MESSAGE, "observedGeneration": 2,
        }]},
    });
    let (outcome, seen) = outcome(&[(GET, Reply::ok(&told)), (DELETE, accepted())]).await;
    assert_eq!(outcome, Ok(()));
    assert_eq!(routes(&seen), [GET, DELETE]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_about_a_pod_that_is_going_or_is_another_one() {
    let going = json!({"metadata": {"uid": "u7", "deletionTimestamp": "2026-01-31T12:00:00Z"}});
    let anew = json!({"metadata": {"uid": "u8"}});
    let cases: [(Reply, Result<(), FailureKind>); 3] = [
        (Reply::ok(&going), Ok(())),
        (Reply::ok(&anew), Err(FailureKind::NotFound)),
        (Reply::status(404, "gone"), Err(FailureKind::NotFound)),
    ];
    for (reply, expected) in cases {
        let (outcome, seen) = outcome(&[(GET, reply)]).await;
        assert_eq!(outcome, expected);
        assert_eq!(routes(&seen), [GET]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_cannot_be_marked_is_not_deleted_and_every_refusal_is_told() {
    let cases = [
        (403, FailureKind::Refused),
        (422, FailureKind::Refused),
        (404, FailureKind::NotFound),
        (429, FailureKind::TooManyRequests { retry_after: None }),
    ];
    for (code, expected) in cases {
        let refused = Reply::status(code, "no");
        let (marked, seen) = outcome(&[(GET, found()), (PATCH, refused.clone())]).await;
        assert_eq!(marked, Err(expected));
        assert_eq!(routes(&seen), [GET, PATCH]);
        let replies = [(GET, found()), (PATCH, accepted()), (DELETE, refused)];
        assert_eq!(outcome(&replies).await.0, Err(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_breaks_is_asked_again_and_a_silent_one_for_less_than_a_minute() {
    let mut replies = vec![(GET, found()), (PATCH, accepted())];
    let broken = Reply::status(503, "down");
    replies.extend(vec![(DELETE, broken); 4]);
    let (of_broken, seen) = outcome(&replies).await;
    assert_eq!((of_broken, seen.len()), (Err(FailureKind::Unavailable), 6));
    let before = tokio::time::Instant::now();
    let silent = [(GET, found()), (PATCH, accepted()), (DELETE, Reply::Hang)];
    assert_eq!(outcome(&silent).await.0, Err(FailureKind::Unknown));
    assert!(before.elapsed().as_secs() < 60);
}
