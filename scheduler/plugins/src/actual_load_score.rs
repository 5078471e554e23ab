//! `ActualLoadScore`: prefers nodes that really carry little, by measurement.
//!
//! Takes the load rows of the snapshot (measured, in flight, expected: one blend made by the
//! load model) and the pod's estimate, gives a score over all candidates at once: `PreScore`
//! computes, `Score` reads. The formulas are in `actual_load_score/maths.rs`.
//!
//! **What is unknown.** Missing is not zero, and it is not full either:
//! - a *resource* whose use or capacity is unknown on a node (a link without a known speed)
//!   is left out on that node: the node is taken to be as loaded in it as in the others;
//! - a *node* of which nothing is known, beside nodes that are known, is taken to carry the
//!   median of those: it is neither shunned nor flooded while agents are rolled out, and
//!   requests decide between it and its like. (Scoring it by requests alone would not do:
//!   the load part of a known node is 0 to 100 *within the candidates*, so that the numbers
//!   cannot be compared with those of a node that has no such part);
//! - where no candidate is known (load is switched off, or no agent runs), requests alone
//!   decide.
//!
//! **Strategies.** `spread` prefers the least loaded nodes, and among the equally loaded
//! those of which the least is requested. `pack` fills nodes up to a target and no further;
//! there requests speak for the fullest node, and only among nodes that are not over the
//! target: else a node over it could win by its requests.

mod args;
mod maths;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use plimsoll_framework::{
    Cycle, CycleState, Depends, Hooks, NodeId, NodeInfo, Normalizes, PluginSpec, Point, PreScore,
    PreScoreOutcome, Rejection, Score, score_one_by_one,
};

use crate::allocation::{WeightedResource, least_allocated, most_allocated};
use crate::resource_list::cpu_and_memory;
use args::{ActualLoadScoreArgs, Strategy};

/// The plugin's name.
pub const NAME: &str = "ActualLoadScore";

struct ActualLoadScore {
    args: ActualLoadScoreArgs,
    /// What the requests part looks at.
    requests: Vec<WeightedResource>,
}

/// The load part of a node's score.
#[derive(Debug, Clone, Copy)]
struct LoadPart {
    /// 0..=100.
    score: f64,
    /// Over the target of packing: requests then say nothing for it.
    over: bool,
}

/// The scores 0..=100 of one cycle by node index; 0 for nodes that are no candidates.
#[derive(Clone)]
struct Scores(Vec<u8>);

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[Point::PreScore, Point::Score],
        depends: Depends::Load,
        decode_args: args::decode,
        build: |args| {
            let args = args
                .get::<ActualLoadScoreArgs>()
                .copied()
                .unwrap_or_default();
            let plugin = Arc::new(ActualLoadScore {
                args,
                requests: cpu_and_memory(),
            });
            Hooks::default().with_pre_score(&plugin).with_score(&plugin)
        },
    }
}

impl PreScore for ActualLoadScore {
    fn pre_score(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        let load = self.load_parts(cycle, feasible);
        let mut scores = vec![0; cycle.snapshot.columns()];
        for (position, id) in feasible.iter().enumerate() {
            let Some(node) = cycle.snapshot.get(*id) else {
                continue;
            };
            let load = load.as_ref().map(|load| load[position]);
            let requests = match load {
                Some(LoadPart { over: true, .. }) => 0,
                Some(_) | None => self.request_score(cycle, node),
            };
            let load = load.map(|load| load.score);
            scores[id.index()] = maths::blend(load, requests, self.args.load_weight);
        }
        state.insert(Scores(scores));
        Ok(PreScoreOutcome::Ready)
    }
}

impl Score for ActualLoadScore {
    fn score(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let scores = state.get::<Scores>();
        let score = scores.and_then(|scores| scores.0.get(node.id.index()));
        score.map(|score| i64::from(*score)).ok_or_else(|| {
            Rejection::error(format!(
                "no load score was prepared for node {}",
                node.name()
            ))
        })
    }

    fn score_nodes(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        let Some(Scores(prepared)) = state.get::<Scores>() else {
            return score_one_by_one(self, cycle, state, nodes, scores);
        };
        for node in nodes {
            match prepared.get(node.index()) {
                Some(score) => scores.push(i64::from(*score)),
                None => return score_one_by_one(self, cycle, state, nodes, scores),
            }
        }
        Ok(())
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::Not
    }
}

impl ActualLoadScore {
    fn request_score(&self, cycle: &Cycle<'_>, node: &NodeInfo) -> i64 {
        let pod = &cycle.pod.spec.requests;
        match self.args.strategy {
            Strategy::Spread { .. } => least_allocated(&self.requests, node, pod),
            Strategy::Pack { .. } => most_allocated(&self.requests, node, pod),
        }
    }

    /// The load part by position in `feasible`; `None` where it is off, or nothing is known.
    fn load_parts(&self, cycle: &Cycle<'_>, feasible: &[NodeId]) -> Option<Vec<LoadPart>> {
        if self.args.load_weight == 0.0 {
            return None;
        }
        let loads = feasible.iter().map(|id| {
            let row = cycle.snapshot.load_row(*id)?;
            maths::node_load(row, cycle.estimate, &self.args.weights)
        });
        let loads: Vec<Option<f64>> = loads.collect();
        let parts = match self.args.strategy {
            Strategy::Spread {
                span_floor,
                tie_band,
            } => {
                let scores = maths::spread_scores(&loads, span_floor, tie_band)?;
                let part = |score| LoadPart { score, over: false };
                scores.into_iter().map(part).collect()
            }
            Strategy::Pack { target } => {
                let part = |load| LoadPart {
                    score: maths::pack_score(load, target),
                    over: maths::is_over(load, target),
                };
                maths::filled(&loads)?.into_iter().map(part).collect()
            }
        };
        Some(parts)
    }
}
