//! Soft constraints: the fewer matching pods in a node's domains, the better the node.
//!
//! Sums are made in the order and the precision of kube-scheduler's, so that equal inputs
//! give equal bits.

use std::sync::Arc;

use plimsoll_framework::snapshot::LabelColumn;
use plimsoll_framework::{Cycle, MAX_SCORE, NodeId, NodeScore};

use super::census::Census;
use super::constraint::{Constraint, HOST};
use super::ln::ln;

/// Marks the score of an ignored node while scores are normalised.
const INVALID_SCORE: i64 = -1;

/// What `PreScore` finds out.
#[derive(Debug, Clone)]
pub(super) struct SoftState {
    terms: Vec<Term>,
    /// By node's index: nodes that lack the key of a constraint, where that matters.
    ignored: Vec<bool>,
}

/// A constraint's part of the score.
#[derive(Debug, Clone)]
struct Term {
    column: Arc<LabelColumn>,
    counts: Counts,
    /// Makes up for the number of domains: the more there are, the fewer pods in each.
    weight: f64,
    /// `maxSkew - 1`: waters down small differences.
    base: f64,
}

#[derive(Debug, Clone)]
enum Counts {
    /// By node's index.
    PerNode(Arc<[u32]>),
    /// By number of the domain.
    PerDomain(Vec<i64>),
}

// === impl SoftState ===

impl SoftState {
    /// Counts for the `feasible` nodes. Unless `require_all`, a node without a key counts as
    /// one whose label is empty.
    pub(super) fn new(
        cycle: &Cycle<'_>,
        constraints: &[Constraint],
        feasible: &[NodeId],
        require_all: bool,
    ) -> Self {
        let census = Census::new(cycle, constraints);
        let mut ignored = vec![false; cycle.snapshot.columns()];
        let mut scored = Vec::with_capacity(feasible.len());
        for node in feasible {
            if require_all && !census.has_all_keys(*node) {
                if let Some(slot) = ignored.get_mut(node.index()) {
                    *slot = true;
                }
            } else {
                scored.push(*node);
            }
        }
        let all = census.nodes(require_all);
        let counts = census.matching();
        let terms = constraints.iter().zip(counts).enumerate();
        let terms = terms.map(|(index, (constraint, counts))| {
            let (counts, size) = if *constraint.key == *HOST {
                (Counts::PerNode(counts), scored.len())
            } else {
                per_domain(&census, index, (&all, &scored), &counts)
            };
            Term {
                column: Arc::clone(census.column(index)),
                counts,
                weight: ln((size + 2) as f64),
                base: f64::from(constraint.max_skew.wrapping_sub(1)),
            }
        });
        Self {
            terms: terms.collect(),
            ignored,
        }
    }

    /// The raw score: the more pods, the higher, that is, the worse.
    pub(super) fn score(&self, node: NodeId) -> i64 {
        if self.is_ignored(node) {
            return 0;
        }
        let mut score = 0.0_f64;
        for term in &self.terms {
            if let Some(domain) = term.column.get(node) {
                let count = match &term.counts {
                    Counts::PerNode(counts) => i64::from(counts[node.index()]),
                    Counts::PerDomain(counts) => counts[domain],
                };
                score += count as f64 * term.weight + term.base;
            }
        }
        score.round() as i64
    }

    /// Reverses the scores: fewest pods 100. Ignored nodes get 0.
    pub(super) fn normalize(&self, scores: &mut [NodeScore]) {
        let (mut min, mut max) = (i64::MAX, 0);
        for row in &mut *scores {
            if self.is_ignored(row.node) {
                row.score = INVALID_SCORE;
            } else {
                min = min.min(row.score);
                max = max.max(row.score);
            }
        }
        for row in scores {
            row.score = match row.score {
                INVALID_SCORE => 0,
                _ if max == 0 => MAX_SCORE,
                score => MAX_SCORE.wrapping_mul(max.wrapping_add(min).wrapping_sub(score)) / max,
            };
        }
    }

    fn is_ignored(&self, node: NodeId) -> bool {
        self.ignored.get(node.index()) == Some(&true)
    }
}

/// Pods per domain over `all` nodes, and the number of domains of the `scored` ones; the
/// others are not summed up.
fn per_domain(
    census: &Census<'_>,
    index: usize,
    (all, scored): (&[NodeId], &[NodeId]),
    counts: &[u32],
) -> (Counts, usize) {
    let column = census.column(index);
    // A missing label and an empty one are one domain.
    let missing = column.number("").unwrap_or(column.len());
    let domain = |node: NodeId| column.get(node).unwrap_or(missing);
    let mut is_scored = vec![false; column.len() + 1];
    for node in scored {
        is_scored[domain(*node)] = true;
    }
    let mut sums = vec![0_i64; column.len() + 1];
    for node in all {
        if is_scored[domain(*node)] && census.includes(index, *node) {
            sums[domain(*node)] += i64::from(counts[node.index()]);
        }
    }
    let size = is_scored.iter().filter(|is_scored| **is_scored).count();
    (Counts::PerDomain(sums), size)
}
