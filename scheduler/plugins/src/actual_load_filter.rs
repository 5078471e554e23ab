//! `ActualLoadFilter`: keeps pods off nodes that would carry too much, by measurement.
//!
//! Takes the load rows of the snapshot and the pod's estimate, judges the load of a node
//! *after* the pod against one threshold per resource. Not among the default plugins.
//!
//! - `soft` mode: a node over a line passes only if no node passes outright; those least
//!   over it are taken. Never causes preemption. `hard` mode: such a node is rejected.
//! - A node whose newest sample is older than `staleAfter`, or that never sent one, is not
//!   judged by its load: with `stale: ignore` it passes (a dead agent must not close its
//!   node for ever), with `refuse` it is rejected in both modes, and no preemption helps.
//!   The newest sample of an agent that reports as often as it says is never too old.
//! - A resource that is not measured, or whose capacity is unknown, rejects nobody.
//! - In a brown-out, and while load is switched off, every node passes.
//! - Pods of a `DaemonSet` pass: they belong to their node whatever it carries.

mod args;
mod change;
mod figures;
mod line;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends, EnqueueExtensions,
    EventResource, Filter, FilterOutcome, Hint, Hooks, LoadMode, NodeInfo, NodeLoad, PluginSpec,
    PodEstimate, Point, Rejection, SampleAge,
};
use plimsoll_objects::Pod;

use crate::hints;
use args::{ActualLoadFilterArgs, Mode, Stale};
use figures::figures;
use line::{Line, Over};

/// The plugin's name.
pub const NAME: &str = "ActualLoadFilter";

const REASON_STALE: &str = "node(s) without a fresh load sample";

struct ActualLoadFilter {
    args: ActualLoadFilterArgs,
    lines: Vec<Line>,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::Filter],
        depends: Depends::Load,
        decode_args: args::decode,
        build: |args| {
            let args = args.get::<ActualLoadFilterArgs>();
            let args = args.copied().unwrap_or_default();
            let lines = line::lines(&args.thresholds, args.statistic);
            let plugin = Arc::new(ActualLoadFilter { args, lines });
            Hooks::default().with_filter(&plugin).with_enqueue(&plugin)
        },
    }
}

impl Filter for ActualLoadFilter {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let exempt = self.args.exempt_daemons && cycle.pod.is_daemon();
        if exempt || cycle.snapshot.load_mode() != LoadMode::Live {
            return Ok(FilterOutcome::Pass);
        }
        let Some(row) = self.fresh(cycle.snapshot.load_row(node.id)) else {
            return self.without_sample(cycle.snapshot.load_row(node.id));
        };
        let extra = match cycle.snapshot.get(node.id) {
            // The node as it is, which is the case but for dry runs and nominated pods.
            Some(known) if std::ptr::eq(&raw const **known, node) => *cycle.estimate,
            Some(known) => change::add(cycle.estimate, change::of(known, node, row)),
            None => *cycle.estimate,
        };
        self.verdict(row, &extra)
    }
}

impl ActualLoadFilter {
    /// The row, if its sample is new enough to be judged by. One that is fresh for its
    /// agent's period always is: else a node of a slow agent would be judged now and not
    /// the next moment, and nothing would wake the pods that it rejected.
    fn fresh<'r>(&self, row: Option<&'r NodeLoad>) -> Option<&'r NodeLoad> {
        let age = row?.sample_age?;
        row.filter(|row| age <= self.args.stale_after || row.confidence >= 1.0)
    }

    fn without_sample(&self, row: Option<&NodeLoad>) -> Result<FilterOutcome, Rejection> {
        match self.args.stale {
            Stale::Ignore => Ok(FilterOutcome::Pass),
            Stale::Refuse => {
                let age = SampleAge::of(row.and_then(|row| row.sample_age));
                Err(Rejection::unresolvable(REASON_STALE).with_detail(age))
            }
        }
    }

    fn verdict(&self, row: &NodeLoad, extra: &PodEstimate) -> Result<FilterOutcome, Rejection> {
        let over = || self.lines.iter().filter_map(|line| line.over(row, extra));
        let Some(worst) = over().reduce(Over::worse) else {
            return Ok(FilterOutcome::Pass);
        };
        match self.args.mode {
            Mode::Soft => Ok(FilterOutcome::Soft {
                excess: worst.excess,
                reason: worst.reason.clone(),
                detail: Some(figures(row, &worst).into()),
            }),
            Mode::Hard => {
                let mut rejection = Rejection::unschedulable(worst.reason.clone());
                rejection.reasons = over().map(|over| over.reason.clone()).collect();
                Err(rejection.with_detail(figures(row, &worst)))
            }
        }
    }
}

impl EnqueueExtensions for ActualLoadFilter {
    fn events(&self) -> Vec<ClusterEvent> {
        let node = Actions::ADD | Actions::UPDATE_NODE_ALLOCATABLE | Actions::UPDATE_LOAD;
        let own = Actions::UPDATE_POD_SCALE_DOWN | Actions::UPDATE;
        vec![
            ClusterEvent::new(EventResource::Node, node),
            ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE),
            ClusterEvent::new(EventResource::TargetPod, own),
        ]
    }

    /// A fall of load wakes the pod if the node is under every line without it (the pod's
    /// own estimate is not at hand: it may wake in vain). A node without a fresh sample
    /// wakes it too: it is announced only when its sample is fresh again, when what is
    /// expected of it fell, or when nobody is judged by load any more.
    fn hint(
        &self,
        pod: &Pod,
        _event: ClusterEvent,
        change: &Change<'_>,
        _catalog: &Catalog,
    ) -> Hint {
        match change {
            Change::Load { load, .. } => {
                let judged = self.fresh(Some(load));
                hints::when(judged.is_none_or(|row| self.is_under(row)))
            }
            Change::Pod {
                old: Some(gone),
                new: None,
            } => hints::when(gone.spec.node_name.is_some()),
            Change::Pod { .. } => hints::own_change(pod, change, |_| true),
            Change::Node { .. } | Change::Object { .. } | Change::None => Hint::Queue,
        }
    }
}

impl ActualLoadFilter {
    /// Whether the node is under every line as it is.
    fn is_under(&self, row: &NodeLoad) -> bool {
        let nothing = PodEstimate::default();
        self.lines
            .iter()
            .all(|line| line.over(row, &nothing).is_none())
    }
}
