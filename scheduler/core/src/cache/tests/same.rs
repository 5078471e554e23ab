//! Whether two snapshots of one cluster are the same to whoever asks, in every index.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::node::PodCounts;
use plimsoll_framework::{NodeId, NodeInfo, Now, Snapshot};
use plimsoll_objects::ObjectKey;

use super::ops::{CLAIMS, name};
use crate::cache::Cache;

/// The label of a node's zone.
const ZONE: &str = "topology.kubernetes.io/zone";

/// A snapshot made anew from the nodes and pods that the cache holds: none of its sums and
/// indices has seen a change.
pub(super) fn rebuilt(cache: &Cache, now: Now) -> Snapshot {
    let mut snapshot = Snapshot::empty(now);
    for info in cache.nodes.iter().flatten() {
        let mut fresh = NodeInfo::new(info.id, Arc::clone(&info.node));
        fresh.generation = info.generation;
        for pod in &info.pods {
            fresh.add_pod(Arc::clone(pod));
        }
        snapshot.set_node(fresh.into());
        snapshot.set_load(info.id, *cache.load.row(info.id));
    }
    snapshot.set_order(cache.tree.order());
    snapshot
}

pub(super) fn assert_same(one: &Snapshot, other: &Snapshot) {
    assert_eq!(one.order(), other.order());
    for (a, b) in one.nodes().zip(other.nodes()) {
        assert_same_node(a, b);
        assert_eq!(one.load(a.id), other.load(b.id));
    }
    assert_eq!(placed(one), placed(other));
    assert!(one.placed_namespaces().eq(other.placed_namespaces()));
    assert!(
        one.affinities().eq(other.affinities()),
        "affinities of pods on nodes"
    );
    for key in [ZONE, "none"] {
        assert_eq!(texts(one, key), texts(other, key), "values of {key}");
    }
    for number in 0..4 {
        let image = name("i", number);
        let (a, b) = (one.nodes_with_image(&image), other.nodes_with_image(&image));
        assert_eq!(a, b, "nodes with {image}");
    }
    for claim in claims() {
        let (a, b) = (one.is_claim_used(&claim), other.is_claim_used(&claim));
        assert_eq!(a, b, "whether {claim} is used");
    }
}

fn assert_same_node(a: &NodeInfo, b: &NodeInfo) {
    assert_eq!((a.id, a.generation, &a.node), (b.id, b.generation, &b.node));
    assert_eq!((&a.pods, &a.requested), (&b.pods, &b.requested));
    assert_eq!(a.non_zero_requested, b.non_zero_requested);
    assert_eq!(groups(a), groups(b));
    assert_eq!(a.volume_pods, b.volume_pods);
    let ports = |info: &NodeInfo| {
        let mut ports = info.used_ports.clone();
        ports.sort();
        ports
    };
    assert_eq!(ports(a), ports(b));
}

fn groups(info: &NodeInfo) -> Vec<(u32, PodCounts)> {
    let groups = info.groups.as_slice().iter();
    groups.map(|group| (group.set.id(), group.counts)).collect()
}

/// Namespace and labels of each set, with its nodes.
fn placed(snapshot: &Snapshot) -> BTreeMap<String, Vec<(NodeId, PodCounts)>> {
    let sets = snapshot.placed().map(|placed| {
        let set = placed.set();
        let text = format!("{} {:?}", set.namespace(), set.labels());
        (text, placed.nodes().to_vec())
    });
    let all: Vec<_> = sets.collect();
    let count = all.len();
    let by_text: BTreeMap<_, _> = all.into_iter().collect();
    assert_eq!(by_text.len(), count, "each set once");
    by_text
}

/// The value of the label `key` of each node. The column is kept from one look to the next.
fn texts(snapshot: &Snapshot, key: &str) -> Vec<Option<Arc<str>>> {
    let column = snapshot.label_column(key);
    let ids = snapshot.order().iter();
    ids.map(|id| column.text(column.get(*id)?).cloned())
        .collect()
}

fn claims() -> impl Iterator<Item = ObjectKey> {
    ["default", "odd"].into_iter().flat_map(|namespace| {
        (0..CLAIMS).map(move |claim| ObjectKey::new(namespace, &name("c", claim)))
    })
}
