//! The status of a pod that could not be placed, or is nominated to a node.
//!
//! Takes the condition and the nomination that the engine wants, gives one strategic merge
//! patch of `pods/status`. Mirrors upstream's `PatchPodStatus`
//! (`pkg/scheduler/util/utils.go`) and `UpdatePodCondition` (`pkg/api/v1/pod/util.go`).

use std::sync::Arc;

use jiff::Timestamp;
use plimsoll_core::{Failure, PodRef, ScheduledFalse};
use serde_json::{Map, Value, json};

use crate::call::{Api, Call};
use crate::clock::wall;
use crate::path;
use crate::pending::{Pending, Waiting};
use crate::retry::call_again;

/// What to patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusPatch {
    /// The condition to set.
    pub(crate) condition: Option<ScheduledFalse>,
    /// What becomes of `nominatedNodeName`.
    pub(crate) nomination: Nomination,
}

/// What becomes of `nominatedNodeName`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Nomination {
    /// It stays as it is.
    Keep,
    /// It is cleared.
    Clear,
    /// It is set to this node.
    Set(Arc<str>),
}

/// Patches the status of `pod`. Nothing to patch is no request.
///
/// # Errors
/// How it failed.
pub(crate) async fn patch(
    api: &Api,
    pending: &Pending,
    pod: &PodRef,
    wanted: &StatusPatch,
) -> Result<(), Failure> {
    let status = status(wanted, pending.get(&pod.uid), wall());
    if status.is_empty() {
        return Ok(());
    }
    // With the uid, a pod that was created anew under the name is refused, not patched.
    let body = json!({"metadata": {"uid": &*pod.uid.0}, "status": status});
    let call = Call::strategic_patch("pods/status", &path::pod(&pod.key, "status")?, &body)?;
    call_again(api, call).await?;
    if wanted.condition.is_some() {
        pending.told(&pod.uid);
    }
    Ok(())
}

fn status(wanted: &StatusPatch, known: Waiting, now: Timestamp) -> Map<String, Value> {
    let mut status = Map::new();
    if let Some(condition) = &wanted.condition {
        status.insert(
            "conditions".to_owned(),
            json!([scheduled_false(condition, known, now)]),
        );
    }
    let nominated = match &wanted.nomination {
        Nomination::Keep => return status,
        // `null` deletes the field.
        Nomination::Clear => Value::Null,
        Nomination::Set(node) => json!(&**node),
    };
    status.insert("nominatedNodeName".to_owned(), nominated);
    status
}

/// The condition as an element that is merged by its type: what is left out stays as it is.
fn scheduled_false(condition: &ScheduledFalse, known: Waiting, now: Timestamp) -> Value {
    let mut value = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": condition.reason,
        "message": condition.message,
    });
    if let Some(generation) = known.generation {
        value["observedGeneration"] = json!(generation);
    }
    if !known.told_false {
        value["lastTransitionTime"] = json!(format!("{now:.0}"));
    }
    value
}

#[cfg(test)]
mod tests;
