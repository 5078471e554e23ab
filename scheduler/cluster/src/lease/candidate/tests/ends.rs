//! How leading ends: lost, or handed over.

use std::sync::Arc;

use plimsoll_core::{FailureKind, PodRef};
use plimsoll_objects::{ObjectKey, Uid};
use tokio::time::{advance, sleep};

use super::*;
use crate::bind::bind;

fn web() -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", "web"),
        uid: Uid(Arc::from("u1")),
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_to_another_is_lost_at_once() {
    let mut stage = Stage::leader(Script::default()).await;
    stage.script.on(EVENT, Reply::ok(&json!({})));
    stage.script.on(PUT, conflict()).on(GET, read("other", "5"));
    let (ended, at) = stage.ended().await;
    assert_eq!(ended, Err(TaskError::LeaseLost));
    // Of the first event there is no answer: that takes the time for a last word.
    assert!(at < RETRY + super::super::ends::LAST_WORD + SOON, "{at:?}");
    assert!(!stage.leadership.leads());
    assert_eq!(stage.master().as_deref(), Some("0"));
    let told = stage.script.seen_on(EVENT);
    assert_eq!(told[told.len() - 1].body["note"], "me stopped leading");
}

#[tokio::test(start_paused = true)]
async fn leading_ends_its_deadline_after_the_last_good_renewal_was_sent() {
    let mut stage = Stage::leader(Script::default()).await;
    // Nothing is answered any more.
    sleep(RENEW.saturating_sub(SOON + stage.began.elapsed())).await;
    assert!(stage.leadership.leads());
    sleep(2 * SOON).await;
    assert!(!stage.leadership.leads());
    let (ended, at) = stage.ended().await;
    assert_eq!(ended, Err(TaskError::LeaseLost));
    assert!(at < RENEW + super::super::ends::LAST_WORD + SOON, "{at:?}");
}

/// OPS-A1: no request of a process that was frozen, whichever of its tasks wakes first.
#[tokio::test(start_paused = true)]
async fn a_process_that_was_frozen_past_its_lease_sends_no_binding() {
    let stage = Stage::leader(Script::default()).await;
    let api = stage.script.api().while_leading(stage.leadership.clone());
    let route = "POST /api/v1/namespaces/ns/pods/web/binding";
    stage.script.on(route, Reply::status(201, "made"));
    assert_eq!(bind(&api, &web(), "n1").await, Ok(()));
    advance(2 * LEASE).await;
    let refused = bind(&api, &web(), "n1")
        .await
        .expect_err("it does not lead");
    assert_eq!(refused.kind, FailureKind::Unknown);
    assert_eq!(stage.script.seen_on(route).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_binding_without_an_answer_is_not_repeated_once_the_lease_is_over() {
    let stage = Stage::leader(Script::default()).await;
    let api = stage.script.api().while_leading(stage.leadership.clone());
    let route = "POST /api/v1/namespaces/ns/pods/web/binding";
    let bound = bind(&api, &web(), "n1").await;
    assert!(bound.is_err());
    assert_eq!(stage.script.seen_on(route).len(), 1);
    assert!(
        stage
            .script
            .seen_on("GET /api/v1/namespaces/ns/pods/web")
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_told_to_end_renews_until_all_is_carried_out_and_hands_over() {
    let mut stage = Stage::leader(Script::default()).await;
    stage.script.on(EVENT, Reply::ok(&json!({})));
    for version in ["2", "3", "4"] {
        stage.script.on(PUT, written(version));
    }
    stage.shutdown.cancel();
    stage.script.asked(PUT, 3).await;
    assert!(stage.leadership.leads());
    stage.script.on(PUT, read("", "5"));
    stage.carried.cancel();
    assert_eq!(stage.ended().await.0, Ok(()));
    assert!(!stage.leadership.leads());
    let last = stage.script.seen_on(PUT).remove(3).body;
    assert_eq!(last["metadata"]["resourceVersion"], "4");
    assert_eq!(last["spec"]["holderIdentity"], "");
    assert_eq!(last["spec"]["leaseDurationSeconds"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_under_way_does_not_spoil_the_hand_over() {
    let mut stage = Stage::leader(Script::default()).await;
    // The renewal is carried out, and its answer never comes.
    stage.script.asked(PUT, 1).await;
    stage
        .script
        .on(PUT, conflict())
        .on(GET, read("me", "2"))
        .on(PUT, read("", "3"));
    stage.shutdown.cancel();
    stage.carried.cancel();
    assert_eq!(stage.ended().await.0, Ok(()));
    let puts = stage.script.seen_on(PUT);
    let versions = puts
        .iter()
        .map(|put| put.body["metadata"]["resourceVersion"].clone());
    assert_eq!(versions.collect::<Vec<_>>(), ["1", "1", "2"]);
    assert_eq!(puts[2].body["spec"]["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_another_has_by_then_is_left_to_it() {
    let mut stage = Stage::leader(Script::default()).await;
    stage.script.on(PUT, conflict()).on(GET, read("other", "2"));
    stage.shutdown.cancel();
    stage.carried.cancel();
    assert_eq!(stage.ended().await.0, Ok(()));
    assert_eq!(stage.script.seen_on(PUT).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hand_over_without_an_answer_holds_nobody_up() {
    let mut stage = Stage::leader(Script::default()).await;
    stage.shutdown.cancel();
    stage.carried.cancel();
    let (ended, at) = stage.ended().await;
    assert_eq!(ended, Ok(()));
    let most = super::super::ends::HAND_OVER + super::super::ends::LAST_WORD + SOON;
    assert!(at <= most, "{at:?}");
}
