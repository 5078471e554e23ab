//! Pods that their kubelet refused: another scheduler placed pods on the node meanwhile.
//!
//! Such a pod goes from `Pending` to `Failed` with a reason such as `OutOfcpu`. It leaves
//! the watched set by that, and the API server shows a pod that leaves as it was before,
//! without the reason. So a pod that left before it ever ran is looked at once more: slowly,
//! a few at a time, and only to count and to tell.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{Failure, FailureKind};
use plimsoll_objects::{ObjectKey, Phase, Pod, Uid};
use serde::Deserialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::call::{Api, Call, accepted};
use crate::cluster::TaskError;
use crate::metrics::Metrics;
use crate::path;

/// How the reasons of such pods begin (kubelet `lifecycle/predicate.go`).
const PREFIX: &str = "OutOf";
/// Pods that wait to be looked at: a rack full of refusals. Beyond it they are not counted.
const WAITING: usize = 256;
/// Time between two looks: ten a second are nothing to an API server.
const PACE: Duration = Duration::from_millis(100);
/// Wait before the one second try.
const AGAIN: Duration = Duration::from_secs(1);

/// A pod that left the watched set before it ran.
#[derive(Debug)]
pub(crate) struct Left {
    key: ObjectKey,
    uid: Uid,
}

/// Takes pods that left. Never blocks, never fails.
#[derive(Debug, Clone)]
pub(crate) struct Departures {
    left: Sender<Left>,
    metrics: Metrics,
}

/// Looks at pods that left.
pub(crate) struct Inquest {
    left: Receiver<Left>,
    api: Api,
}

/// The part of a pod that tells how it ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct End {
    metadata: Option<EndMeta>,
    spec: Option<EndSpec>,
    status: Option<EndStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EndMeta {
    uid: Option<String>,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EndSpec {
    node_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EndStatus {
    phase: Option<String>,
    reason: Option<String>,
}

/// Both ends.
pub(crate) fn departures(api: Api) -> (Departures, Inquest) {
    let (sender, left) = channel(WAITING);
    let metrics = api.metrics().clone();
    let departures = Departures {
        left: sender,
        metrics,
    };
    (departures, Inquest { left, api })
}

// === impl Departures ===

impl Departures {
    /// The pod `key` left the watched set; `json` is what the API server showed of it.
    pub(crate) fn note(&self, key: &ObjectKey, uid: &Uid, json: &str) {
        let end: End = serde_json::from_str(json).unwrap_or_default();
        if let Some(reason) = end.refusal() {
            tell(&self.metrics, key, end.node(), reason);
        } else if end.left_before_it_ran() {
            let left = Left {
                key: key.clone(),
                uid: uid.clone(),
            };
            if self.left.try_send(left).is_err() {
                debug!(pod = %key, "too many pods left at once, not looked at");
            }
        }
    }

    /// The pod was shown with its end, by a server that does not select.
    pub(crate) fn shown(&self, pod: &Pod) {
        let reason = pod.status.reason.as_deref();
        let refusal = reason.filter(|reason| reason.starts_with(PREFIX));
        if let Some(reason) = refusal
            && pod.status.phase == Phase::Failed
        {
            let node = pod.spec.node_name.as_deref().unwrap_or_default();
            tell(&self.metrics, pod.key(), node, reason);
        }
    }
}

// === impl Inquest ===

impl Inquest {
    /// Runs until `stop`.
    ///
    /// # Errors
    /// None: figures are never worth a scheduler.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Result<(), TaskError> {
        let stopped = stop.clone();
        tokio::select! {
            () = stopped.cancelled() => {}
            () = self.look_at_all() => stop.cancelled().await,
        }
        Ok(())
    }

    async fn look_at_all(&mut self) {
        while let Some(left) = self.left.recv().await {
            if self.look(&left).await.is_err() {
                sleep(AGAIN).await;
                let again = self.look(&left).await;
                if let Err(failure) = again {
                    debug!(pod = %left.key, error = failure.message, "how it ended is not known");
                }
            }
            sleep(PACE).await;
        }
    }

    async fn look(&self, left: &Left) -> Result<(), Failure> {
        let call = Call::get("pods", &path::pod(&left.key, "")?)?;
        let answer = match accepted(self.api.call(call).await) {
            Ok(answer) => answer,
            Err(failure) if failure.kind == FailureKind::NotFound => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let end: End = serde_json::from_slice(answer.body()).unwrap_or_default();
        let is_same = end.uid() == Some(&*left.uid.0);
        if let Some(reason) = end.refusal().filter(|_| is_same) {
            tell(self.api.metrics(), &left.key, end.node(), reason);
        }
        Ok(())
    }
}

// === impl End ===

impl End {
    fn uid(&self) -> Option<&str> {
        self.metadata.as_ref()?.uid.as_deref()
    }

    fn node(&self) -> &str {
        let spec = self.spec.as_ref();
        spec.and_then(|spec| spec.node_name.as_deref())
            .unwrap_or_default()
    }

    /// The reason, if the kubelet refused it.
    fn refusal(&self) -> Option<&str> {
        let status = self.status.as_ref()?;
        let failed = status.phase.as_deref() == Some("Failed");
        let reason = status.reason.as_deref()?;
        (failed && reason.starts_with(PREFIX)).then_some(reason)
    }

    /// A pod on a node that was not deleted and had not begun: it has ended otherwise.
    fn left_before_it_ran(&self) -> bool {
        let meta = self.metadata.as_ref();
        let deleted = meta.is_some_and(|meta| meta.deletion_timestamp.is_some());
        let phase = self.status.as_ref().and_then(|it| it.phase.as_deref());
        let began = !matches!(phase, None | Some("" | "Pending"));
        !deleted && !began && !self.node().is_empty()
    }
}

fn tell(metrics: &Metrics, key: &ObjectKey, node: &str, reason: &str) {
    metrics.refused(Arc::from(reason));
    warn!(pod = %key, node, reason, "the kubelet refused a pod: another scheduler took its room");
}

#[cfg(test)]
mod tests;
