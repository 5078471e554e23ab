//! The scores of a verdict: every column of every node that passes.

use std::sync::Arc;

use plimsoll_framework::CycleState;

use super::Making;
use crate::cycle::decide::Deciding;
use crate::verdict::ScorePlugin;

impl Making<'_> {
    pub(super) fn score(&mut self, state: &mut CycleState) {
        let Deciding {
            framework,
            cycle,
            probe,
            ..
        } = self.deciding;
        let scored = if let Some(table) = self.desk.table() {
            table.score(&self.deciding, state)
        } else {
            let (feasible, scores) = (&self.found.feasible, &mut self.desk.scores);
            framework.score_all(&cycle, state, feasible, scores, probe)
        };
        let scores = self.desk.scores();
        self.verdict.skipped_score = framework.sorted_names(scores.skipped);
        if let Err(error) = scored {
            // Where the cycle does not score, it does not see that it would fail.
            if self.verdict.unscored.is_none() {
                self.verdict.error = Some(error.message());
            }
            return;
        }
        let columns = scores.columns();
        self.verdict.score_plugins = columns
            .iter()
            .map(|column| ScorePlugin {
                name: column.plugin,
                weight: column.weight,
            })
            .collect();
        let best = scores.totals.iter().max().copied();
        let feasible = match self.desk.table_found() {
            Some(found) => &found.feasible,
            None => &self.found.feasible,
        };
        for (row, (node, total)) in feasible.iter().zip(&scores.totals).enumerate() {
            let Some(info) = cycle.snapshot.get(*node) else {
                continue;
            };
            if Some(*total) == best {
                self.verdict.top.push(Arc::clone(info.name()));
            }
            if let Some(verdict) = self.verdict.nodes.get_mut(info.name()) {
                verdict.raw = columns.iter().map(|column| column.raw[row]).collect();
                let normalized = columns.iter().map(|column| column.normalized[row].score);
                verdict.normalized = normalized.collect();
                verdict.total = Some(*total);
            }
        }
        self.verdict.top.sort_unstable();
    }
}
