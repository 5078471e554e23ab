//! The order in which nodes are looked at: zones in turn, so that any stretch of it is
//! spread over the zones (kube-scheduler `backend/cache/node_tree.go`).
//!
//! Zones take turns in the order in which they first appeared; within a zone nodes stand
//! in the order in which they came. A node that changes its zone goes to its new zone's end.

use std::sync::Arc;

use plimsoll_framework::NodeId;
use plimsoll_objects::Node;

#[derive(Debug, Default)]
pub(super) struct NodeTree {
    zones: Vec<(Zone, Vec<NodeId>)>,
}

/// Region and zone; a node without labels is in the zone without a name.
type Zone = (Option<Arc<str>>, Option<Arc<str>>);

/// Labels of the region, the deprecated one first, as kube-scheduler reads them.
const REGION_LABELS: [&str; 2] = [
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/region",
];
/// Labels of the zone, likewise.
const ZONE_LABELS: [&str; 2] = [
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/zone",
];

impl NodeTree {
    pub(super) fn insert(&mut self, id: NodeId, node: &Node) {
        let zone = zone_of(node);
        match self.zones.iter_mut().find(|(known, _)| *known == zone) {
            Some((_, nodes)) => nodes.push(id),
            None => self.zones.push((zone, vec![id])),
        }
    }

    pub(super) fn remove(&mut self, id: NodeId, node: &Node) {
        let zone = zone_of(node);
        let Some(index) = self.zones.iter().position(|(known, _)| *known == zone) else {
            return;
        };
        let nodes = &mut self.zones[index].1;
        nodes.retain(|kept| *kept != id);
        if nodes.is_empty() {
            self.zones.remove(index);
        }
    }

    /// Follows a change of a node; whether the order changed with it.
    pub(super) fn replace(&mut self, id: NodeId, old: &Node, new: &Node) -> bool {
        if zone_of(old) == zone_of(new) {
            return false;
        }
        self.remove(id, old);
        self.insert(id, new);
        true
    }

    /// Costs one look per node, however uneven the zones are.
    pub(super) fn order(&self) -> Vec<NodeId> {
        let total = self.zones.iter().map(|(_, nodes)| nodes.len()).sum();
        let mut order = Vec::with_capacity(total);
        let mut left: Vec<&[NodeId]> = self.zones.iter().map(|(_, nodes)| &**nodes).collect();
        while order.len() < total {
            left.retain_mut(|nodes| match nodes.split_first() {
                Some((next, rest)) => {
                    order.push(*next);
                    *nodes = rest;
                    true
                }
                None => false,
            });
        }
        order
    }
}

fn zone_of(node: &Node) -> Zone {
    let label = |names: [&str; 2]| {
        let found = names
            .into_iter()
            .find_map(|name| node.meta.labels.get(name));
        found.filter(|value| !value.is_empty()).map(Arc::clone)
    };
    (label(REGION_LABELS), label(ZONE_LABELS))
}
