//! `TaintToleration`: taints keep pods away, or make a node the worse choice.
//!
//! kube-scheduler `plugins/tainttoleration`. Filter: the taints with effect `NoSchedule` or
//! `NoExecute`. Score: the number of `PreferNoSchedule` taints not tolerated, reversed.

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, NodeScore, Normalizes,
    PluginSpec, Point, PreFilter, PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::taint::tolerated;
use plimsoll_objects::{Node, Pod, TaintEffect};

use crate::{hints, normalize, unread_args};

/// The plugin's name.
pub const NAME: &str = "TaintToleration";

const REASON: &str = "node(s) had untolerated taint(s)";

struct TaintToleration;

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[
            Point::PreFilter,
            Point::Filter,
            Point::PreScore,
            Point::Score,
        ],
        depends: Depends::Node,
        decode_args: unread_args::keep,
        build: |_| {
            let plugin = Arc::new(TaintToleration);
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

/// v1.37 has the point for deferred resizes, behind a gate that is off: it never skips.
impl PreFilter for TaintToleration {
    fn pre_filter(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for TaintToleration {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        if keeps_away(&node.node, cycle.pod) {
            return Err(Rejection::unresolvable(REASON));
        }
        Ok(FilterOutcome::Pass)
    }
}

/// kube-scheduler picks out the tolerations of `PreferNoSchedule` here. A toleration of
/// another effect matches no such taint, so there is nothing to prepare; it never skips.
impl PreScore for TaintToleration {
    fn pre_score(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for TaintToleration {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let taints = node.node.taints.iter();
        let against = taints.filter(|taint| {
            taint.effect == TaintEffect::PreferNoSchedule
                && !tolerated(&cycle.pod.spec.tolerations, taint)
        });
        Ok(against.count() as i64)
    }

    fn normalize(
        &self,
        _cycle: &Cycle<'_>,
        _state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        normalize::reversed(scores);
        Ok(())
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::ByScores
    }
}

impl EnqueueExtensions for TaintToleration {
    fn events(&self) -> Vec<ClusterEvent> {
        vec![
            ClusterEvent::new(
                EventResource::Node,
                Actions::ADD | Actions::UPDATE_NODE_TAINT,
            ),
            ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_TOLERATION),
        ]
    }

    /// A node wakes the pod when it was not tolerated (or not there) and now is.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Node {
                old,
                new: Some(new),
            } => {
                let was_away = old.is_none_or(|old| keeps_away(old, pod));
                hints::when(was_away && !keeps_away(new, pod))
            }
            _ => hints::own_change(pod, change, |_| true),
        }
    }
}

/// Whether a taint of `node` that `pod` does not tolerate forbids it.
pub(crate) fn keeps_away(node: &Node, pod: &Pod) -> bool {
    node.taints.iter().any(|taint| {
        taint.effect != TaintEffect::PreferNoSchedule && !tolerated(&pod.spec.tolerations, taint)
    })
}

#[cfg(test)]
mod tests;
