//! When the lane of status patches stands still: a server that says 429, or is not there,
//! must not be asked once for each of ten thousand pods.
//!
//! Takes the answers to patches, gives the instant before which no other is sent.

use std::time::Duration;

use crate::event::FailureKind;

/// Pause after 429 where the server names none (kube-scheduler's client waits 1 s too).
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);
/// Longest pause that a server may ask for: a stray figure must not silence conditions.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);
/// First pause after a server was not there; doubles with each that follows.
const FIRST_OUTAGE: Duration = Duration::from_millis(100);
/// Longest such pause: how late conditions are when the server is back.
const LAST_OUTAGE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Duration,
    outages: u32,
}

impl Pause {
    /// The instant before which nothing is sent.
    pub(super) fn until(&self) -> Duration {
        self.until
    }

    /// A patch was answered.
    pub(super) fn answered(&mut self, outcome: Result<(), FailureKind>, now: Duration) {
        let pause = match outcome {
            // The server works, whatever it thinks of this one pod.
            Ok(()) | Err(FailureKind::Conflict | FailureKind::NotFound | FailureKind::Refused) => {
                self.outages = 0;
                return;
            }
            Err(FailureKind::TooManyRequests { retry_after }) => bounded(retry_after),
            // One of those that were open when it went away: they all say the same.
            Err(FailureKind::Unavailable | FailureKind::Unknown) if now < self.until => return,
            Err(FailureKind::Unavailable | FailureKind::Unknown) => {
                let factor = 1_u32.checked_shl(self.outages).unwrap_or(u32::MAX);
                self.outages = self.outages.saturating_add(1);
                FIRST_OUTAGE.saturating_mul(factor).min(LAST_OUTAGE)
            }
        };
        self.until = self.until.max(now.saturating_add(pause));
    }
}

/// The pause that a server asks for with 429, as far as it is honoured.
pub(super) fn bounded(retry_after: Option<Duration>) -> Duration {
    retry_after
        .unwrap_or(DEFAULT_RETRY_AFTER)
        .min(MAX_RETRY_AFTER)
}
