//! What would be good: weights by topology pair, summed up before Score and read by it.
//!
//! Each placed pod near a node adds the weights of the newcomer's preferred terms that mean
//! it, and of its own terms that mean the newcomer: preferred ones, and required affinity at
//! a weight of the args. Anti-affinity counts against.

use plimsoll_framework::{MAX_SCORE, NodeId, NodeScore};
use plimsoll_objects::{PodAffinityTerm, WeightedPodAffinityTerm};

use super::domains::Domains;
use super::newcomer::{Newcomer, places};

/// What Score reads.
#[derive(Debug, Clone)]
pub(super) struct Sums(Domains);

// === impl Sums ===

impl Sums {
    /// The weights for `newcomer`; `None` if no pod counts anywhere. A required affinity
    /// term of a placed pod counts `hard_weight`, not at all if that is 0.
    pub(super) fn of(newcomer: &Newcomer<'_>, hard_weight: i32) -> Option<Self> {
        let mut domains = Domains::default();
        let ours = of_newcomer(newcomer, &mut domains);
        let theirs = of_placed(newcomer, hard_weight, &mut domains);
        (ours || theirs).then_some(Self(domains))
    }

    /// The node's sum over the labels that it has.
    pub(super) fn get(&self, node: NodeId) -> i64 {
        let rows = 0..self.0.rows();
        let sums = rows.filter_map(|row| Some(self.0.at(row, self.0.value(row, node)?)));
        sums.fold(0, i64::wrapping_add)
    }
}

/// Adds what the newcomer's terms say of placed pods; whether they say anything.
fn of_newcomer(newcomer: &Newcomer<'_>, domains: &mut Domains) -> bool {
    let Some(affinity) = newcomer.affinity() else {
        return false;
    };
    let mut counted = false;
    for (weight, term) in weights(affinity.preferred.terms(), affinity.preferred_anti.terms()) {
        let row = domains.row(&term.topology_key, newcomer.snapshot);
        newcomer.each_meant(term, |placed| {
            counted |= domains.add(row, places(placed), weight);
        });
    }
    counted
}

/// Adds what the terms of placed pods say of the newcomer; whether they say anything.
fn of_placed(newcomer: &Newcomer<'_>, hard_weight: i32, domains: &mut Domains) -> bool {
    let mut counted = false;
    for (affinity, pods) in newcomer.snapshot.affinities() {
        let required = if hard_weight > 0 {
            affinity.required.terms()
        } else {
            &[]
        };
        let required = required.iter().map(|term| (i64::from(hard_weight), term));
        let preferred = weights(affinity.preferred.terms(), affinity.preferred_anti.terms());
        let terms = required.chain(preferred);
        for (weight, term) in terms.filter(|(_, term)| newcomer.is_meant_by(term)) {
            let row = domains.row(&term.topology_key, newcomer.snapshot);
            counted |= domains.add(row, pods.iter().copied(), weight);
        }
    }
    counted
}

/// Terms with what a pod that they mean counts. In the type of the API, as in
/// kube-scheduler: its smallest number has no opposite.
fn weights<'a>(
    affinity: &'a [WeightedPodAffinityTerm],
    anti: &'a [WeightedPodAffinityTerm],
) -> impl Iterator<Item = (i64, &'a PodAffinityTerm)> {
    let near = affinity.iter().map(|one| (one.weight, &one.term));
    let far = anti
        .iter()
        .map(|one| (one.weight.wrapping_neg(), &one.term));
    near.chain(far)
        .map(|(weight, term)| (i64::from(weight), term))
}

/// Spreads the scores over 0..=100, the lowest at 0; all 0 if they are equal.
pub(super) fn normalize(scores: &mut [NodeScore]) {
    let raw = || scores.iter().map(|row| row.score);
    let (Some(min), Some(max)) = (raw().min(), raw().max()) else {
        return;
    };
    let range = max.wrapping_sub(min);
    for row in scores {
        row.score = if range > 0 {
            let above = row.score.wrapping_sub(min) as f64;
            // The quotient first: kube-scheduler's order decides what is cut off.
            (MAX_SCORE as f64 * (above / range as f64)) as i64
        } else {
            0
        };
    }
}
