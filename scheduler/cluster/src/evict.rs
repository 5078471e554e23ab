//! Putting a pod out for another one.
//!
//! Takes the victim (with the uid of the life that was judged) and a message, gives success
//! or how it failed: the condition `DisruptionTarget` first, so that its controllers know
//! why, then the deletion. Mirrors upstream's `PreemptPod`
//! (`pkg/scheduler/framework/preemption/executor.go`).
//! Differs: the pod is read first, so that nothing is written about one that is going
//! already, and it is deleted only if it still has its uid.

use std::time::Duration;

use jiff::Timestamp;
use plimsoll_core::{Failure, FailureKind, PodRef};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::call::{Api, Call};
use crate::clock::wall;
use crate::path;
use crate::retry::call_again;

/// Longest time for everything about one eviction: the engine gives up after a minute.
const EVICT_LIMIT: Duration = Duration::from_secs(50);
const DISRUPTION_TARGET: &str = "DisruptionTarget";
/// `v1.PodReasonPreemptionByScheduler`.
const REASON: &str = "PreemptionByScheduler";

#[derive(Deserialize)]
struct Victim {
    metadata: VictimMeta,
    #[serde(default)]
    status: VictimStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VictimMeta {
    uid: String,
    generation: Option<i64>,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VictimStatus {
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    r#type: String,
    status: String,
    reason: Option<String>,
    message: Option<String>,
    observed_generation: Option<i64>,
}

/// Puts `pod` out, within [`EVICT_LIMIT`].
///
/// # Errors
/// How it failed; `NotFound` if there was nobody to put out.
pub(crate) async fn evict(api: &Api, pod: &PodRef, message: &str) -> Result<(), Failure> {
    timeout(EVICT_LIMIT, settle(api, pod, message))
        .await
        .unwrap_or_else(|_| {
            let message = format!("not settled within {EVICT_LIMIT:?}");
            Err(Failure {
                kind: FailureKind::Unknown,
                message,
            })
        })
}

async fn settle(api: &Api, pod: &PodRef, message: &str) -> Result<(), Failure> {
    let victim = read(api, pod).await?;
    if *victim.metadata.uid != *pod.uid.0 {
        return Err(Failure {
            kind: FailureKind::NotFound,
            message: format!("the pod was created anew with uid {}", victim.metadata.uid),
        });
    }
    if victim.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    if let Some(condition) = condition(&victim, message, wall()) {
        let body = json!({
            "metadata": {"uid": &*pod.uid.0},
            "status": {
                "conditions": [condition],
                "$setElementOrder/conditions": order(&victim),
            },
        });
        let call = Call::strategic_patch("pods/status", &path::pod(&pod.key, "status")?, &body)?;
        call_again(api, call).await?;
    }
    let options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": &*pod.uid.0},
    });
    let call = Call::delete("pods", &path::pod(&pod.key, "")?, &options)?;
    call_again(api, call).await.map(drop)
}

async fn read(api: &Api, pod: &PodRef) -> Result<Victim, Failure> {
    let answer = call_again(api, Call::get("pods", &path::pod(&pod.key, "")?)?).await?;
    serde_json::from_slice(answer.body()).map_err(|error| Failure {
        kind: FailureKind::Unknown,
        message: format!("the answer is no pod: {error}"),
    })
}

/// The types of all conditions, a new one last: without this it would be put first.
fn order(victim: &Victim) -> Vec<Value> {
    let known = victim.status.conditions.iter();
    let mut kinds: Vec<&str> = known.map(|condition| &*condition.r#type).collect();
    if !kinds.contains(&DISRUPTION_TARGET) {
        kinds.push(DISRUPTION_TARGET);
    }
    kinds.iter().map(|kind| json!({"type": kind})).collect()
}

/// The condition as an element that is merged by its type; `None` if the pod has it.
fn condition(victim: &Victim, message: &str, now: Timestamp) -> Option<Value> {
    let mut conditions = victim.status.conditions.iter();
    let known = conditions.find(|condition| condition.r#type == DISRUPTION_TARGET);
    let generation = victim.metadata.generation;
    let is_there = known.is_some_and(|known| {
        known.status == "True"
            && known.reason.as_deref() == Some(REASON)
            && known.message.as_deref() == Some(message)
            && known.observed_generation == generation
    });
    if is_there {
        return None;
    }
    let mut value = json!({
        "type": DISRUPTION_TARGET,
        "status": "True",
        "reason": REASON,
        "message": message,
    });
    if let Some(generation) = generation {
        value["observedGeneration"] = json!(generation);
    }
    if known.is_none_or(|known| known.status != "True") {
        value["lastTransitionTime"] = json!(format!("{now:.0}"));
    }
    Some(value)
}

#[cfg(test)]
mod tests;
