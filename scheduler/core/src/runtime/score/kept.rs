//! Scores that are kept for pods that are alike: only nodes that changed are scored again by
//! the plugins whose words may be kept; the others score every time.
//!
//! Takes the feasible nodes, gives the same columns and totals as scoring anew does.

use plimsoll_framework::{
    Cycle, CycleState, Depends, NodeId, NodeInfo, Normalizes, Point, Rejection, Score,
};

use super::{Column, Scores, fill_raw, in_range, normalize, out_of_range, score_one};
use crate::plugin_set::PluginSet;
use crate::probe::{Probe, status_of};
use crate::runtime::{Framework, Hook};

/// Most nodes that are scored again one by one: columns that are further behind are filled
/// anew, and one whose pods are never scored costs no memory.
const CHANGED_MAX: usize = 1_024;

/// What is kept between two cycles besides the columns.
#[derive(Debug, Default)]
pub(crate) struct KeptScores {
    /// By `Score` of the profile: raw scores by rank; empty for those that score every time.
    raw: Vec<Vec<Option<i64>>>,
    /// Ranks of the nodes that changed since the columns were filled.
    changed: Vec<u32>,
    /// For which nodes and plugins the columns are; `None`: of no use.
    filled_for: Option<(Vec<NodeId>, PluginSet)>,
}

/// The nodes to score: the feasible ones, all in their order, and the rank of each.
#[derive(Clone, Copy)]
pub(crate) struct Ranked<'a> {
    pub(crate) feasible: &'a [NodeId],
    pub(crate) order: &'a [NodeId],
    pub(crate) ranks: &'a [u32],
}

/// What every column is filled from.
struct Filling<'a> {
    cycle: &'a Cycle<'a>,
    state: &'a CycleState,
    nodes: Ranked<'a>,
    probe: &'a Probe,
}

// === impl KeptScores ===

impl KeptScores {
    /// Nothing is kept, for `nodes` nodes.
    pub(crate) fn clear(&mut self, framework: &Framework, nodes: usize) {
        self.raw.resize_with(framework.score.len(), Vec::new);
        for (raw, hook) in self.raw.iter_mut().zip(&framework.score) {
            raw.clear();
            if hook.depends.is_kept() {
                raw.resize(nodes, None);
            }
        }
        self.changed.clear();
        self.filled_for = None;
    }

    /// The node at `rank` changed.
    pub(crate) fn forget(&mut self, rank: usize) {
        for raw in &mut self.raw {
            if let Some(score) = raw.get_mut(rank) {
                *score = None;
            }
        }
        if self.changed.len() == CHANGED_MAX {
            self.filled_for = None;
        }
        if self.filled_for.is_none() {
            self.changed.clear();
            return;
        }
        self.changed.push(rank as u32);
    }

    /// Nodes have other images than before.
    pub(crate) fn forget_images(&mut self, framework: &Framework) {
        for (raw, hook) in self.raw.iter_mut().zip(&framework.score) {
            if hook.depends == Depends::Images && !raw.is_empty() {
                raw.fill(None);
                self.filled_for = None;
            }
        }
    }
}

// === impl Framework ===

impl Framework {
    /// Scores as [`Framework::score_all`] does, with what is kept.
    ///
    /// # Errors
    /// Any rejection by a plugin, as an internal error: the attempt fails.
    pub(crate) fn score_kept(
        &self,
        (cycle, state): (&Cycle<'_>, &mut CycleState),
        nodes: Ranked<'_>,
        (kept, scores): (&mut KeptScores, &mut Scores),
        probe: &Probe,
    ) -> Result<(), Rejection> {
        if !self.has_scores() {
            scores.level(nodes.feasible.len());
            return Ok(());
        }
        let skipped = self.pre_scored(cycle, state, nodes.feasible, probe);
        let filled_for = kept.filled_for.take();
        kept.changed.sort_unstable();
        kept.changed.dedup();
        let same = match (&skipped, &filled_for) {
            (Ok(skipped), Some((feasible, before))) => {
                before == skipped && feasible == nodes.feasible
            }
            _ => false,
        };
        if !same {
            scores.clear(nodes.feasible.len());
        }
        scores.skipped = skipped?;
        let begun = probe.begin();
        let filling = Filling {
            cycle,
            state,
            nodes,
            probe,
        };
        let filled = self.fill_kept(&filling, same, kept, scores);
        let status = status_of(&filled);
        probe.point(begun, &self.scheduler_name, Point::Score, status);
        filled?;
        kept.changed.clear();
        kept.filled_for = match filled_for {
            Some(filled_for) if same => Some(filled_for),
            _ => Some((nodes.feasible.to_vec(), scores.skipped)),
        };
        Ok(())
    }

    fn fill_kept(
        &self,
        filling: &Filling<'_>,
        same: bool,
        kept: &mut KeptScores,
        scores: &mut Scores,
    ) -> Result<(), Rejection> {
        let skip = scores.skipped;
        let mut sums_stand = same;
        let hooks = self.score.iter().zip(&mut kept.raw);
        let asked = hooks.filter(|(hook, _)| !skip.contains(hook.plugin));
        for (used, (hook, raw)) in asked.enumerate() {
            let (column, totals) = if same {
                (&mut scores.columns[used], &mut scores.totals[..])
            } else {
                scores.next_column(hook)
            };
            sums_stand &= match (hook.depends.is_kept(), same) {
                (true, true) => filling.mend(hook, raw, &kept.changed, (column, totals))?,
                (true, false) => filling.gather(hook, raw, column)?,
                (false, _) => filling.fill(hook, same, column)?,
            };
            let count = filling.nodes.feasible.len();
            filling
                .probe
                .evaluated(self.index, Point::Score, hook.plugin, count);
        }
        if !sums_stand {
            scores.sum_up();
        }
        Ok(())
    }
}

// === impl Filling ===

impl Filling<'_> {
    /// Fills a column from what is kept, and scores the nodes that nothing is kept of.
    fn gather(
        &self,
        hook: &Hook<dyn Score>,
        raw: &mut [Option<i64>],
        column: &mut Column,
    ) -> Result<bool, Rejection> {
        self.probe.begin_nodes();
        column.raw.clear();
        for node in self.nodes.feasible {
            let rank = self.nodes.ranks[node.index()] as usize;
            if let Some(info) = self.cycle.snapshot.get(*node) {
                column.raw.push(self.score_of(hook, &mut raw[rank], info)?);
            }
        }
        self.normalize(hook, column)?;
        Ok(false)
    }

    /// Fills a column of a plugin that scores every time. Whether it is as it was.
    fn fill(
        &self,
        hook: &Hook<dyn Score>,
        same: bool,
        column: &mut Column,
    ) -> Result<bool, Rejection> {
        let before = std::mem::take(&mut column.raw);
        let (at, nodes) = ((self.cycle, self.state), self.nodes.feasible);
        fill_raw(hook, at, nodes, column, self.probe)?;
        let same = same && hook.run.normalizes() != Normalizes::ByAnything && before == column.raw;
        if !same {
            self.normalize(hook, column)?;
        }
        Ok(same)
    }

    fn normalize(&self, hook: &Hook<dyn Score>, column: &mut Column) -> Result<(), Rejection> {
        let at = (self.cycle, self.state);
        normalize(hook, at, self.nodes.feasible, column, self.probe)
    }

    /// Scores the nodes at `changed` again. Whether `totals` are right then.
    fn mend(
        &self,
        hook: &Hook<dyn Score>,
        raw: &mut [Option<i64>],
        changed: &[u32],
        (column, totals): (&mut Column, &mut [i64]),
    ) -> Result<bool, Rejection> {
        self.probe.begin_nodes();
        let mut rows = Vec::new();
        for rank in changed {
            let id = self.nodes.order[*rank as usize];
            let (Some(row), Some(info)) = (self.row_of(*rank), self.cycle.snapshot.get(id)) else {
                continue;
            };
            let score = self.score_of(hook, &mut raw[*rank as usize], info)?;
            if column.raw[row] != score {
                column.raw[row] = score;
                rows.push(row);
            }
        }
        if rows.is_empty() {
            return Ok(true);
        }
        if hook.run.normalizes() != Normalizes::Not {
            self.normalize(hook, column)?;
            return Ok(false);
        }
        for row in rows {
            let score = column.raw[row];
            if !in_range(score) {
                return Err(out_of_range(hook.name, score));
            }
            let old = std::mem::replace(&mut column.normalized[row].score, score);
            let change = (score - old).saturating_mul(hook.weight);
            totals[row] = totals[row].saturating_add(change);
        }
        Ok(true)
    }

    fn score_of(
        &self,
        hook: &Hook<dyn Score>,
        kept: &mut Option<i64>,
        info: &NodeInfo,
    ) -> Result<i64, Rejection> {
        if let Some(score) = *kept {
            return Ok(score);
        }
        let score = score_one(hook, self.cycle, self.state, info, self.probe)?;
        *kept = Some(score);
        Ok(score)
    }

    /// The row of the node at `rank`; `None` for one that is not feasible.
    fn row_of(&self, rank: u32) -> Option<usize> {
        let Ranked {
            feasible, ranks, ..
        } = self.nodes;
        feasible
            .binary_search_by_key(&rank, |node| ranks[node.index()])
            .ok()
    }
}

#[cfg(test)]
mod tests;
