//! What is patched, and how.

use std::sync::Arc;

use jiff::Timestamp;
use plimsoll_core::{Failure, FailureKind, PodRef, ScheduledFalse};
use plimsoll_objects::{ObjectKey, Uid, decode_pod};
use serde_json::{Value, json};

use super::{Nomination, StatusPatch, status};
use crate::pending::{Pending, Waiting};
use crate::script::{Reply, Script};

const ROUTE: &str = "PATCH /api/v1/namespaces/ns/pods/web/status";

fn unschedulable() -> ScheduledFalse {
    ScheduledFalse {
        reason: "Unschedulable",
        message: "0/1 nodes".to_owned(),
    }
}

async fn send(script: &Script, pending: &Pending, wanted: &StatusPatch) -> Result<(), Failure> {
    let web = PodRef {
        key: ObjectKey::new("ns", "web"),
        uid: Uid(Arc::from("u1")),
    };
    super::patch(&script.api(), pending, &web, wanted).await
}

fn patch(known: Waiting, nomination: Nomination) -> Value {
    let wanted = StatusPatch {
        condition: Some(unschedulable()),
        nomination,
    };
    let now = Timestamp::from_millisecond(1_700_000_000_999).unwrap();
    json!(status(&wanted, known, now))
}

#[test]
fn the_first_condition_of_a_pod_has_a_transition_time_in_whole_seconds() {
    let known = Waiting {
        generation: Some(2),
        told_false: false,
    };
    let expected = json!({"conditions": [{
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes",
        "observedGeneration": 2,
        "lastTransitionTime": "2023-11-14T22:13:20Z",
    }]});
    assert_eq!(patch(known, Nomination::Keep), expected);
}

#[test]
fn a_condition_that_stays_false_keeps_its_transition_time() {
    let patch = patch(
        Waiting {
            generation: None,
            told_false: true,
        },
        Nomination::Keep,
    );
    let condition = &patch["conditions"][0];
    assert_eq!(condition.get("lastTransitionTime"), None);
    assert_eq!(condition.get("observedGeneration"), None);
}

#[test]
fn a_nomination_is_set_cleared_or_left_alone() {
    let known = Waiting::default();
    assert_eq!(
        patch(known, Nomination::Set(Arc::from("n1")))["nominatedNodeName"],
        json!("n1")
    );
    assert_eq!(
        patch(known, Nomination::Clear).get("nominatedNodeName"),
        Some(&Value::Null)
    );
    assert_eq!(
        patch(known, Nomination::Keep).get("nominatedNodeName"),
        None
    );
}

#[test]
fn nothing_wanted_is_nothing_to_write() {
    let wanted = StatusPatch {
        condition: None,
        nomination: Nomination::Keep,
    };
    assert!(status(&wanted, Waiting::default(), Timestamp::UNIX_EPOCH).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_patch_is_strategic_and_of_one_life_and_is_tried_again() {
    let script = Script::default();
    script
        .on(ROUTE, Reply::status(500, "once"))
        .on(ROUTE, Reply::Cut);
    script
        .on(ROUTE, Reply::status(409, "once"))
        .on(ROUTE, Reply::ok(&json!({})));
    let pending = Pending::default();
    let pod = json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u1"}});
    pending.note(&decode_pod(pod.to_string().as_bytes()).unwrap(), Some(1));
    let wanted = StatusPatch {
        condition: Some(unschedulable()),
        nomination: Nomination::Clear,
    };
    assert_eq!(send(&script, &pending, &wanted).await, Ok(()));
    let seen = script.seen();
    assert_eq!(seen.len(), 4);
    assert_eq!(
        seen[3].headers["content-type"],
        "application/strategic-merge-patch+json"
    );
    assert_eq!(seen[3].body["metadata"], json!({"uid": "u1"}));
    assert_eq!(seen[3].body["status"]["nominatedNodeName"], Value::Null);
    assert!(
        pending.get(&Uid(Arc::from("u1"))).told_false,
        "an accepted condition is known"
    );
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_waiting_does_not_mend_fails_at_once() {
    let busy = FailureKind::TooManyRequests { retry_after: None };
    for (code, kind) in [
        (404, FailureKind::NotFound),
        (422, FailureKind::Refused),
        (429, busy),
    ] {
        let script = Script::default();
        script.on(ROUTE, Reply::status(code, "no"));
        let wanted = StatusPatch {
            condition: Some(unschedulable()),
            nomination: Nomination::Keep,
        };
        let outcome = send(&script, &Pending::default(), &wanted).await;
        assert_eq!(outcome.map_err(|failure| failure.kind), Err(kind));
        assert_eq!(script.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_wanted_is_no_request() {
    let script = Script::default();
    let wanted = StatusPatch {
        condition: None,
        nomination: Nomination::Keep,
    };
    assert_eq!(send(&script, &Pending::default(), &wanted).await, Ok(()));
    assert!(script.seen().is_empty());
}
