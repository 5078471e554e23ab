//! What is said of all nodes, looked up in a table of verdicts that are kept.

use std::sync::Arc;

use plimsoll_framework::{CycleState, NodeId};

use super::Making;
use crate::cycle::decide::Deciding;
use crate::cycle::find::Found;
use crate::runtime::pre_filter::PreFiltered;
use crate::verdict::{NodeVerdict, Status};

impl Making<'_> {
    /// Whether a table says what is said of every node.
    pub(super) fn looked_up(&mut self, state: &CycleState, ready: &PreFiltered) -> bool {
        let Deciding {
            framework, cycle, ..
        } = &self.deciding;
        let judge = self.deciding.judge(ready.skip);
        let nodes = cycle.snapshot.len();
        let table = self.desk.turn_to(framework.index(), cycle.pod, nodes);
        let searched = table.map(|table| table.search(&self.deciding, &judge, state));
        if !matches!(searched, Some(Ok(()))) {
            self.desk.turn_away();
            return false;
        }
        self.found = self.desk.found().clone();
        let name = |id: NodeId| cycle.snapshot.get(id).map(|info| info.name());
        let Found {
            feasible,
            soft,
            rejected,
            // A verdict asks no extender.
            struck: _,
        } = &mut self.found;
        feasible.sort_by_key(|id| name(*id));
        soft.sort_by_key(|soft| name(soft.node));
        rejected.sort_by_key(|(id, _)| name(*id));
        let passed = feasible.iter().map(|id| (*id, Status::success()));
        let soft = soft.iter();
        let soft = soft.map(|soft| (soft.node, Status::soft(soft.over.reason.clone())));
        let rejected = rejected.iter();
        let rejected = rejected.map(|(id, rejection)| (*id, Status::of(rejection)));
        for (id, status) in passed.chain(soft).chain(rejected) {
            if let Some(name) = name(id) {
                let verdict = NodeVerdict::of(status);
                self.verdict.nodes.insert(Arc::clone(name), verdict);
            }
        }
        true
    }
}
