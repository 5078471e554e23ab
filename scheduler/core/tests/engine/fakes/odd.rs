//! A plugin that misbehaves.

use std::time::Duration;

use plimsoll_framework::{
    Cycle, CycleState, Filter, FilterOutcome, NodeId, NodeInfo, NodeScore, PreFilter,
    PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};

use super::label;

/// Misbehaves as the pod label `odd` says, or on the node that `breaks-on` names; `soft` and `retry-at` are node and pod labels.
pub(super) struct Odd;

impl PreFilter for Odd {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        match label(cycle.pod, "odd") {
            Some("pre-filter-error") => Err(Rejection::error("broken")),
            Some("pre-filter-rejects") => Err(Rejection::unschedulable("no such claim")),
            _ => Ok(PreFilterOutcome::Ready),
        }
    }
}

impl Filter for Odd {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let breaks_here = label(cycle.pod, "breaks-on") == Some(&**node.name());
        if breaks_here || label(cycle.pod, "odd") == Some("filter-error") {
            return Err(Rejection::error("broken"));
        }
        if let Some(at) = label(cycle.pod, "not-before") {
            let at = Duration::from_secs(at.parse().expect("seconds"));
            if cycle.now.mono < at {
                return Err(Rejection::unschedulable("too early").with_retry_at(at));
            }
        }
        Ok(match node.node.meta.labels.get("soft") {
            None => FilterOutcome::Pass,
            Some(excess) => FilterOutcome::Soft {
                excess: excess.parse().expect("a number"),
                reason: "node(s) over a soft line".into(),
                detail: None,
            },
        })
    }
}

impl PreScore for Odd {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
        _: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        match label(cycle.pod, "odd") {
            Some("pre-score-error") => Err(Rejection::unschedulable("broken")),
            Some(_) => Ok(PreScoreOutcome::Ready),
            None => Ok(PreScoreOutcome::Skip),
        }
    }
}

impl Score for Odd {
    fn score(&self, cycle: &Cycle<'_>, _: &CycleState, _: &NodeInfo) -> Result<i64, Rejection> {
        match label(cycle.pod, "odd") {
            Some("score-error") => Err(Rejection::unschedulable("broken")),
            Some("score-101") => Ok(101),
            _ => Ok(100),
        }
    }

    fn normalize(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        _: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        match label(cycle.pod, "odd") {
            Some("normalize-error") => Err(Rejection::unschedulable("broken")),
            _ => Ok(()),
        }
    }
}
