//! Filters and scores.

use std::sync::Arc;

use plimsoll_framework::{
    Cycle, CycleState, Filter, FilterOutcome, NodeInfo, NodeScore, PreFilter, PreFilterOutcome,
    Rejection, Score,
};

use super::{label, note};

/// Requested cpu must fit.
pub(super) struct Fit;

impl Filter for Fit {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let wanted = cycle.pod.spec.requests.filter.cpu;
        if node.requested.cpu + wanted > node.allocatable().cpu {
            return Err(Rejection::unschedulable("Insufficient cpu"));
        }
        Ok(FilterOutcome::Pass)
    }
}

/// Pod label `needs` must equal node label `has`.
pub(super) struct Match;

impl PreFilter for Match {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(match label(cycle.pod, "needs") {
            None => PreFilterOutcome::Skip,
            Some(_) => PreFilterOutcome::Ready,
        })
    }
}

impl Filter for Match {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        note(format!("match {}", node.name()));
        let has = node.node.meta.labels.get("has").map(|value| &**value);
        if has == label(cycle.pod, "needs") {
            Ok(FilterOutcome::Pass)
        } else {
            Err(Rejection::unresolvable("node(s) didn't match"))
        }
    }
}

/// A pod label names the nodes that can do, joined by `_`.
pub(super) struct Only(pub(super) &'static str);

impl PreFilter for Only {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let Some(names) = label(cycle.pod, self.0) else {
            return Ok(PreFilterOutcome::Ready);
        };
        let wanted = |node: &&Arc<NodeInfo>| names.split('_').any(|name| name == &**node.name());
        let nodes = cycle.snapshot.nodes().filter(wanted).map(|node| node.id);
        Ok(PreFilterOutcome::Nodes(nodes.collect()))
    }
}

/// A node's label `score`, doubled by normalising.
pub(super) struct Label;

impl Score for Label {
    fn score(&self, _: &Cycle<'_>, _: &CycleState, node: &NodeInfo) -> Result<i64, Rejection> {
        let score = node.node.meta.labels.get("score");
        Ok(score.map_or(0, |score| score.parse().expect("a number")))
    }

    fn normalize(
        &self,
        _: &Cycle<'_>,
        _: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        for score in scores {
            score.score *= 2;
        }
        Ok(())
    }
}
