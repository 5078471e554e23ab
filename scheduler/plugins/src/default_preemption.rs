//! `DefaultPreemption`: a pod that no node takes may put pods of lower priority out.
//!
//! kube-scheduler `plugins/defaultpreemption` and `framework/preemption`. Takes the verdicts
//! on all nodes, tries on copies of those that a free place could mend which pods would have
//! to go, and names the node where that does the least harm. The engine puts them out.

mod args;
mod budgets;
mod dry_run;
mod message;
mod rank;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Code, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Handle, Hint, Hooks, NodeId, PluginSpec, Point, PostFilter, PostFilterOutcome,
    PreEnqueue, Preemption, Rejection,
};
use plimsoll_objects::Pod;

use args::DefaultPreemptionArgs;
use dry_run::{DryRun, Found};

/// The plugin's name.
pub const NAME: &str = "DefaultPreemption";

const NEVER: &str = "preemption: not eligible due to preemptionPolicy=Never.";
const PREEMPTING: &str = "waiting for the preemption for this pod to be finished";
const TERMINATING: &str =
    "preemption: not eligible due to a terminating pod on the nominated node.";

struct DefaultPreemption {
    args: DefaultPreemptionArgs,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreEnqueue, Point::PostFilter],
        depends: Depends::Anything,
        decode_args: args::decode,
        build: |args| {
            let args = args.get::<DefaultPreemptionArgs>().copied();
            let plugin = Arc::new(DefaultPreemption {
                args: args.unwrap_or_default(),
            });
            Hooks::default()
                .with_pre_enqueue(&plugin)
                .with_post_filter(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

/// Holds a pod while its victims are being told to go (`IsPodRunningPreemption`).
impl PreEnqueue for DefaultPreemption {
    fn pre_enqueue(&self, pod: &Pod, catalog: &Catalog) -> Result<(), Rejection> {
        if catalog.evictions.is_preempting(pod.uid()) {
            return Err(Rejection::unresolvable(PREEMPTING));
        }
        Ok(())
    }
}

impl PostFilter for DefaultPreemption {
    fn post_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        verdicts: &[(NodeId, Rejection)],
        engine: &dyn Handle,
    ) -> Result<PostFilterOutcome, Rejection> {
        check_eligible(cycle, verdicts)?;
        let mendable = verdicts
            .iter()
            .filter(|(_, rejection)| rejection.code == Code::Unschedulable);
        let nodes: Vec<NodeId> = mendable.map(|(node, _)| *node).collect();
        let dry_run = DryRun {
            cycle,
            state,
            engine,
        };
        let found = dry_run.search(&nodes, self.wanted(nodes.len()));
        outcome(cycle, found)
    }

    fn choose(
        &self,
        cycle: &Cycle<'_>,
        candidates: Vec<Preemption>,
    ) -> Result<PostFilterOutcome, Rejection> {
        let found = Found {
            candidates,
            ..Found::default()
        };
        outcome(cycle, found)
    }
}

impl EnqueueExtensions for DefaultPreemption {
    fn events(&self) -> Vec<ClusterEvent> {
        vec![ClusterEvent::new(
            EventResource::AssignedPod,
            Actions::DELETE,
        )]
    }

    /// What a victim's end is worth is for the plugins to say that turned the pod down.
    fn hint(
        &self,
        _pod: &Pod,
        _event: ClusterEvent,
        _change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        Hint::Skip
    }
}

impl DefaultPreemption {
    /// How many candidates are enough among `nodes` nodes.
    fn wanted(&self, nodes: usize) -> usize {
        let share = nodes.saturating_mul(self.args.min_candidate_nodes_percentage as usize) / 100;
        let least = self.args.min_candidate_nodes_absolute as usize;
        share.max(least).min(nodes)
    }
}

/// Whether the pod may put others out at all (`PodEligibleToPreemptOthers`).
fn check_eligible(cycle: &Cycle<'_>, verdicts: &[(NodeId, Rejection)]) -> Result<(), Rejection> {
    if cycle.pod.spec.never_preempts {
        return Err(Rejection::unschedulable(NEVER));
    }
    let Some(promised) = &cycle.pod.status.nominated_node else {
        return Ok(());
    };
    let Some(node) = cycle.snapshot.nodes().find(|node| node.name() == promised) else {
        return Ok(());
    };
    let verdict = verdicts.iter().find(|(id, _)| *id == node.id);
    if verdict.is_none_or(|(_, rejection)| rejection.code == Code::UnschedulableAndUnresolvable) {
        // The promise cannot come true any more: the pod may look elsewhere.
        return Ok(());
    }
    let mut victims = node.pods.iter().filter(|other| is_below(other, cycle.pod));
    if victims.any(|victim| victim.is_deleting() && victim.status.is_preempted) {
        return Err(Rejection::unschedulable(TERMINATING));
    }
    Ok(())
}

/// Whether `pod` may be put out for `preemptor`.
fn is_below(pod: &Pod, preemptor: &Pod) -> bool {
    pod.spec.priority < preemptor.spec.priority
}

/// The best candidate. `Differs:` of equals the first by name is taken; kube-scheduler takes
/// any of them.
fn outcome(cycle: &Cycle<'_>, found: Found) -> Result<PostFilterOutcome, Rejection> {
    let name_of = |id: NodeId| cycle.snapshot.get(id).map(|node| node.name());
    let mut tied = rank::best(&found.candidates, cycle.now);
    tied.sort_by_key(|candidate| name_of(candidate.node));
    let Some(best) = tied.first() else {
        return match found.fault() {
            Some(fault) => Err(fault),
            None => Ok(PostFilterOutcome::Withdraw {
                reason: Some(message::nothing_helps(cycle.snapshot.len(), &found.rejected).into()),
            }),
        };
    };
    let (node, victims) = (best.node, best.victims.clone());
    let name = name_of(node).map_or("", |name| name);
    let reason = message::found(name, victims.len());
    let tied = tied.iter().map(|candidate| candidate.node).collect();
    Ok(PostFilterOutcome::Nominate {
        node,
        victims,
        reason: Some(reason.into()),
        tied,
        candidates: found.candidates,
    })
}
