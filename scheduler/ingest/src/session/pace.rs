//! How often a stream may speak: a bucket of tokens, one for each message.

use std::time::Duration;

/// Messages a second that a stream may send for long: thirty times an agent's fastest.
const PER_SECOND: f64 = 30.0;
/// Messages that it may send at once: ten seconds of those, so that no backlog is refused.
const AT_ONCE: f64 = 300.0;

/// The tokens of one stream.
#[derive(Debug)]
pub(super) struct Pace {
    tokens: f64,
    at: Duration,
}

impl Pace {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            tokens: AT_ONCE,
            at: now,
        }
    }

    /// Takes a message; says whether it may be.
    pub(super) fn allows(&mut self, now: Duration) -> bool {
        let since = now.saturating_sub(self.at).as_secs_f64();
        self.tokens = (self.tokens + since * PER_SECOND).min(AT_ONCE);
        self.at = self.at.max(now);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_passes_a_steady_stream_passes_and_a_flood_does_not() {
        let start = Duration::from_secs(100);
        let mut backlog = Pace::new(start);
        assert!((0..300).all(|_| backlog.allows(start)));
        assert!(!backlog.allows(start));

        let mut steady = Pace::new(start);
        assert!(
            (0..100_000).all(|number| steady.allows(start + number * Duration::from_millis(50)))
        );

        let mut flood = Pace::new(start);
        let taken = (0..100_000)
            .take_while(|number| flood.allows(start + *number * Duration::from_millis(10)));
        assert!(taken.count() < 1000);
    }
}
