//! `VolumeBinding`: the pod's claims must have volumes that its node can reach, or get them.
//!
//! kube-scheduler `plugins/volumebinding`. `PreFilter` sorts the claims and prepares the
//! search for volumes and capacity; `Filter` and `Score` search by the node's labels alone;
//! `Reserve` gives the objects as they are to be; `PreBind` writes them and waits until the
//! volume controller has bound every claim.

mod args;
mod assume;
mod bind;
mod claims;
mod find;
mod pinned;
mod plan;
mod provision;
mod score;
mod search;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, NodeId, NodeInfo, Normalizes, ObjectWrite,
    PluginSpec, Point, PreBind, PreBindOutcome, PreBindStep, PreFilter, PreFilterOutcome, PreScore,
    PreScoreOutcome, Rejection, Reserve, Score, score_one_by_one,
};
use plimsoll_objects::{Object, Pod};

use self::args::VolumeBindingArgs;
use self::bind::Binding;
use self::plan::Plan;
use self::score::Scorer;

/// The plugin's name.
pub const NAME: &str = "VolumeBinding";

struct VolumeBinding {
    args: VolumeBindingArgs,
    scorer: Scorer,
}

/// The plan of the cycle; cheap to clone.
#[derive(Debug, Clone)]
struct Planned(Arc<Plan>);

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[
            Point::PreFilter,
            Point::Filter,
            Point::PreScore,
            Point::Score,
            Point::Reserve,
            Point::PreBind,
        ],
        depends: Depends::Anything,
        decode_args: args::decode,
        build: |args| {
            let args = args
                .get()
                .cloned()
                .unwrap_or_else(VolumeBindingArgs::default);
            let scorer = Scorer::new(&args.shape);
            let plugin = Arc::new(VolumeBinding { args, scorer });
            Hooks::default()
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_reserve(&plugin)
                .with_pre_bind(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

impl PreFilter for VolumeBinding {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        let catalog = cycle.snapshot.catalog();
        if !claims::check(cycle.pod, catalog)? {
            return Ok(PreFilterOutcome::Skip);
        }
        let sorted = claims::sort(cycle.pod, catalog)?;
        if sorted.waits_for_controller {
            let text = "pod has unbound immediate PersistentVolumeClaims";
            return Err(Rejection::unresolvable(text));
        }
        state.insert(Planned(Arc::new(Plan::new(sorted, catalog))));
        Ok(PreFilterOutcome::Ready)
    }
}

impl Filter for VolumeBinding {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        match state.get() {
            Some(Planned(plan)) => {
                find::find(plan, cycle.snapshot.catalog(), &node.node).map(|_| FilterOutcome::Pass)
            }
            // Nobody planned: `PreFilter` is not in the profile.
            None => Err(Rejection::error("not found")),
        }
    }
}

/// Never skips, not even for a pod without claims: the score is then 0 on every node.
impl PreScore for VolumeBinding {
    fn pre_score(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for VolumeBinding {
    fn score(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let Some(Planned(plan)) = state.get().filter(|Planned(plan)| !plan.is_bound()) else {
            return Ok(0);
        };
        // A node that does not pass has no volumes and no score.
        let found = find::find(plan, cycle.snapshot.catalog(), &node.node);
        Ok(found.map_or(0, |volumes| self.scorer.score(&volumes)))
    }

    fn score_nodes(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        if state.get().is_none_or(|Planned(plan)| plan.is_bound()) {
            scores.resize(scores.len() + nodes.len(), 0);
            return Ok(());
        }
        score_one_by_one(self, cycle, state, nodes, scores)
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::Not
    }
}

impl Reserve for VolumeBinding {
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection> {
        let Some(Planned(plan)) = state.get().filter(|Planned(plan)| !plan.is_bound()) else {
            return Ok(Vec::new());
        };
        let found = find::find(plan, cycle.snapshot.catalog(), &node.node)?;
        let (objects, binding) = assume::assume(&found, &node.node);
        state.insert(binding);
        Ok(objects)
    }

    /// What is written stays, as in kube-scheduler: the next attempt finds it.
    fn unreserve(&self, _pod: &Pod, _state: &mut CycleState, _node: &str) -> Vec<ObjectWrite> {
        Vec::new()
    }
}

impl PreBind for VolumeBinding {
    fn pre_bind(
        &self,
        step: &PreBindStep<'_>,
        state: &mut CycleState,
    ) -> Result<PreBindOutcome, Rejection> {
        match state.get_mut::<Binding>() {
            Some(binding) => binding.step(step, self.args.bind_timeout),
            None => Ok(PreBindOutcome::Done),
        }
    }
}

impl EnqueueExtensions for VolumeBinding {
    fn events(&self) -> Vec<ClusterEvent> {
        let changed = Actions::ADD | Actions::UPDATE;
        let labelled = Actions::ADD | Actions::UPDATE_NODE_LABEL;
        vec![
            ClusterEvent::new(EventResource::StorageClass, changed),
            ClusterEvent::new(EventResource::PersistentVolumeClaim, changed),
            ClusterEvent::new(EventResource::PersistentVolume, changed),
            ClusterEvent::new(EventResource::Node, labelled),
            ClusterEvent::new(EventResource::CsiNode, changed),
            ClusterEvent::new(EventResource::CsiDriver, Actions::UPDATE),
            ClusterEvent::new(EventResource::CsiStorageCapacity, changed),
        ]
    }

    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        wake::hint(pod, change)
    }
}
