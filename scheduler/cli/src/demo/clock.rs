//! The story's clock: the one place of the demo that reads the time.

use std::time::Duration;

use tokio::time::Instant;

/// Time since the story began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
}

// === impl Clock ===

impl Clock {
    /// A clock that shows zero now.
    pub(crate) fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// What it shows.
    pub(crate) fn now(self) -> Duration {
        self.origin.elapsed()
    }
}
