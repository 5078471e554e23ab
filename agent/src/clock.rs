//! The agent's monotonic clock: the one place that reads time. Gives the time since the
//! agent's start; nobody on the wire trusts a wall clock.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
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

/// CPU time of the calling thread: what a tick costs, whoever else runs meanwhile.
pub(crate) fn thread_cpu() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// The time since a moment of the wall clock, for the dates of files; `None` if it lies
/// ahead.
pub fn time_since(moment: SystemTime) -> Option<Duration> {
    moment.elapsed().ok()
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
