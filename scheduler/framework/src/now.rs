//! Time as a value.
//!
//! The driver of the engine reads the clocks, once per step, and passes what they said.

use std::time::Duration;

use jiff::Timestamp;

/// One instant on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time since the process (or the simulation) began: for every difference.
    pub mono: Duration,
    /// Wall-clock time: for what people and the API read, and for windows of the day.
    pub wall: Timestamp,
}

impl Now {
    /// The instant `mono` after the Unix epoch on both clocks: for tests and simulations.
    pub fn at(mono: Duration) -> Self {
        let wall = i64::try_from(mono.as_nanos())
            .ok()
            .and_then(|nanos| Timestamp::from_nanosecond(i128::from(nanos)).ok())
            .unwrap_or(Timestamp::MAX);
        Self { mono, wall }
    }
}
