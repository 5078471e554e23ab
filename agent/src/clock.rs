//! The agent's monotonic clock: the one place that reads time. Gives the time since the
//! agent's start; nobody on the wire trusts a wall clock.

use std::time::Duration;

use tokio::time::Instant;

use crate::inspect;

/// Measures time since the agent's start. Copies read the same clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts the clock at zero.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Gives the time since the start. Never goes back.
    pub fn mono(self) -> Duration {
        self.start.elapsed()
    }
}

/// The clock of a program without a runtime: waiting blocks the thread.
impl inspect::Clock for Clock {
    fn now(&mut self) -> Duration {
        self.mono()
    }

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
