//! What hard and soft constraints have in common: the domains of nodes, the nodes that
//! count, and the matching pods on each.

use std::sync::Arc;

use plimsoll_framework::snapshot::{LabelColumn, PlacedSet};
use plimsoll_framework::{Cycle, NodeId, NodeInfo};

use super::constraint::{Constraint, Selector, affinity_allows};
use crate::taint_toleration;

/// The constraints of a pod before the nodes of a cycle.
pub(super) struct Census<'a> {
    cycle: &'a Cycle<'a>,
    constraints: &'a [Constraint],
    /// Per constraint, the domain of each node.
    columns: Vec<Arc<LabelColumn>>,
    /// By node's index, whether the pod's node selector and affinity match; `None` where
    /// they match every node, or no constraint asks.
    affine: Option<Vec<bool>>,
    /// The same for taints.
    tolerated: Option<Vec<bool>>,
}

// === impl Census ===

impl<'a> Census<'a> {
    pub(super) fn new(cycle: &'a Cycle<'a>, constraints: &'a [Constraint]) -> Self {
        let (pod, snapshot) = (cycle.pod, cycle.snapshot);
        let asked = pod.spec.constraints.as_deref();
        let is_picky = asked.is_some_and(|asked| {
            asked.node_selector.is_some() || asked.node_affinity.required.is_some()
        });
        let by_affinity = is_picky && constraints.iter().any(|one| one.honors_affinity);
        let by_taints = constraints.iter().any(|one| one.honors_taints);
        let columns = constraints
            .iter()
            .map(|one| snapshot.label_column(&one.key));
        Self {
            cycle,
            constraints,
            columns: columns.collect(),
            affine: by_affinity.then(|| mask(cycle, |info| affinity_allows(pod, &info.node))),
            tolerated: by_taints
                .then(|| mask(cycle, |info| !taint_toleration::keeps_away(&info.node, pod))),
        }
    }

    /// The domains of the constraint at `index`.
    pub(super) fn column(&self, index: usize) -> &Arc<LabelColumn> {
        &self.columns[index]
    }

    /// Whether `node` has the key of every constraint.
    pub(super) fn has_all_keys(&self, node: NodeId) -> bool {
        self.columns.iter().all(|column| column.get(node).is_some())
    }

    /// The nodes that have every key; all of them if `wanted` is false.
    pub(super) fn nodes(&self, wanted: bool) -> Vec<NodeId> {
        let nodes = self.cycle.snapshot.order().iter().copied();
        nodes
            .filter(|node| !wanted || self.has_all_keys(*node))
            .collect()
    }

    /// Whether `node` counts, as far as the policies of the constraint at `index` go.
    pub(super) fn includes(&self, index: usize, node: NodeId) -> bool {
        let constraint = &self.constraints[index];
        let allows = |honors: bool, mask: &Option<Vec<bool>>| match mask {
            Some(mask) if honors => mask.get(node.index()) == Some(&true),
            _ => true,
        };
        allows(constraint.honors_affinity, &self.affine)
            && allows(constraint.honors_taints, &self.tolerated)
    }

    /// Per constraint, the matching pods by node's index. Constraints of one selector that
    /// follow each other share a count.
    pub(super) fn matching(&self) -> Vec<Arc<[u32]>> {
        let mut counts: Vec<Arc<[u32]>> = Vec::with_capacity(self.constraints.len());
        for (index, constraint) in self.constraints.iter().enumerate() {
            let last = index.checked_sub(1);
            let last = last.filter(|last| self.constraints[*last].selector == constraint.selector);
            counts.push(match last {
                Some(last) => Arc::clone(&counts[last]),
                None => matching(self.cycle, &constraint.selector),
            });
        }
        counts
    }
}

/// By node's index, what `is` says; false where there is no node.
fn mask(cycle: &Cycle<'_>, is: impl Fn(&NodeInfo) -> bool) -> Vec<bool> {
    let mut mask = vec![false; cycle.snapshot.columns()];
    for info in cycle.snapshot.nodes() {
        mask[info.id.index()] = is(info);
    }
    mask
}

/// Pods of the pod's namespace that `selector` matches and that are not being deleted, by
/// node's index. A selector without requirements counts none, in v1.37
/// (kubernetes/kubernetes#141339).
fn matching(cycle: &Cycle<'_>, selector: &Selector) -> Arc<[u32]> {
    let mut counts = vec![0_u32; cycle.snapshot.columns()];
    if !selector.is_empty()
        && let Some((first, rest)) = selector.0.split_first()
    {
        let namespace = &cycle.pod.meta.key.namespace;
        let placed = cycle.snapshot.placed_matching(namespace, first);
        let all = |placed: &&PlacedSet| {
            let labels = placed.set().labels();
            rest.iter().all(|one| one.matches(labels))
        };
        for placed in placed.into_iter().filter(all) {
            for (node, pods) in placed.nodes() {
                counts[node.index()] += pods.staying();
            }
        }
    }
    counts.into()
}
