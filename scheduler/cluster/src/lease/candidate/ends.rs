//! How a candidate ends: the lease is lost, or handed over.

use std::time::Duration;

use plimsoll_core::{Failure, FailureKind};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::Candidate;
use crate::cluster::TaskError;
use crate::lease::Record;

/// Longest time to hand the lease over at the end; after it others wait for its expiry.
pub(super) const HAND_OVER: Duration = Duration::from_secs(2);
/// How often the lease is written to hand it over while renewals of ours come in between.
const HAND_OVER_TRIES: u32 = 3;
/// Longest time for the last event. Nothing else is sent any more by then.
pub(super) const LAST_WORD: Duration = Duration::from_millis(500);
impl Candidate {
    /// Leading ends before anything else is done about it.
    fn end(&mut self) {
        self.leadership.ends();
        let series = self.api.metrics().election();
        series.master(&self.options.name, false);
    }

    pub(super) async fn lost(mut self, shutdown: &CancellationToken) -> Result<(), TaskError> {
        self.end();
        self.last_word().await;
        if shutdown.is_cancelled() {
            return Ok(());
        }
        error!(
            lease = self.options.name,
            holder = self.holder,
            "the lease is lost"
        );
        Err(TaskError::LeaseLost)
    }

    pub(super) async fn hand_over(mut self) {
        let released = self.election.release(self.moment());
        self.end();
        let Some((record, version)) = released else {
            return;
        };
        let lease = self.options.name.clone();
        match timeout(HAND_OVER, self.release(record, version)).await {
            Ok(Ok(())) => info!(lease, "handed the lease over"),
            Ok(Err(failure)) => warn!(lease, error = failure.message, "lease not handed over"),
            Err(_) => warn!(lease, "lease not handed over in time"),
        }
        self.last_word().await;
    }

    /// A renewal that was cut off may have been carried out: then the version is another one,
    /// and the lease still ours.
    async fn release(&mut self, mut record: Record, mut version: String) -> Result<(), Failure> {
        let mut tries = 1;
        loop {
            match self.update(&record, &version).await {
                Err(failure)
                    if failure.kind == FailureKind::Conflict && tries < HAND_OVER_TRIES =>
                {
                    debug!(error = failure.message, "lease changed meanwhile");
                }
                written => return written.map(drop),
            }
            let found = self.read().await?;
            let Some(found) = found.filter(|found| found.record.holder == self.options.identity)
            else {
                return Ok(());
            };
            record.transitions = found.record.transitions;
            version = found.version;
            tries += 1;
        }
    }

    async fn last_word(&mut self) {
        self.tell("stopped leading");
        let told = async { while self.telling.join_next().await.is_some() {} };
        if timeout(LAST_WORD, told).await.is_err() {
            debug!("event of the lease not written in time");
        }
    }
}
