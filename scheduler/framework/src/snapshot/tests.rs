//! Nodes and their load by id, what is known of images, columns.

use super::Snapshot;
use crate::load::NodeLoad;
use crate::node::{NodeId, NodeInfo};
use crate::now::Now;
use crate::test_util::{cluster, load, node, pod, snapshot};

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .nodes()
        .map(|info| info.name().to_string())
        .collect()
}

#[test]
fn nodes_have_their_index_for_an_id() {
    let snapshot = snapshot([node("n1"), node("n2")], [pod("a").cpu("1").on("n2")]);
    assert_eq!(names(&snapshot), ["n1", "n2"]);
    assert_eq!(snapshot.order(), [NodeId(0), NodeId(1)]);
    let second = snapshot.get(NodeId(1)).expect("it is there");
    assert_eq!((second.id, second.requested.cpu), (NodeId(1), 1000));
    assert!(snapshot.get(NodeId(2)).is_none());
}

#[test]
fn a_node_that_was_never_measured_has_an_empty_row_not_zero() {
    let snapshot = cluster([node("n1"), node("n2")])
        .load([load("n1").cpu("1")])
        .snapshot();
    assert_eq!(snapshot.load(NodeId(0)).cpu.used, Some(1000.0));
    assert_eq!(snapshot.load(NodeId(1)), NodeLoad::default());
    assert_eq!(snapshot.load(NodeId(7)).cpu.used, None);
    assert_eq!(
        snapshot.load_row(NodeId(0)),
        Some(&snapshot.load(NodeId(0)))
    );
    assert_eq!(snapshot.load_row(NodeId(7)), None);
}

#[test]
fn a_node_that_is_taken_out_leaves_its_slot_and_no_load() {
    let mut snapshot = cluster([node("n1"), node("n2")])
        .load([load("n1").cpu("1")])
        .snapshot();
    snapshot.clear_node(NodeId(0));
    snapshot.set_order(vec![NodeId(1)]);
    assert_eq!(names(&snapshot), ["n2"]);
    assert_eq!((snapshot.len(), snapshot.columns()), (1, 2));
    assert_eq!(snapshot.load(NodeId(0)), NodeLoad::default());
}

#[test]
fn images_are_known_of_the_nodes_that_are_there() {
    let mut snapshot = snapshot(
        [
            node("n1").image("a:1", 5),
            node("n2").image("a:1", 5).image("b:1", 6),
        ],
        [],
    );
    assert_eq!(snapshot.nodes_with_image("a:1"), [NodeId(0), NodeId(1)]);
    let without = NodeInfo::new(NodeId(1), node("n2").image("b:1", 6).arc());
    snapshot.set_node(without.into());
    assert_eq!(snapshot.nodes_with_image("a:1"), [NodeId(0)]);
    assert_eq!(snapshot.nodes_with_image("b:1"), [NodeId(1)]);
    snapshot.clear_node(NodeId(1));
    assert!(snapshot.nodes_with_image("b:1").is_empty());
}

#[test]
fn columns_grow_with_the_largest_id() {
    let now = Now::at(std::time::Duration::ZERO);
    let mut snapshot = Snapshot::empty(now);
    assert!(snapshot.is_empty());
    snapshot.set_node(NodeInfo::new(NodeId(3), node("n4").arc()).into());
    snapshot.set_order(vec![NodeId(3), NodeId(9)]);
    assert_eq!(snapshot.columns(), 4);
    assert_eq!(names(&snapshot), ["n4"]);
}
