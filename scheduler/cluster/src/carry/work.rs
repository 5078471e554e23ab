//! One command, carried out.
//!
//! Takes a job, calls the file that knows how.

use std::sync::Arc;

use plimsoll_core::{Failure, FailureKind};
use tracing::{debug, warn};

use super::lanes::{Job, Work};
use crate::apply::apply;
use crate::bind::bind;
use crate::call::Api;
use crate::evict::evict;
use crate::pending::Pending;
use crate::status;

/// Writes to the API server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) api: Api,
    pub(crate) pending: Arc<Pending>,
}

// === impl Writer ===

impl Writer {
    /// Carries out one job.
    ///
    /// # Errors
    /// How it failed.
    pub(super) async fn carry_out(&self, job: &Job) -> Result<(), Failure> {
        let outcome = match &job.work {
            Work::Bind(node) => bind(&self.api, &job.pod, node).await,
            Work::PatchStatus(patch) => {
                status::patch(&self.api, &self.pending, &job.pod, patch).await
            }
            Work::Evict(message) => evict(&self.api, &job.pod, message).await,
            Work::Apply(effect) => apply(&self.api, &job.pod, effect).await,
        };
        if let Err(failure) = &outcome {
            log(job, failure);
        }
        outcome
    }
}

fn log(job: &Job, failure: &Failure) {
    let (pod, command, error) = (&job.pod.key, job.work.name(), failure.message.as_str());
    match failure.kind {
        // A pod that was deleted or bound meanwhile is the usual course of things.
        FailureKind::NotFound | FailureKind::Conflict => {
            debug!(%pod, command, error, kind = ?failure.kind, "command overtaken");
        }
        kind => warn!(%pod, command, error, ?kind, "command failed"),
    }
}
