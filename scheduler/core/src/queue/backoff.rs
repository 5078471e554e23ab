//! How long an entity rests after a failed attempt
//! (kube-scheduler `backend/queue/backoff_queue.go`).
//!
//! `min(initial * 2^(n-1), max)`, n the errors in a row if there are any, else the
//! rejections; for a group of k pods the maximum is `max * sqrt(k)`. The end is cut to whole
//! seconds, so that all entities of one second come back together, in queue order.

use std::time::Duration;

use super::item::Queued;

#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    pub(super) initial: Duration,
    pub(super) max: Duration,
}

impl Backoff {
    /// The second at whose end the rest of `item` is over.
    pub(super) fn expiry(self, item: &Queued) -> Duration {
        whole_seconds(item.since().saturating_add(self.of(item)))
    }

    /// Whether `item` still rests: until the second of its expiry is over.
    pub(super) fn rests(self, item: &Queued, now: Duration) -> bool {
        !self.of(item).is_zero() && self.expiry(item) >= whole_seconds(now)
    }

    /// The first instant at which `item` no longer rests.
    pub(super) fn end(self, item: &Queued) -> Duration {
        self.expiry(item).saturating_add(Duration::from_secs(1))
    }

    fn of(self, item: &Queued) -> Duration {
        let count = if item.errors > 0 {
            item.errors
        } else {
            item.rejections
        };
        self.after(count, item.pods().len())
    }

    fn after(self, count: u32, pods: usize) -> Duration {
        let Some(doublings) = count.checked_sub(1) else {
            return Duration::ZERO;
        };
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.initial.saturating_mul(factor).min(self.longest(pods))
    }

    /// A larger group costs more to try, and may rest for longer.
    fn longest(self, pods: usize) -> Duration {
        if pods < 2 {
            return self.max;
        }
        let seconds = self.max.as_secs_f64() * (pods as f64).sqrt();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn a_rest_doubles_with_each_failure_up_to_the_maximum() {
        let backoff = Backoff {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(10),
        };
        let seconds: Vec<u64> = (0..7)
            .map(|count| backoff.after(count, 1).as_secs())
            .collect();
        assert_eq!(seconds, [0, 1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.after(u32::MAX, 1), Duration::from_secs(10));
    }

    #[test]
    fn a_group_rests_for_longer_at_most_by_the_root_of_its_size() {
        let backoff = Backoff {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(10),
        };
        assert_eq!(backoff.after(3, 9), Duration::from_secs(4));
        assert_eq!(backoff.after(20, 9), Duration::from_secs(30));
        let endless = Backoff {
            max: Duration::MAX,
            ..backoff
        };
        assert_eq!(endless.longest(4), Duration::MAX);
    }

    #[test]
    fn a_maximum_of_zero_means_no_rest() {
        let backoff = Backoff {
            initial: Duration::from_secs(1),
            max: Duration::ZERO,
        };
        assert_eq!(backoff.after(5, 1), Duration::ZERO);
    }
}
