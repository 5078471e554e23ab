//! Reports that lay in buffers on the way. Takes each sample with its delay; gives back those
//! that count. After a stall a newer report is right behind the old ones, so that these need
//! not be shown to anybody.

use std::time::Duration;

use plimsoll_load::Sample;

use crate::slots::with_pods_of;

/// A sample over so many periods old is late if it lay in buffers.
const LATE_PERIODS: u32 = 2;
/// Late reports in a row that are passed over. A stalled connection holds no more, since an
/// agent stops at so many unanswered, and what follows them is fresh. Later than that, it is
/// the way that is slow: old samples are then the best there are, and are taken as old.
const MAX_LATE_IN_A_ROW: u32 = 16;

/// Reports that were passed over for being late.
#[derive(Debug, Default)]
pub(super) struct Late {
    in_a_row: u32,
    /// What they said of pods counts: the agent says it once.
    newest: Option<Sample>,
}

impl Late {
    /// Gives the sample back if it counts; `delay` is how long it lay in buffers.
    pub(super) fn pass(&mut self, sample: Sample, delay: Duration) -> Option<Sample> {
        let sample = match self.newest.take() {
            Some(before) => with_pods_of(sample, before),
            None => sample,
        };
        let is_late = delay > sample.period && sample.age > sample.period * LATE_PERIODS;
        if is_late && self.in_a_row < MAX_LATE_IN_A_ROW {
            self.in_a_row += 1;
            self.newest = Some(sample);
            return None;
        }
        if !is_late {
            self.in_a_row = 0;
        }
        Some(sample)
    }
}
