//! The node that the pod was promised, and what extenders say of nodes that passed.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_framework::{CycleState, NodeId};

use super::consult::Halt;
use super::decide::Deciding;
use super::find::Found;
use crate::extender::Stage;
use crate::runtime::judge::Judge;

impl Deciding<'_> {
    /// The promised node, if it passes outright. What else was found of it is not kept: all
    /// nodes are judged then.
    pub(super) fn promised_node(
        &self,
        judge: &Judge<'_>,
        state: &CycleState,
        found: &mut Found,
    ) -> Result<Option<NodeId>, Halt> {
        let Some(promised) = self.promised else {
            return Ok(None);
        };
        let judged = found.judge_one(judge, &self.cycle, state, promised);
        let mut passed = std::mem::take(&mut found.feasible);
        found.clear();
        if judged.is_err() || passed.is_empty() {
            return Ok(None);
        }
        let info = self.cycle.snapshot.get(promised);
        if let Some((consult, info)) = self.consult.zip(info) {
            let stage = Stage::Promised(Arc::clone(info.name()));
            let mut said = Vec::new();
            let asked = consult.filter(&stage, self.cycle.snapshot, &mut passed, &mut said);
            match asked {
                Ok(()) => {}
                // As in kube-scheduler, an error about that node is not a verdict on it.
                Err(Halt::Failed(_)) => return Ok(None),
                Err(halt) => return Err(halt),
            }
        }
        found.feasible = passed;
        Ok(found.feasible.first().copied())
    }

    /// Lets extenders strike nodes out; gives whether they did.
    pub(super) fn ask_about(&self, found: &mut Found) -> Result<bool, Halt> {
        let Some(consult) = self.consult else {
            return Ok(false);
        };
        let snapshot = self.cycle.snapshot;
        let (judged, rejected) = (found.evaluated(), found.rejected.len());
        consult.filter(
            &Stage::Feasible,
            snapshot,
            &mut found.feasible,
            &mut found.rejected,
        )?;
        if found.feasible.is_empty() && !found.soft.is_empty() {
            let mut soft: Vec<NodeId> = found.soft.iter().map(|soft| soft.node).collect();
            consult.filter(&Stage::Soft, snapshot, &mut soft, &mut found.rejected)?;
            let left: BTreeSet<NodeId> = soft.into_iter().collect();
            found.soft.retain(|one| left.contains(&one.node));
        }
        found.struck = judged.saturating_sub(found.evaluated());
        Ok(found.struck + found.rejected.len() > rejected)
    }
}
