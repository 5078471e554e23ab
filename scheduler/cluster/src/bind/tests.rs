//! Bindings against a scripted server, doubtful answers above all.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{Failure, FailureKind, PodRef};
use plimsoll_objects::{ObjectKey, Uid};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::bind;
use crate::script::{Reply, Script};

const POST: &str = "POST /api/v1/namespaces/ns/pods/web/binding";
const GET: &str = "GET /api/v1/namespaces/ns/pods/web";

fn pod(uid: &str, node: Option<&str>) -> Reply {
    Reply::ok(&json!({"metadata": {"name": "web", "uid": uid}, "spec": {"nodeName": node}}))
}

fn created() -> Reply {
    Reply::Answer(
        201,
        Vec::new(),
        json!({"kind": "Status", "status": "Success"}).to_string(),
    )
}

async fn bind_web(script: &Script) -> Result<(), Failure> {
    let web = PodRef {
        key: ObjectKey::new("ns", "web"),
        uid: Uid(Arc::from("u1")),
    };
    bind(&script.api(), &web, "n1").await
}

/// Plays the answers to the bindings, then those to the looks; gives the outcome and the
/// number of bindings and looks that were sent.
async fn outcome(binds: &[Reply], looks: &[Reply]) -> (Result<(), FailureKind>, usize, usize) {
    let script = Script::default();
    for reply in binds {
        script.on(POST, reply.clone());
    }
    for reply in looks {
        script.on(GET, reply.clone());
    }
    let outcome = bind_web(&script).await.map_err(|failure| failure.kind);
    (
        outcome,
        script.seen_on(POST).len(),
        script.seen_on(GET).len(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_binding_names_the_life_of_the_pod_and_the_node() {
    let script = Script::default();
    script.on(POST, created());
    assert_eq!(bind_web(&script).await, Ok(()));
    let seen = script.seen();
    let expected: Value = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": "ns", "name": "web", "uid": "u1"},
        "target": {"kind": "Node", "name": "n1"},
    });
    assert_eq!((seen.len(), &seen[0].body), (1, &expected));
    assert_eq!(seen[0].headers["content-type"], "application/json");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_is_a_success_if_the_pod_is_on_our_node() {
    assert_eq!(
        outcome(&[Reply::Hang], &[pod("u1", Some("n1"))]).await,
        (Ok(()), 1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_an_unbound_pod_is_written_again() {
    let looks = [pod("u1", None)];
    assert_eq!(
        outcome(&[Reply::Cut, created()], &looks).await,
        (Ok(()), 2, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_error_is_looked_into_and_given_up_after_three_tries() {
    let failing = vec![Reply::status(500, "etcdserver: request timed out"); 3];
    let unbound = vec![pod("u1", None); 3];
    let (outcome, binds, looks) = outcome(&failing, &unbound).await;
    assert_eq!(
        (outcome, binds, looks),
        (Err(FailureKind::Unavailable), 3, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_lost_three_times_leave_it_unknown() {
    let unbound = vec![pod("u1", None); 3];
    let (outcome, binds, _) = outcome(&[Reply::Cut, Reply::Hang, Reply::Cut], &unbound).await;
    assert_eq!((outcome, binds), (Err(FailureKind::Unknown), 3));
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_judged_by_where_the_pod_is() {
    let conflict = [Reply::status(409, "pod web is already assigned to node")];
    let refused = Err(FailureKind::Conflict);
    let cases = [
        ("on our node", pod("u1", Some("n1")), Ok(())),
        ("on another node", pod("u1", Some("n2")), refused),
        ("created anew", pod("u2", None), refused),
        (
            "created anew and on our node",
            pod("u2", Some("n1")),
            refused,
        ),
        ("unbound, being deleted", pod("u1", None), refused),
        (
            "gone",
            Reply::status(404, "gone"),
            Err(FailureKind::NotFound),
        ),
    ];
    for (case, look, expected) in cases {
        assert_eq!(
            outcome(&conflict, &[look]).await,
            (expected, 1, 1),
            "{case}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_look_that_fails_is_tried_again_and_then_leaves_it_unknown() {
    let down = Reply::status(503, "down");
    let (seen, _, looks) = outcome(&[Reply::Cut], &[down.clone(), pod("u1", Some("n1"))]).await;
    assert_eq!((seen, looks), (Ok(()), 2));
    let (unseen, binds, looks) = outcome(&[Reply::Cut], &vec![down.clone(); 3]).await;
    assert_eq!((unseen, binds, looks), (Err(FailureKind::Unknown), 1, 3));
    let conflict = [Reply::status(409, "assigned")];
    let (refused, ..) = outcome(&conflict, &vec![down; 3]).await;
    assert_eq!(refused, Err(FailureKind::Conflict));
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_go_back_to_the_engine_with_the_time_to_wait() {
    let busy = Reply::Answer(429, vec![("retry-after", "7")], String::new());
    let kind = FailureKind::TooManyRequests {
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(outcome(&[busy], &[]).await, (Err(kind), 1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_plain_refusal_is_not_tried_again() {
    let cases = [
        (404, FailureKind::NotFound),
        (403, FailureKind::Refused),
        (422, FailureKind::Refused),
    ];
    for (code, kind) in cases {
        assert_eq!(
            outcome(&[Reply::status(code, "no")], &[]).await,
            (Err(kind), 1, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_words_of_the_server_reach_the_engine() {
    let script = Script::default();
    script.on(POST, Reply::status(403, "pods is forbidden"));
    let expected = Failure {
        kind: FailureKind::Refused,
        message: "pods is forbidden".to_owned(),
    };
    assert_eq!(bind_web(&script).await, Err(expected));
}

#[tokio::test(start_paused = true)]
async fn a_binding_that_never_settles_is_unknown_before_the_engine_asks_again() {
    let script = Script::default();
    for _ in 0..3 {
        // Nothing but the third look is answered: 40 s per try.
        script
            .on(GET, Reply::Hang)
            .on(GET, Reply::Hang)
            .on(GET, pod("u1", None));
    }
    let begin = Instant::now();
    let outcome = bind_web(&script).await.map_err(|failure| failure.kind);
    assert_eq!(outcome, Err(FailureKind::Unknown));
    assert_eq!(begin.elapsed().as_secs(), 50);
}
