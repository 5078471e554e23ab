//! The engine's monotonic clock, which stamps arrivals. Injected, so that a sample's age is
//! judged on the very clock that the engine decides by.

use std::time::Duration;

/// Gives the time since a fixed point, never going back.
pub trait Clock: Send + Sync + 'static {
    /// Gives the time since the clock's start.
    fn mono(&self) -> Duration;
}

impl<F: Fn() -> Duration + Send + Sync + 'static> Clock for F {
    fn mono(&self) -> Duration {
        self()
    }
}
