//! The one place of the scheduler that reads the clocks.

use std::time::Duration;

use jiff::Timestamp;
use plimsoll_framework::Now;
use rustix::time::{ClockId, Timespec, clock_gettime};
use tokio::time::Instant;

/// Both clocks of one process: monotonic time since its start, and wall time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

/// A monotonic clock whose zero is anywhere: for figures of how long things take.
pub(crate) fn stopwatch() -> Duration {
    duration(clock_gettime(ClockId::Monotonic))
}

/// CPU time of this process, user and system.
pub(crate) fn process_cpu() -> Duration {
    duration(clock_gettime(ClockId::ProcessCPUTime))
}

/// These clocks never show a negative time.
fn duration(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

// === impl Clock ===

impl Clock {
    /// A clock whose monotonic time is zero now.
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// The instant.
    #[expect(
        clippy::disallowed_methods,
        reason = "the process's one reading of the wall clock"
    )]
    pub fn now(self) -> Now {
        Now {
            mono: self.mono(),
            wall: Timestamp::now(),
        }
    }

    /// Monotonic time since the start.
    pub fn mono(self) -> Duration {
        self.origin.elapsed()
    }

    /// The instant at which monotonic time is `mono`.
    pub(crate) fn at(self, mono: Duration) -> Instant {
        // A wake-up beyond what an Instant can hold never comes: a year is as good.
        const NEVER: Duration = Duration::from_hours(365 * 24);
        self.origin.checked_add(mono).unwrap_or(self.origin + NEVER)
    }
}
