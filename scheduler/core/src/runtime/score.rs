//! `PreScore`, `Score`, normalising and weights
//! (kube-scheduler `RunPreScorePlugins`, `RunScorePlugins`).
//!
//! Takes the feasible nodes, gives a column per plugin and a total per node. The columns
//! are kept from cycle to cycle: scoring allocates nothing once they have grown.

use plimsoll_framework::{
    Cycle, CycleState, MAX_SCORE, MIN_SCORE, NodeId, NodeScore, PreScoreOutcome, Rejection, Score,
};

use super::{Framework, Hook};
use crate::plugin_set::PluginSet;

/// Scores of one cycle; row `i` is the `i`-th feasible node.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    columns: Vec<Column>,
    used: usize,
    pub(crate) totals: Vec<i64>,
}

/// One plugin's scores.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) plugin: &'static str,
    pub(crate) weight: i64,
    pub(crate) raw: Vec<i64>,
    pub(crate) normalized: Vec<NodeScore>,
}

// === impl Scores ===

impl Scores {
    /// The columns of the plugins that scored.
    pub(crate) fn columns(&self) -> &[Column] {
        self.columns.get(..self.used).unwrap_or_default()
    }

    fn clear(&mut self, rows: usize) {
        self.used = 0;
        self.totals.clear();
        self.totals.resize(rows, 0);
    }

    fn next_column(&mut self, hook: &Hook<dyn Score>) -> &mut Column {
        if self.columns.len() == self.used {
            let (raw, normalized) = (Vec::new(), Vec::new());
            self.columns.push(Column {
                plugin: hook.name,
                weight: hook.weight,
                raw,
                normalized,
            });
        }
        let column = &mut self.columns[self.used];
        self.used += 1;
        column.plugin = hook.name;
        column.weight = hook.weight;
        column.raw.clear();
        column.normalized.clear();
        column
    }
}

// === impl Framework ===

impl Framework {
    /// Scores the nodes `feasible` into `scores`. Without any `Score` every node gets 1.
    ///
    /// # Errors
    /// Any rejection by a plugin, as an internal error: the attempt fails.
    pub(crate) fn score_all(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
        scores: &mut Scores,
    ) -> Result<(), Rejection> {
        scores.clear(feasible.len());
        let skip = self.pre_score(cycle, state, feasible)?;
        if !self.has_scores() {
            scores.totals.fill(1);
            return Ok(());
        }
        for hook in self.score.iter().filter(|hook| !skip.contains(hook.plugin)) {
            let column = scores.next_column(hook);
            fill(hook, cycle, state, feasible, column)?;
        }
        for column in scores.columns.iter().take(scores.used) {
            for (total, score) in scores.totals.iter_mut().zip(&column.normalized) {
                *total = total.saturating_add(score.score.saturating_mul(column.weight));
            }
        }
        Ok(())
    }

    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
    ) -> Result<PluginSet, Rejection> {
        let mut skip = PluginSet::EMPTY;
        for hook in &self.pre_score {
            match hook.run.pre_score(cycle, state, feasible) {
                Ok(PreScoreOutcome::Ready) => {}
                Ok(PreScoreOutcome::Skip) => skip.insert(hook.plugin),
                Err(rejection) => {
                    return Err(hook.fault(&rejection, "running PreScore plugin"));
                }
            }
        }
        Ok(skip)
    }
}

fn fill(
    hook: &Hook<dyn Score>,
    cycle: &Cycle<'_>,
    state: &CycleState,
    feasible: &[NodeId],
    column: &mut Column,
) -> Result<(), Rejection> {
    let failed = |doing: &str, rejection: &Rejection| {
        let text = format!(
            "{doing}: plugin \"{}\" failed with: {}",
            hook.name,
            rejection.message()
        );
        Rejection::error(text).by(hook.name)
    };
    for node in feasible {
        let Some(info) = cycle.snapshot.get(*node) else {
            continue;
        };
        let score = hook.run.score(cycle, state, info);
        let score = score.map_err(|fault| failed("running Score plugins", &fault))?;
        column.raw.push(score);
        column.normalized.push(NodeScore { node: *node, score });
    }
    let normalized = hook.run.normalize(cycle, state, &mut column.normalized);
    normalized.map_err(|fault| failed("running Normalize on Score plugins", &fault))?;
    let invalid = column
        .normalized
        .iter()
        .find(|score| !in_range(score.score));
    invalid.map_or(Ok(()), |found| Err(out_of_range(hook.name, found.score)))
}

fn in_range(score: i64) -> bool {
    (MIN_SCORE..=MAX_SCORE).contains(&score)
}

fn out_of_range(plugin: &'static str, score: i64) -> Rejection {
    let text = format!(
        "applying score defaultWeights on Score plugins: plugin \"{plugin}\" returns an invalid \
         score {score}, it should in the range of [{MIN_SCORE}, {MAX_SCORE}] after normalizing"
    );
    Rejection::error(text).by(plugin)
}
