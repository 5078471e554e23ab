//! Binding a pod to a node.
//!
//! Takes a pod (with the uid of the life that was judged) and a node, gives success or how
//! it failed. Where an answer leaves a doubt, the pod itself is looked at: a pod that is on
//! the wanted node is a success however it came there. Mirrors upstream's `DefaultBinder`
//! (`plugins/defaultbinder/default_binder.go`).
//! Differs: upstream takes a lost answer for a failure and schedules the pod again.

use std::time::Duration;

use http::StatusCode;
use plimsoll_core::{Failure, FailureKind, PodRef};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tracing::info;

use crate::call::{Answer, Api, Call, CallError, accepted};
use crate::path;

/// Longest time for everything about one binding: the engine asks again after a minute.
const BIND_LIMIT: Duration = Duration::from_secs(50);
/// How often a binding is written while its pod is seen unbound after each.
const BIND_TRIES: u32 = 3;
/// How often a pod is looked at after a doubtful answer.
const LOOK_TRIES: u32 = 3;
/// Wait between two tries: long enough for a request that was cut off to end.
const TRY_WAIT: Duration = Duration::from_millis(200);

/// What a second look at the pod shows.
enum Seen {
    Bound,
    Elsewhere(String),
    Unbound,
    Gone(String),
    Unknown(String),
}

#[derive(Deserialize)]
struct Look {
    metadata: LookMeta,
    #[serde(default)]
    spec: LookSpec,
}

#[derive(Deserialize)]
struct LookMeta {
    uid: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LookSpec {
    node_name: Option<String>,
}

/// Binds `pod` to `node`, within [`BIND_LIMIT`].
///
/// # Errors
/// How it failed; `Unknown` only if the API server did not say what came of it.
pub(crate) async fn bind(api: &Api, pod: &PodRef, node: &str) -> Result<(), Failure> {
    timeout(BIND_LIMIT, settle(api, pod, node))
        .await
        .unwrap_or_else(|_| {
            let message = format!("not settled within {BIND_LIMIT:?}");
            Err(Failure {
                kind: FailureKind::Unknown,
                message,
            })
        })
}

async fn settle(api: &Api, pod: &PodRef, node: &str) -> Result<(), Failure> {
    let call = Call::create(
        "pods/binding",
        &path::pod(&pod.key, "binding")?,
        &body(pod, node),
    )?;
    let mut tries = 1;
    loop {
        let sent = api.call(call.clone()).await;
        let in_doubt = is_in_doubt(&sent);
        let failure = match accepted(sent) {
            Ok(_) => return Ok(()),
            Err(failure) if in_doubt => failure,
            Err(failure) => return Err(failure),
        };
        info!(pod = %pod.key, node, error = failure.message, "binding in doubt, looking at the pod");
        let may_try = tries < BIND_TRIES && failure.kind != FailureKind::Conflict;
        match look(api, pod, node).await {
            Seen::Bound => return Ok(()),
            Seen::Unbound if may_try => sleep(TRY_WAIT).await,
            // The server's answer stands: the pod is being deleted, say.
            Seen::Unbound => return Err(failure),
            Seen::Elsewhere(message) => {
                return Err(Failure {
                    kind: FailureKind::Conflict,
                    message,
                });
            }
            Seen::Gone(message) => {
                return Err(Failure {
                    kind: FailureKind::NotFound,
                    message,
                });
            }
            Seen::Unknown(message) => return Err(unknown(failure, &message)),
        }
        tries += 1;
    }
}

fn body(pod: &PodRef, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "namespace": &*pod.key.namespace,
            "name": &*pod.key.name,
            "uid": &*pod.uid.0,
        },
        "target": {"kind": "Node", "name": node},
    })
}

/// Whether the binding may be there all the same. So it is after a 5xx, too: `etcdserver:
/// request timed out` is a 500, and the write may have been done. And after a 409: the pod
/// may be bound by an earlier try of ours.
fn is_in_doubt(sent: &Result<Answer, CallError>) -> bool {
    match sent {
        Ok(answer) => answer.code() == StatusCode::CONFLICT || answer.code().is_server_error(),
        Err(CallError::Lost(_) | CallError::Silent(_)) => true,
        Err(
            CallError::Name(_)
            | CallError::Build(_)
            | CallError::NotSent(_)
            | CallError::NotLeading,
        ) => false,
    }
}

/// What is told when the second look failed as well. A 409 stays one: ours was refused.
fn unknown(first: Failure, then: &str) -> Failure {
    if first.kind == FailureKind::Conflict {
        return first;
    }
    let message = format!("{}; then: {then}", first.message);
    Failure {
        kind: FailureKind::Unknown,
        message,
    }
}

async fn look(api: &Api, pod: &PodRef, node: &str) -> Seen {
    let mut last = String::new();
    for n in 0..LOOK_TRIES {
        if n > 0 {
            sleep(TRY_WAIT).await;
        }
        match read(api, pod).await {
            Ok(found) => return judge(&found, pod, node),
            Err(Failure {
                kind: FailureKind::NotFound,
                message,
            }) => return Seen::Gone(message),
            Err(failure) => last = failure.message,
        }
    }
    Seen::Unknown(last)
}

async fn read(api: &Api, pod: &PodRef) -> Result<Look, Failure> {
    let call = Call::get("pods", &path::pod(&pod.key, "")?)?;
    let answer = accepted(api.call(call).await)?;
    serde_json::from_slice(answer.body()).map_err(|error| Failure {
        kind: FailureKind::Unknown,
        message: format!("the answer is no pod: {error}"),
    })
}

fn judge(found: &Look, pod: &PodRef, node: &str) -> Seen {
    if *found.metadata.uid != *pod.uid.0 {
        return Seen::Elsewhere(format!(
            "the pod was created anew with uid {}",
            found.metadata.uid
        ));
    }
    match found.spec.node_name.as_deref() {
        None | Some("") => Seen::Unbound,
        Some(bound) if bound == node => Seen::Bound,
        Some(bound) => Seen::Elsewhere(format!("the pod is bound to {bound}")),
    }
}

#[cfg(test)]
mod tests;
