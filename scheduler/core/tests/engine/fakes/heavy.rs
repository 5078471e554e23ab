//! A hard filter by load.

use std::cell::Cell;

use plimsoll_framework::{
    Actions, Catalog, Change, ClusterEvent, Cycle, CycleState, EnqueueExtensions, EventResource,
    Filter, FilterOutcome, Hint, LoadMode, NodeInfo, NodeLoad, Rejection,
};
use plimsoll_objects::Pod;

/// The share of cpu above which a node is rejected.
const LINE: f64 = 0.8;

thread_local! {
    static HINTS: Cell<usize> = const { Cell::new(0) };
}

/// How often [`Heavy`] was asked for a hint since the last call.
pub(crate) fn hints() -> usize {
    HINTS.replace(0)
}

/// A node over the line is rejected; pods that were wait for load to fall.
pub(super) struct Heavy;

fn is_over(load: &NodeLoad) -> bool {
    load.cpu.ratio_with(0.0).is_some_and(|ratio| ratio > LINE)
}

impl Filter for Heavy {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        _: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let live = cycle.snapshot.load_mode() == LoadMode::Live;
        if live && is_over(&cycle.snapshot.load(node.id)) {
            return Err(Rejection::unschedulable("node(s) over cpu load 0.8"));
        }
        Ok(FilterOutcome::Pass)
    }
}

impl EnqueueExtensions for Heavy {
    fn events(&self) -> Vec<ClusterEvent> {
        let node = Actions::ADD | Actions::UPDATE_LOAD;
        vec![ClusterEvent::new(EventResource::Node, node)]
    }

    fn hint(&self, _: &Pod, _: ClusterEvent, change: &Change<'_>, _catalog: &Catalog) -> Hint {
        HINTS.set(HINTS.get() + 1);
        match change {
            Change::Load { load, .. } if is_over(load) => Hint::Skip,
            _ => Hint::Queue,
        }
    }
}
