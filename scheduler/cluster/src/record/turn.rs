//! When the next event may be written.
//!
//! Takes the state of the queue, the rate, the server's wishes and the bindings; comes
//! when it is an event's turn. May be dropped and asked again without losing its place.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Recorder;
use super::pace::Pace;

/// How long one event lets bindings pass: under a load that never ends, events still
/// trickle (four a second), and the last words about a pod are not lost.
const PATIENCE: Duration = Duration::from_millis(250);

/// The turn of events.
pub(super) struct Turn {
    recorder: Recorder,
    pace: Pace,
    yields_to: watch::Receiver<bool>,
    paused_until: Option<Instant>,
    /// Until when the next event lets bindings pass, once it has begun to.
    patience: Option<Instant>,
}

// === impl Turn ===

impl Turn {
    pub(super) fn new(
        recorder: Recorder,
        per_second: u32,
        yields_to: watch::Receiver<bool>,
    ) -> Self {
        let pace = Pace::new(per_second, Instant::now());
        Self {
            recorder,
            pace,
            yields_to,
            paused_until: None,
            patience: None,
        }
    }

    /// No event before `until`.
    pub(super) fn pause(&mut self, until: Instant) {
        self.paused_until = self.paused_until.max(Some(until));
    }

    /// Comes when there is an event and it may be written.
    pub(super) async fn come(&mut self) {
        self.recorder.wait().await;
        if let Some(until) = self.paused_until {
            sleep_until(until).await;
            self.paused_until = None;
        }
        sleep_until(self.pace.free_at(Instant::now())).await;
        if *self.yields_to.borrow() {
            let until = *self
                .patience
                .get_or_insert_with(|| Instant::now() + PATIENCE);
            tokio::select! {
                // An error means that there are no bindings any more.
                _ = self.yields_to.wait_for(|busy| !busy) => {}
                () = sleep_until(until) => {}
            }
        }
        self.patience = None;
        self.pace.take(Instant::now());
    }
}
