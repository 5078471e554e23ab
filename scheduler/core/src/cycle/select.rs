//! The best node, and the best few for the record.

use plimsoll_framework::NodeId;

use crate::decision::KEPT_CANDIDATES;
use crate::random::Random;

/// A node with the highest total, drawn among equals. `Differs:` kube-scheduler's choice
/// among equals depends on the order in which its workers finished. `feasible` has at least one node and
/// `totals` one entry for each.
pub(crate) fn best(feasible: &[NodeId], totals: &[i64], random: &mut Random) -> NodeId {
    debug_assert!(!feasible.is_empty() && feasible.len() == totals.len());
    let highest = totals.iter().copied().fold(i64::MIN, i64::max);
    let top = totals.iter().filter(|total| **total == highest).count();
    let drawn = if top > 1 { random.below(top) } else { 0 };
    let mut rows = totals.iter().enumerate();
    let mut top = rows.by_ref().filter(|(_, total)| **total == highest);
    let row = top.nth(drawn).map_or(0, |(row, _)| row);
    feasible[row]
}

/// Rows of the best few nodes, best first: the chosen one, then by total, equals in order.
pub(crate) fn best_rows(feasible: &[NodeId], totals: &[i64], chosen: NodeId) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::with_capacity(KEPT_CANDIDATES + 1);
    let mut least = i64::MIN;
    for (row, total) in totals.iter().enumerate() {
        // Most nodes are not among the best: one comparison each.
        if *total <= least && rows.len() == KEPT_CANDIDATES {
            continue;
        }
        let place = rows.partition_point(|kept| totals[*kept] >= *total);
        if place < KEPT_CANDIDATES {
            rows.insert(place, row);
            rows.truncate(KEPT_CANDIDATES);
        }
        least = rows.last().map_or(i64::MIN, |last| totals[*last]);
    }
    let Some(first) = feasible.iter().position(|node| *node == chosen) else {
        return rows;
    };
    rows.retain(|row| *row != first);
    rows.insert(0, first);
    rows.truncate(KEPT_CANDIDATES);
    rows
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::NodeId;

    use super::{best, best_rows};
    use crate::random::Random;

    fn nodes(count: u32) -> Vec<NodeId> {
        (0..count).map(NodeId).collect()
    }

    #[test]
    fn every_node_of_the_top_set_is_drawn_and_no_other() {
        let (nodes, totals) = (nodes(5), [7, 9, 9, 1, 9]);
        let mut random = Random::new(1);
        let mut counts = [0; 5];
        for _ in 0..300 {
            counts[best(&nodes, &totals, &mut random).index()] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!(
            [1, 2, 4].iter().all(|index| counts[*index] > 60),
            "{counts:?}"
        );
    }

    #[test]
    fn the_chosen_node_leads_the_few_best() {
        let nodes = nodes(8);
        let totals = [5, 9, 3, 9, 8, 8, 1, 9];
        assert_eq!(best_rows(&nodes, &totals, NodeId(7)), [7, 1, 3, 4, 5]);
        assert_eq!(best_rows(&nodes[..2], &totals[..2], NodeId(0)), [0, 1]);
    }
}
