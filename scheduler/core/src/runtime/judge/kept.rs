//! `Filter` in two parts: what may be kept of a node, and what is asked each time.
//!
//! Both together say of a node what all filters in their order say.

use plimsoll_framework::{Cycle, CycleState, Filter, FilterOutcome, NodeInfo, Rejection};

use super::{Judge, worse};
use crate::runtime::Hook;

/// What those filters say of a node whose words are kept.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) said: Result<FilterOutcome, Rejection>,
    /// The filter, by its place in the order, that rejects or is furthest over its line.
    pub(crate) at: u8,
}

// === impl Judge ===

impl<'a> Judge<'a> {
    /// Whether some filter has to be asked each time.
    pub(crate) fn has_live(&self) -> bool {
        self.asked(false).next().is_some()
    }

    /// Asks the filters whose words are kept.
    pub(crate) fn kept(&self, cycle: &Cycle<'_>, state: &CycleState, node: &NodeInfo) -> Word {
        let timed = self.probe.samples_node();
        let (mut outcome, mut worst) = (FilterOutcome::Pass, 0);
        for (place, hook) in self.asked(true) {
            match self.ask(hook, cycle, state, (node, timed)) {
                Ok(FilterOutcome::Pass) => {}
                Ok(soft @ FilterOutcome::Soft { .. }) => {
                    if is_worse(&soft, &outcome) {
                        (outcome, worst) = (soft, place);
                    }
                }
                Err(rejection) => {
                    return Word {
                        said: Err(rejection),
                        at: place,
                    };
                }
            }
        }
        Word {
            said: Ok(outcome),
            at: worst,
        }
    }

    /// Asks the others about a node that one of those rejects at `at`. `None`: no other that
    /// comes before rejects it too.
    pub(crate) fn rejected_before(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
        at: u8,
    ) -> Option<Rejection> {
        let timed = self.probe.samples_node();
        self.asked(false)
            .take_while(|(place, _)| *place < at)
            .find_map(|(_, hook)| self.ask(hook, cycle, state, (node, timed)).err())
    }

    /// Asks the others about a node of which those say `kept`, as of the place `at`.
    ///
    /// # Errors
    /// One of them rejects the node.
    pub(crate) fn live(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
        (kept, at): (FilterOutcome, u8),
    ) -> Result<FilterOutcome, Rejection> {
        let timed = self.probe.samples_node();
        let mut outcome = FilterOutcome::Pass;
        let mut kept = Some(kept);
        for (place, hook) in self.asked(false) {
            // Of two that are as far over their lines the first counts.
            if let Some(kept) = kept.take_if(|_| place > at) {
                outcome = worse(outcome, kept);
            }
            let said = self.ask(hook, cycle, state, (node, timed))?;
            outcome = worse(outcome, said);
        }
        Ok(worse(outcome, kept.unwrap_or(FilterOutcome::Pass)))
    }

    /// The filters of this cycle whose words are kept, or the others.
    fn asked(&self, kept: bool) -> impl Iterator<Item = (u8, &'a Hook<dyn Filter>)> {
        let skip = self.skip;
        let filters = self.framework.filter.iter().enumerate();
        filters
            .filter(move |(_, hook)| hook.depends.is_kept() == kept && !skip.contains(hook.plugin))
            .map(|(place, hook)| (place as u8, hook))
    }
}

fn is_worse(soft: &FilterOutcome, than: &FilterOutcome) -> bool {
    match (soft, than) {
        (FilterOutcome::Pass, _) => false,
        (FilterOutcome::Soft { .. }, FilterOutcome::Pass) => true,
        (FilterOutcome::Soft { excess: a, .. }, FilterOutcome::Soft { excess: b, .. }) => {
            a.total_cmp(b).is_gt()
        }
    }
}
