//! Counts the reports that no acknowledgement has covered yet. Takes what was sent and what
//! was acknowledged; says whether one more may leave.

use std::collections::VecDeque;

/// Largest number of reports on the way at once. A scheduler acknowledges each 8 reports or
/// 5 s, so two rounds of acknowledgements fit; a stalled one gets no longer backlog than
/// this to work through when it comes back.
pub(crate) const MAX_UNACKED: usize = 16;

/// Sequences of reports that were sent and not acknowledged, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    unacked: VecDeque<u64>,
}

impl Credit {
    /// Says whether one more report may leave.
    pub(crate) fn may_send(&self) -> bool {
        self.unacked.len() < MAX_UNACKED
    }

    /// Notes a report that left.
    pub(crate) fn sent(&mut self, sequence: u64) {
        self.unacked.push_back(sequence);
    }

    /// Notes that the report `sequence` arrived, and so all before it.
    pub(crate) fn acked(&mut self, sequence: u64) {
        while self
            .unacked
            .front()
            .is_some_and(|oldest| *oldest <= sequence)
        {
            self.unacked.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_reports_may_be_on_the_way_and_one_answer_frees_all_it_covers() {
        let mut credit = Credit::default();
        for sequence in 1..=16 {
            assert!(credit.may_send(), "report {sequence}");
            credit.sent(sequence * 10);
        }
        assert!(!credit.may_send());
        credit.acked(9);
        assert!(
            !credit.may_send(),
            "an answer to nothing that was sent frees nothing"
        );
        credit.acked(25);
        assert!(credit.may_send());
        assert_eq!(credit.unacked.len(), 14);
    }
}
