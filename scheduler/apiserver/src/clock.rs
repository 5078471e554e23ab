//! The server's only clock: the wall time that it writes into objects.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Reads the wall clock, cut to whole seconds as Kubernetes timestamps are.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the wall clock"
)]
pub(crate) fn now() -> Timestamp {
    whole_seconds(Timestamp::now())
}

/// Seeds the identities of one server run from the wall clock, in nanoseconds.
#[expect(
    clippy::disallowed_methods,
    reason = "identities differ from run to run unless a seed is given"
)]
pub(crate) fn seed() -> u64 {
    Timestamp::now().as_nanosecond() as u64
}

/// Writes a time as Kubernetes does: RFC 3339, UTC, seconds.
pub(crate) fn stamp(time: Timestamp) -> Value {
    Value::String(whole_seconds(time).to_string())
}

/// Adds seconds to a time, and stays at the time itself where the sum has no date.
pub(crate) fn later(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(time)
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_whole_seconds() {
        let time: Timestamp = "2026-11-30T13:47:00.987654321Z".parse().unwrap();
        assert_eq!(stamp(time), "2026-11-30T13:47:00Z");
        assert_eq!(stamp(later(time, 30)), "2026-11-30T13:47:30Z");
        assert_eq!(later(Timestamp::MAX, 30), Timestamp::MAX);
    }
}
