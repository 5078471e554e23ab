//! `PreScore`, `Score`, normalising and weights
//! (kube-scheduler `RunPreScorePlugins`, `RunScorePlugins`).
//!
//! Takes the feasible nodes, gives a column per plugin and a total per node. The columns
//! are kept from cycle to cycle: scoring allocates nothing once they have grown.

pub(crate) mod kept;

use plimsoll_framework::{
    Cycle, CycleState, MAX_SCORE, MIN_SCORE, NodeId, NodeInfo, NodeScore, Point, PreScoreOutcome,
    Rejection, Score,
};

use super::{Framework, Hook};
use crate::plugin_set::PluginSet;
use crate::probe::{Probe, SAMPLED_NODES, status_of};
use crate::timing::label;

/// How kube-scheduler's metrics name normalising, which is no point of its own.
const NORMALIZE: &str = "ScoreExtensionNormalize";

/// Scores of one cycle; row `i` is the `i`-th feasible node.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    columns: Vec<Column>,
    used: usize,
    /// Plugins whose `PreScore` said that there is nothing to tell nodes apart by.
    pub(crate) skipped: PluginSet,
    pub(crate) totals: Vec<i64>,
    /// What extenders added to the totals; empty where none did.
    pub(crate) added: Vec<i64>,
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

    /// Adds what extenders say of each row.
    pub(crate) fn add(&mut self, added: Vec<i64>) {
        for (total, more) in self.totals.iter_mut().zip(&added) {
            *total = total.saturating_add(*more);
        }
        self.added = added;
    }

    fn clear(&mut self, rows: usize) {
        self.added.clear();
        self.used = 0;
        self.skipped = PluginSet::EMPTY;
        self.totals.clear();
        self.totals.resize(rows, 0);
    }

    /// Without any `Score` every node is as good as the others.
    fn level(&mut self, rows: usize) {
        self.clear(rows);
        self.totals.fill(1);
    }

    fn next_column(&mut self, hook: &Hook<dyn Score>) -> (&mut Column, &mut [i64]) {
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
        column.clear();
        (column, &mut self.totals)
    }

    /// Makes the totals anew.
    fn sum_up(&mut self) {
        self.totals.fill(0);
        for column in self.columns.iter().take(self.used) {
            for (total, score) in self.totals.iter_mut().zip(&column.normalized) {
                *total = total.saturating_add(score.score.saturating_mul(column.weight));
            }
        }
    }
}

// === impl Column ===

impl Column {
    fn clear(&mut self) {
        self.raw.clear();
        self.normalized.clear();
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
        probe: &Probe,
    ) -> Result<(), Rejection> {
        if !self.has_scores() {
            scores.level(feasible.len());
            return Ok(());
        }
        scores.clear(feasible.len());
        scores.skipped = self.pre_scored(cycle, state, feasible, probe)?;
        let begun = probe.begin();
        let filled = self.fill_all(cycle, state, feasible, scores, probe);
        let status = status_of(&filled);
        probe.point(begun, &self.scheduler_name, Point::Score, status);
        filled?;
        scores.sum_up();
        Ok(())
    }

    fn pre_scored(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
        probe: &Probe,
    ) -> Result<PluginSet, Rejection> {
        let begun = probe.begin();
        let skip = self.pre_score(cycle, state, feasible, probe);
        let status = status_of(&skip);
        probe.point(begun, &self.scheduler_name, Point::PreScore, status);
        skip
    }

    fn fill_all(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        feasible: &[NodeId],
        scores: &mut Scores,
        probe: &Probe,
    ) -> Result<(), Rejection> {
        let skip = scores.skipped;
        for hook in self.score.iter().filter(|hook| !skip.contains(hook.plugin)) {
            let (column, _) = scores.next_column(hook);
            fill(hook, (cycle, state), feasible, column, probe)?;
            probe.evaluated(self.index, Point::Score, hook.plugin, feasible.len());
        }
        Ok(())
    }

    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
        probe: &Probe,
    ) -> Result<PluginSet, Rejection> {
        let mut skip = PluginSet::EMPTY;
        for hook in &self.pre_score {
            let outcome = probe.around(hook.name, Point::PreScore, || {
                hook.run.pre_score(cycle, state, feasible)
            });
            if !matches!(outcome, Ok(PreScoreOutcome::Skip)) {
                probe.evaluated(self.index, Point::PreScore, hook.plugin, 1);
            }
            match outcome {
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
    (cycle, state): (&Cycle<'_>, &CycleState),
    feasible: &[NodeId],
    column: &mut Column,
    probe: &Probe,
) -> Result<(), Rejection> {
    fill_raw(hook, (cycle, state), feasible, column, probe)?;
    normalize(hook, (cycle, state), feasible, column, probe)
}

/// Fills the raw scores alone.
fn fill_raw(
    hook: &Hook<dyn Score>,
    (cycle, state): (&Cycle<'_>, &CycleState),
    feasible: &[NodeId],
    column: &mut Column,
    probe: &Probe,
) -> Result<(), Rejection> {
    probe.begin_nodes();
    if probe.is_sampled() {
        // All at once below: what it costs is told by a few nodes, one at a time.
        for node in feasible.iter().take(SAMPLED_NODES as usize) {
            if let Some(info) = cycle.snapshot.get(*node) {
                score_one(hook, cycle, state, info, probe)?;
            }
        }
    }
    column.raw.clear();
    let scored = hook
        .run
        .score_nodes(cycle, state, feasible, &mut column.raw);
    scored.map_err(|fault| failed(hook, "running Score plugins", &fault))
}

fn score_one(
    hook: &Hook<dyn Score>,
    cycle: &Cycle<'_>,
    state: &CycleState,
    info: &NodeInfo,
    probe: &Probe,
) -> Result<i64, Rejection> {
    let timed = probe.samples_node();
    let begun = probe.begin_if(timed);
    let score = hook.run.score(cycle, state, info);
    if timed {
        probe.plugin(begun, hook.name, label(Point::Score), status_of(&score));
    }
    score.map_err(|fault| failed(hook, "running Score plugins", &fault))
}

/// Makes the normalised scores from the raw ones.
fn normalize(
    hook: &Hook<dyn Score>,
    (cycle, state): (&Cycle<'_>, &CycleState),
    feasible: &[NodeId],
    column: &mut Column,
    probe: &Probe,
) -> Result<(), Rejection> {
    let rows = feasible.iter().zip(&column.raw);
    let rows = rows.map(|(node, score)| NodeScore {
        node: *node,
        score: *score,
    });
    column.normalized.clear();
    column.normalized.extend(rows);
    let begun = probe.begin_if(probe.is_sampled());
    let normalized = hook.run.normalize(cycle, state, &mut column.normalized);
    probe.plugin(begun, hook.name, NORMALIZE, status_of(&normalized));
    normalized.map_err(|fault| failed(hook, "running Normalize on Score plugins", &fault))?;
    let invalid = column
        .normalized
        .iter()
        .find(|score| !in_range(score.score));
    invalid.map_or(Ok(()), |found| Err(out_of_range(hook.name, found.score)))
}

fn failed(hook: &Hook<dyn Score>, doing: &str, fault: &Rejection) -> Rejection {
    let text = format!(
        "{doing}: plugin \"{}\" failed with: {}",
        hook.name,
        fault.message()
    );
    Rejection::error(text).by(hook.name)
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
