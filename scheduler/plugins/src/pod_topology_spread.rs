//! `PodTopologySpread`: the pods of a kind are to be spread evenly over domains of nodes.
//!
//! kube-scheduler `plugins/podtopologyspread`. Hard constraints are counted in `PreFilter`
//! and held against each node in `Filter`, soft ones in `PreScore` and `Score`. Pods are
//! counted by label set ([`plimsoll_framework::snapshot::PlacedSet`]), domains are numbers
//! in a column ([`plimsoll_framework::snapshot::LabelColumn`]): no pod's labels are looked
//! at in a cycle, and no node's.

mod args;
mod census;
mod constraint;

mod default_selector;
mod hard;
mod ln;
mod soft;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;

use plimsoll_framework::{
    Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions, Filter,
    FilterOutcome, Hint, Hooks, NodeId, NodeInfo, NodeScore, PluginSpec, Point, PreFilter,
    PreFilterOutcome, PreScore, PreScoreOutcome, Rejection, Score,
};
use plimsoll_objects::{Pod, WhenUnsatisfiable};

use self::args::PodTopologySpreadArgs;
use self::constraint::{Constraint, Defaults};
use self::hard::HardState;
use self::soft::SoftState;

/// The plugin's name.
pub const NAME: &str = "PodTopologySpread";

const REASON: &str = "node(s) didn't match pod topology spread constraints";
const REASON_NO_LABEL: &str =
    "node(s) didn't match pod topology spread constraints (missing required label)";

struct PodTopologySpread {
    defaults: Defaults,
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
        // Counts of pods, and services and owners of pods for the default constraints.
        depends: Depends::Anything,
        decode_args: args::decode,
        build: |args| {
            let args = args.get::<PodTopologySpreadArgs>();
            let plugin = Arc::new(PodTopologySpread {
                defaults: args.map_or_else(Defaults::system, Defaults::of),
            });
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for PodTopologySpread {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let constraints = self
            .hard(cycle.pod, cycle.snapshot.catalog())
            .map_err(|text| Rejection::error(format!("get constraints from pod: {text}")))?;
        if constraints.is_empty() {
            return Ok(PreFilterOutcome::Skip);
        }
        state.insert(HardState::new(cycle, constraints));
        Ok(PreFilterOutcome::Ready)
    }

    fn add_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        let state = state.get_mut::<HardState>().ok_or_else(not_filtered)?;
        state.update(cycle.pod, other, node, 1);
        Ok(())
    }

    fn remove_pod(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        other: &Pod,
        node: &NodeInfo,
    ) -> Result<(), Rejection> {
        let state = state.get_mut::<HardState>().ok_or_else(not_filtered)?;
        state.update(cycle.pod, other, node, -1);
        Ok(())
    }
}

impl Filter for PodTopologySpread {
    fn filter(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let state = state.get::<HardState>().ok_or_else(not_filtered)?;
        state.judge(node.id).map(|()| FilterOutcome::Pass)
    }
}

impl PreScore for PodTopologySpread {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        if cycle.snapshot.is_empty() {
            return Ok(PreScoreOutcome::Skip);
        }
        let constraints = self
            .soft(cycle.pod, cycle.snapshot.catalog())
            .map_err(|text| Rejection::error(format!("calculating preScoreState: {text}")))?;
        if constraints.is_empty() {
            return Ok(PreScoreOutcome::Skip);
        }
        // With kube-scheduler's own constraints a node without a zone still has a host.
        let own = !constraint::of(cycle.pod).is_empty();
        let require_all = own || !self.defaults.is_system();
        let soft = SoftState::new(cycle, &constraints, feasible, require_all);
        state.insert(soft);
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for PodTopologySpread {
    fn score(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let state = state.get::<SoftState>().ok_or_else(not_scored)?;
        Ok(state.score(node.id))
    }

    fn normalize(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        let state = state.get::<SoftState>().ok_or_else(not_scored)?;
        state.normalize(scores);
        Ok(())
    }

    fn score_nodes(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        let state = state.get::<SoftState>().ok_or_else(not_scored)?;
        scores.extend(nodes.iter().map(|node| state.score(*node)));
        Ok(())
    }
}

impl EnqueueExtensions for PodTopologySpread {
    fn events(&self) -> Vec<ClusterEvent> {
        wake::events()
    }

    /// A pod whose constraints have a mistake is woken by everything.
    fn hint(&self, pod: &Pod, event: ClusterEvent, change: &Change<'_>, catalog: &Catalog) -> Hint {
        wake::hint(pod, event, change, |pod| self.hard(pod, catalog))
    }
}

/// `Filter` ran without `PreFilter`.
fn not_filtered() -> Rejection {
    Rejection::error("reading \"PreFilterPodTopologySpread\" from cycleState: not found")
}

/// `Score` ran without `PreScore`.
fn not_scored() -> Rejection {
    Rejection::error("error reading \"PreScorePodTopologySpread\" from cycleState: not found")
}

impl PodTopologySpread {
    fn hard(&self, pod: &Pod, catalog: &Catalog) -> Result<Vec<Constraint>, String> {
        let action = WhenUnsatisfiable::DoNotSchedule;
        self.defaults
            .resolve(pod, action, catalog)
            .map_err(|text| format!("obtaining pod's hard topology spread constraints: {text}"))
    }

    fn soft(&self, pod: &Pod, catalog: &Catalog) -> Result<Vec<Constraint>, String> {
        let action = WhenUnsatisfiable::ScheduleAnyway;
        self.defaults
            .resolve(pod, action, catalog)
            .map_err(|text| format!("obtaining pod's soft topology spread constraints: {text}"))
    }
}
