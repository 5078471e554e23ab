//! Which nodes can take the pod (kube-scheduler `findNodesThatFitPod`).
//!
//! Takes a cycle after `PreFilter`, gives the nodes that pass, those that pass softly, and
//! the rejection of each other node that was judged. The lists are kept from cycle to
//! cycle: in the plain case nothing is allocated per node.

use plimsoll_config::NodesToScore;
use plimsoll_framework::{Cycle, CycleState, FilterOutcome, Handle, NodeId, Rejection};

use crate::decision::OverCap;
use crate::runtime::judge::Judge;

/// Fewest nodes a search stops at (kube-scheduler `minFeasibleNodesToFind`).
const MIN_FEASIBLE: usize = 100;
/// Least share of nodes of kube-scheduler's own rule, in percent
/// (`minFeasibleNodesPercentageToFind`).
const MIN_ADAPTIVE_PERCENT: usize = 5;

/// What the search found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) feasible: Vec<NodeId>,
    /// Nodes that pass only if none passes outright.
    pub(crate) soft: Vec<SoftNode>,
    pub(crate) rejected: Vec<(NodeId, Rejection)>,
    /// How many others extenders struck out without a word.
    pub(crate) struck: usize,
}

/// A node over a soft line.
#[derive(Debug, Clone)]
pub(crate) struct SoftNode {
    pub(crate) node: NodeId,
    pub(crate) over: OverCap,
}

/// How far and from where to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// How many feasible nodes are enough.
    pub(crate) enough: usize,
    /// Where in the order to begin.
    pub(crate) start: usize,
}

// === impl OverCap ===

impl OverCap {
    /// The same as a filter says it.
    pub(crate) fn as_outcome(&self) -> FilterOutcome {
        FilterOutcome::Soft {
            excess: self.excess,
            reason: self.reason.clone(),
            detail: self.detail.clone(),
        }
    }
}

// === impl Found ===

impl Found {
    pub(crate) fn clear(&mut self) {
        self.feasible.clear();
        self.soft.clear();
        self.rejected.clear();
        self.struck = 0;
    }

    /// How many nodes were judged.
    pub(crate) fn evaluated(&self) -> usize {
        self.feasible.len() + self.soft.len() + self.rejected.len() + self.struck
    }

    /// Judges the nodes of `candidates` from `extent.start` on, around the end, until
    /// enough pass.
    ///
    /// # Errors
    /// An internal error of a plugin: the attempt fails.
    pub(crate) fn search(
        &mut self,
        judge: &Judge<'_>,
        cycle: &Cycle<'_>,
        state: &CycleState,
        candidates: &[NodeId],
        extent: Extent,
    ) -> Result<(), Rejection> {
        let start = extent.start.min(candidates.len());
        let (before, after) = candidates.split_at(start);
        for id in after.iter().chain(before) {
            if self.feasible.len() >= extent.enough {
                break;
            }
            self.judge_one(judge, cycle, state, *id)?;
        }
        Ok(())
    }

    /// Judges one node.
    ///
    /// # Errors
    /// An internal error of a plugin.
    pub(crate) fn judge_one(
        &mut self,
        judge: &Judge<'_>,
        cycle: &Cycle<'_>,
        state: &CycleState,
        id: NodeId,
    ) -> Result<(), Rejection> {
        let Some(node) = cycle.snapshot.get(id) else {
            return Ok(());
        };
        self.keep(id, judge.filter(cycle, state, node))
    }

    /// Keeps the verdict on one node.
    ///
    /// # Errors
    /// It is an internal error.
    pub(crate) fn keep(
        &mut self,
        id: NodeId,
        verdict: Result<FilterOutcome, Rejection>,
    ) -> Result<(), Rejection> {
        match verdict {
            Ok(FilterOutcome::Pass) => self.feasible.push(id),
            Ok(FilterOutcome::Soft {
                excess,
                reason,
                detail,
            }) => {
                let over = OverCap {
                    reason,
                    detail,
                    excess,
                };
                self.soft.push(SoftNode { node: id, over });
            }
            Err(rejection) if rejection.is_rejected() => self.rejected.push((id, rejection)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The soft nodes that are least over their line: equals of them all.
    pub(crate) fn least_soft(&self) -> Vec<&SoftNode> {
        let least = self
            .soft
            .iter()
            .map(|soft| soft.over.excess)
            .min_by(f64::total_cmp);
        let Some(least) = least else {
            return Vec::new();
        };
        self.soft
            .iter()
            .filter(|soft| soft.over.excess.total_cmp(&least).is_eq())
            .collect()
    }
}

/// How many feasible nodes of `nodes` are enough (kube-scheduler
/// `numFeasibleNodesToFind`). `Differs:` where the configuration says nothing, all are.
pub(crate) fn enough(nodes: usize, rule: NodesToScore, has_scores: bool) -> usize {
    let percent = match rule {
        _ if !has_scores => return 1,
        NodesToScore::All => return nodes,
        NodesToScore::Percent(percent) => usize::from(percent),
        NodesToScore::Adaptive => 50_usize
            .saturating_sub(nodes / 125)
            .max(MIN_ADAPTIVE_PERCENT),
    };
    if nodes < MIN_FEASIBLE {
        nodes
    } else {
        (nodes * percent / 100).max(MIN_FEASIBLE)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_config::NodesToScore::{Adaptive, All, Percent};

    use super::enough;

    #[test]
    fn all_nodes_are_looked_at_unless_the_file_says_otherwise() {
        assert_eq!(enough(5_000, All, true), 5_000);
        assert_eq!(enough(0, All, true), 0);
    }

    #[test]
    fn a_percentage_is_of_all_nodes_and_never_means_fewer_than_a_hundred() {
        let counts = [(99, 5, 99), (300, 5, 100), (300, 50, 150), (5_000, 10, 500)];
        for (nodes, percent, expected) in counts {
            assert_eq!(
                enough(nodes, Percent(percent), true),
                expected,
                "{nodes} {percent}"
            );
        }
    }

    #[test]
    fn the_adaptive_share_is_that_of_kube_scheduler() {
        let counts = [
            (50, 50),
            (100, 100),
            (300, 144),
            (1_000, 420),
            (5_000, 500),
            (6_000, 300),
        ];
        for (nodes, expected) in counts {
            assert_eq!(enough(nodes, Adaptive, true), expected, "{nodes}");
        }
    }

    #[test]
    fn one_node_is_enough_where_nothing_is_scored() {
        assert_eq!(enough(5_000, All, false), 1);
    }
}
