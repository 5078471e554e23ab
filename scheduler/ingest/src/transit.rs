//! How long a report lay in buffers on the way. Takes the agent's clock at sending and our
//! clock at arrival; gives the delay beyond that of the fastest recent report.
//!
//! Nobody trusts a foreign clock: only differences count. The least `arrived - sent` of the
//! recent reports is the clocks' offset (and the network's least delay); what a report
//! needed more than that, it waited. So a server that stalled for half a minute sees that
//! the reports it finds in its buffers are half a minute old.

use std::time::Duration;

/// Reports in half a window of the least offset. More than may be on the way at once (16),
/// so that a backlog never pushes the offset out; few enough that a clock that stood still
/// (a suspended machine) or drifts is forgotten in a minute or two.
const HALF_WINDOW: u32 = 32;

/// The least offset of the last 32 to 64 reports of one stream, in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Transit {
    previous: Option<i128>,
    current: Option<i128>,
    count: u32,
}

impl Transit {
    /// Notes a report and gives how long it waited on the way.
    pub(crate) fn delay(&mut self, sent: Duration, arrived: Duration) -> Duration {
        let offset = micros(arrived) - micros(sent);
        let current = self.current.map_or(offset, |least| least.min(offset));
        let least = self
            .previous
            .map_or(current, |previous| previous.min(current));
        self.current = Some(current);
        self.count += 1;
        if self.count == HALF_WINDOW {
            self.previous = self.current.take();
            self.count = 0;
        }
        Duration::from_micros(u64::try_from(offset - least).unwrap_or(u64::MAX))
    }
}

fn micros(duration: Duration) -> i128 {
    duration.as_micros() as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn the_fastest_report_waited_for_nothing_whatever_the_clocks_say() {
        for offset in [0.0, 1e6] {
            let mut transit = Transit::default();
            assert_eq!(
                transit.delay(seconds(5.0), seconds(offset + 5.3)),
                Duration::ZERO
            );
            assert_eq!(
                transit.delay(seconds(6.0), seconds(offset + 6.5)),
                seconds(0.2)
            );
            assert_eq!(
                transit.delay(seconds(7.0), seconds(offset + 7.1)),
                Duration::ZERO
            );
        }
    }

    #[test]
    fn a_backlog_after_a_stall_is_seen_as_old_to_its_last_report() {
        let mut transit = Transit::default();
        for sent in 0..10 {
            transit.delay(sent * SECOND, sent * SECOND);
        }
        // Sent once a second, all taken at second 40.
        for sent in 10..26 {
            assert_eq!(
                transit.delay(sent * SECOND, 40 * SECOND),
                (40 - sent) * SECOND
            );
        }
        assert_eq!(transit.delay(40 * SECOND, 40 * SECOND), Duration::ZERO);
    }

    #[test]
    fn a_clock_that_stood_still_is_forgotten() {
        let mut transit = Transit::default();
        for sent in 0..64 {
            transit.delay(sent * SECOND, sent * SECOND);
        }
        let late: Vec<_> = (64..192)
            .map(|sent| transit.delay(sent * SECOND, (sent + 60) * SECOND))
            .collect();
        assert_eq!(late[0], 60 * SECOND);
        assert_eq!(late[127], Duration::ZERO);
    }
}
