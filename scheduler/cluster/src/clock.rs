//! The wall clock of this crate, read here and nowhere else.
//!
//! Gives the time that is written into objects for people. What waits or measures uses
//! tokio's monotonic clock.

use jiff::Timestamp;

/// The time now.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this crate that reads the clock"
)]
pub(crate) fn wall() -> Timestamp {
    Timestamp::now()
}
