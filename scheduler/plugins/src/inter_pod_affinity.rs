//! `InterPodAffinity`: the pods that a pod wants, must have or must not have near it.
//!
//! kube-scheduler `plugins/interpodaffinity`, without its alpha gate
//! `InterPodAffinityHostnameFastPath`. Near means on nodes with the same value of a label.
//! What must be counts both ways: a pod is also kept away by the anti-affinity of pods that
//! are there. The snapshot has the placed pods by namespace and labels and by affinity, so
//! each term is judged once for all pods alike; a node is then judged by array reads.
//!
//! `matchLabelKeys` and `mismatchLabelKeys` are the API server's affair: it merges them into
//! the selector.

mod args;
mod counts;
mod domains;
mod newcomer;
mod preferred;
mod required;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, NodeScore, Normalizes,
    PluginSpec, Point, PreFilter, PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::Pod;

use self::args::InterPodAffinityArgs;
use self::newcomer::Newcomer;
use self::preferred::Sums;
use self::required::Required;

/// The plugin's name.
pub const NAME: &str = "InterPodAffinity";

struct InterPodAffinity {
    args: InterPodAffinityArgs,
}

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
        // Counts over the nodes, and the labels of namespaces.
        depends: Depends::Anything,
        decode_args: args::decode,
        build: |args| {
            let args = args.get().copied().unwrap_or_default();
            let plugin = Arc::new(InterPodAffinity { args });
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for InterPodAffinity {
    /// Skips if the pod has no required terms and no placed pod's keeps it away from any node.
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let newcomer = Newcomer::of(cycle);
        if let Some(mistake) = newcomer.mistake() {
            let text = format!("parsing pod: {mistake}");
            return Err(Rejection::unresolvable(text));
        }
        Ok(match Required::of(&newcomer) {
            Some(required) => {
                state.insert(required);
                PreFilterOutcome::Ready
            }
            None => PreFilterOutcome::Skip,
        })
    }

    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        change(cycle, state, (other, node.id), 1)
    }

    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        change(cycle, state, (other, node.id), -1)
    }
}

/// `by` pods such as `other` are thought to be on the node.
fn change(
    cycle: &Cycle<'_>,
    state: &mut CycleState,
    (other, node): (&Pod, NodeId),
    by: i64,
) -> Result<(), Rejection> {
    let required = state.get_mut::<Required>().ok_or_else(not_filtered)?;
    required.change(&Newcomer::of(cycle), (other, node), by);
    Ok(())
}

impl Filter for InterPodAffinity {
    fn filter(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let required = state.get::<Required>().ok_or_else(not_filtered)?;
        required.judge(node.id).map(|()| FilterOutcome::Pass)
    }
}

impl PreScore for InterPodAffinity {
    /// Skips if no term, of the pod or of a placed one, counts anywhere.
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        let newcomer = Newcomer::of(cycle);
        if self.args.ignore_preferred_terms_of_existing_pods && !newcomer.has_preferred() {
            return Ok(PreScoreOutcome::Skip);
        }
        if let Some(mistake) = newcomer.mistake() {
            return Err(Rejection::error(format!("failed to parse pod: {mistake}")));
        }
        Ok(
            match Sums::of(&newcomer, self.args.hard_pod_affinity_weight) {
                Some(sums) => {
                    state.insert(sums);
                    PreScoreOutcome::Ready
                }
                None => PreScoreOutcome::Skip,
            },
        )
    }
}

impl Score for InterPodAffinity {
    fn score(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let sums = state.get::<Sums>().ok_or_else(not_scored)?;
        Ok(sums.get(node.id))
    }

    fn normalize(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        state.get::<Sums>().ok_or_else(not_scored)?;
        preferred::normalize(scores);
        Ok(())
    }

    fn score_nodes(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        let sums = state.get::<Sums>().ok_or_else(not_scored)?;
        scores.extend(nodes.iter().map(|node| sums.get(*node)));
        Ok(())
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::ByScores
    }
}

impl EnqueueExtensions for InterPodAffinity {
    fn events(&self) -> Vec<ClusterEvent> {
        let of_pods = Actions::ADD | Actions::UPDATE_POD_LABEL | Actions::DELETE;
        let of_nodes = Actions::ADD | Actions::UPDATE_NODE_LABEL;
        vec![
            ClusterEvent::new(EventResource::AssignedPod, of_pods),
            ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_LABEL),
            ClusterEvent::new(EventResource::Node, of_nodes),
        ]
    }

    fn hint(&self, pod: &Pod, event: ClusterEvent, change: &Change<'_>, catalog: &Catalog) -> Hint {
        wake::hint(pod, event, change, catalog)
    }
}

/// Filter is configured and `PreFilter` is not: kube-scheduler's words.
fn not_filtered() -> Rejection {
    Rejection::error("error reading \"PreFilterInterPodAffinity\" from cycleState: not found")
}

/// Score is configured and `PreScore` is not: kube-scheduler's words.
fn not_scored() -> Rejection {
    Rejection::error("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found")
}
