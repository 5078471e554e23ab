//! What the node carried in the last five minutes, for a scheduler that just came. Takes the
//! feed of readings; keeps one point each ten seconds, and shows them to all streams.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Feed;
use crate::report::Moment;

/// Time between two points.
const EACH: Duration = Duration::from_secs(10);
/// Points that are kept: five minutes.
const POINTS: usize = 30;

/// The kept points, oldest first.
pub type Past = watch::Receiver<VecDeque<Moment>>;

/// Makes an empty past.
pub(crate) fn empty() -> watch::Sender<VecDeque<Moment>> {
    watch::Sender::new(VecDeque::with_capacity(POINTS))
}

/// Keeps `past` up to date until `shutdown`.
pub(crate) async fn record(
    feed: Feed,
    past: watch::Sender<VecDeque<Moment>>,
    shutdown: CancellationToken,
) {
    let mut ticks = interval(EACH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let recording = async {
        loop {
            ticks.tick().await;
            let reading = feed.borrow().clone();
            if let Some(moment) = reading.and_then(|reading| Moment::of(&reading.usage)) {
                past.send_if_modified(|points| add(points, moment));
            }
        }
    };
    let _ = shutdown.run_until_cancelled(recording).await;
}

/// Adds a point unless it is there; never wakes anybody.
fn add(points: &mut VecDeque<Moment>, moment: Moment) -> bool {
    if points.back().is_none_or(|last| last.at < moment.at) {
        if points.len() == POINTS {
            points.pop_front();
        }
        points.push_back(moment);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(seconds: u64) -> Moment {
        Moment {
            at: Duration::from_secs(seconds),
            cpu: Some(seconds as f64),
            memory: None,
            rx: None,
            tx: None,
        }
    }

    #[test]
    fn thirty_points_are_kept_and_a_sample_is_one_point() {
        let mut points = VecDeque::new();
        for seconds in 0..100 {
            add(&mut points, moment(seconds));
            add(&mut points, moment(seconds));
        }
        assert_eq!(points.len(), POINTS);
        assert_eq!((points[0].at.as_secs(), points[29].at.as_secs()), (70, 99));
    }
}
