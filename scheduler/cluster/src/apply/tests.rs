//! Each effect is one request.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_core::{Failure, FailureKind, PodRef};
use plimsoll_framework::{Effect, ObjectWrite, WriteVerb};
use plimsoll_objects::{ObjectKey, Uid};
use serde_json::{Value, json};

use super::apply;
use crate::script::{Reply, Script, Seen};

const CLAIM: &str = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims";

fn pod() -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", "web"),
        uid: Uid(Arc::from("u1")),
    }
}

fn claim(subresource: &str, verb: WriteVerb) -> Effect {
    Effect::Write(ObjectWrite {
        api_version: "resource.k8s.io/v1".to_owned(),
        kind: "ResourceClaim".to_owned(),
        key: ObjectKey::new("ns", "c1"),
        subresource: subresource.to_owned(),
        verb,
    })
}

fn delete_pod() -> Effect {
    Effect::Write(ObjectWrite {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        key: ObjectKey::new("ns", "victim"),
        subresource: String::new(),
        verb: WriteVerb::Delete {
            uid: "u7".to_owned(),
        },
    })
}

async fn outcome(
    effect: &Effect,
    route: &str,
    replies: &[Reply],
) -> (Result<(), Failure>, Vec<Seen>) {
    let script = Script::default();
    for reply in replies {
        script.on(route, reply.clone());
    }
    let outcome = apply(&script.api(), &pod(), effect).await;
    (outcome, script.seen())
}

/// Applies an effect that is accepted, and checks its one request.
async fn check(effect: &Effect, route: &str, media_type: &str, body: &Value) {
    let (outcome, seen) = outcome(effect, route, &[Reply::ok(&json!({}))]).await;
    assert_eq!(outcome, Ok(()), "{route}");
    assert_eq!(
        (seen.len(), &*seen[0].route, &seen[0].body),
        (1, route, body)
    );
    assert_eq!(seen[0].headers["content-type"], media_type);
}

#[tokio::test(start_paused = true)]
async fn annotations_are_merged_into_the_life_of_the_pod_that_was_judged() {
    let annotations = BTreeMap::from([("plimsoll.dev/booked".to_owned(), "n1".to_owned())]);
    let body = json!({"metadata": {"uid": "u1", "annotations": {"plimsoll.dev/booked": "n1"}}});
    let route = "PATCH /api/v1/namespaces/ns/pods/web";
    check(
        &Effect::AnnotatePod(annotations),
        route,
        "application/merge-patch+json",
        &body,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn each_verb_is_the_request_of_its_kind() {
    let body = json!({"a": 1});
    let json = "application/json";
    let merge = "application/merge-patch+json";
    let strategic = "application/strategic-merge-patch+json";
    let cases = [
        (
            "",
            WriteVerb::Create(body.clone()),
            format!("POST {CLAIM}"),
            json,
        ),
        (
            "",
            WriteVerb::Update(body.clone()),
            format!("PUT {CLAIM}/c1"),
            json,
        ),
        (
            "status",
            WriteVerb::Update(body.clone()),
            format!("PUT {CLAIM}/c1/status"),
            json,
        ),
        (
            "",
            WriteVerb::MergePatch(body.clone()),
            format!("PATCH {CLAIM}/c1"),
            merge,
        ),
        (
            "status",
            WriteVerb::StrategicPatch(body.clone()),
            format!("PATCH {CLAIM}/c1/status"),
            strategic,
        ),
        (
            "eviction",
            WriteVerb::Create(body.clone()),
            format!("POST {CLAIM}/c1/eviction"),
            json,
        ),
    ];
    for (subresource, verb, route, media_type) in cases {
        check(&claim(subresource, verb), &route, media_type, &body).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_of_one_life_and_one_that_is_over_is_a_success() {
    let route = "DELETE /api/v1/namespaces/ns/pods/victim";
    let options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u7"},
    });
    check(&delete_pod(), route, "application/json", &options).await;
    let (gone, _) = outcome(&delete_pod(), route, &[Reply::status(404, "gone")]).await;
    assert_eq!(gone, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn what_may_be_done_twice_is_tried_four_times_and_a_creation_once() {
    let down = vec![Reply::status(503, "down"); 4];
    let patch = claim("", WriteVerb::MergePatch(json!({})));
    let (outcome_of_patch, seen) = outcome(&patch, &format!("PATCH {CLAIM}/c1"), &down).await;
    let failure = Failure {
        kind: FailureKind::Unavailable,
        message: "down".to_owned(),
    };
    assert_eq!((outcome_of_patch, seen.len()), (Err(failure.clone()), 4));
    let create = claim("", WriteVerb::Create(json!({})));
    let (outcome_of_create, seen) = outcome(&create, &format!("POST {CLAIM}"), &down).await;
    assert_eq!((outcome_of_create, seen.len()), (Err(failure), 1));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_named_is_refused_without_a_request() {
    for (api_version, name) in [("a/b/c", "c1"), ("v 1", "c1"), ("v1", "../nodes")] {
        let mut effect = claim("", WriteVerb::Update(json!({})));
        if let Effect::Write(write) = &mut effect {
            write.api_version = api_version.to_owned();
            write.key = ObjectKey::new("ns", name);
        }
        let (outcome, seen) = outcome(&effect, "", &[]).await;
        assert_eq!(
            outcome.map_err(|failure| failure.kind),
            Err(FailureKind::Refused)
        );
        assert!(seen.is_empty(), "{api_version} {name}");
    }
}
