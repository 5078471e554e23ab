//! Which word counts for what a machine has.

use std::sync::Arc;

use plimsoll_objects::Node;
use plimsoll_objects::bandwidth::LinkSpeed;

use super::{EXCLUDE_BANDWIDTH, INSTANCE_TYPE, LinkSpeeds, Stated};
use crate::sample::Machine;
use crate::world::node;

const MACHINE: Machine = Machine {
    cpus: Some(4),
    memory: Some(1 << 30),
    link: Some(125),
};

fn stated(node: &Node) -> Stated {
    Stated::of(node, &LinkSpeeds::new())
}

#[test]
fn capacity_is_capped_by_what_the_agent_sees() {
    let big = stated(&node("n", 8_000, 8 << 30));
    let small = stated(&node("n", 2_000, 1 << 20));
    let gib = f64::from(1 << 30);
    assert_eq!(big.with(&MACHINE, 0.0)[..2], [Some(4_000.0), Some(gib)]);
    assert_eq!(
        big.with(&Machine::default(), 0.0)[..2],
        [Some(8_000.0), Some(8.0 * gib)]
    );
    assert_eq!(
        small.with(&MACHINE, 0.0)[..2],
        [Some(2_000.0), Some(f64::from(1 << 20))]
    );
}

#[test]
fn a_node_that_states_nothing_has_what_the_agent_sees() {
    let stated = stated(&node("n", 0, 0));
    assert_eq!(stated.with(&MACHINE, 0.0)[0], Some(4_000.0));
    assert_eq!(stated.with(&Machine::default(), 0.0), [None; 4]);
}

#[test]
fn stolen_time_is_no_capacity_but_never_all_of_it() {
    let stated = stated(&node("n", 8_000, 1 << 30));
    assert_eq!(stated.with(&Machine::default(), 0.25)[0], Some(6_000.0));
    assert_eq!(stated.with(&Machine::default(), 1.0)[0], Some(800.0));
    assert_eq!(stated.with(&Machine::default(), -3.0)[0], Some(8_000.0));
}

#[test]
fn the_annotation_comes_before_what_the_agent_sees_of_the_link() {
    let mut node = node("n", 1, 1);
    assert_eq!(stated(&node).with(&MACHINE, 0.0)[2..], [Some(125.0); 2]);
    assert_eq!(stated(&node).with(&Machine::default(), 0.0)[2..], [None; 2]);
    node.link_speed = Some(LinkSpeed::Known(250));
    assert_eq!(stated(&node).with(&MACHINE, 0.0)[2..], [Some(250.0); 2]);
    node.link_speed = Some(LinkSpeed::Invalid(Arc::from("fast")));
    assert_eq!(stated(&node).with(&MACHINE, 0.0)[2..], [None; 2]);
}

#[test]
fn the_link_speed_comes_by_annotation_then_by_table_then_by_agent() {
    let table = LinkSpeeds::from([(Arc::from("m5.large"), 1_000)]);
    let link = |node: &Node, machine: &Machine| Stated::of(node, &table).with(machine, 0.0)[2];
    let mut typed = node("n", 1, 1);
    let of_type = |name: &str| (Arc::from(INSTANCE_TYPE), Arc::from(name));
    typed.meta.labels.extend([of_type("m5.large")]);
    assert_eq!(link(&typed, &MACHINE), Some(1_000.0));
    assert_eq!(link(&typed, &Machine::default()), Some(1_000.0));
    typed.link_speed = Some(LinkSpeed::Known(250));
    assert_eq!(link(&typed, &MACHINE), Some(250.0));
    typed.link_speed = Some(LinkSpeed::Invalid(Arc::from("fast")));
    assert_eq!(link(&typed, &MACHINE), None);
    let mut other = node("n", 1, 1);
    other.meta.labels.extend([of_type("m5.metal")]);
    assert_eq!(link(&other, &MACHINE), Some(125.0));
    assert_eq!(link(&other, &Machine::default()), None);
}

#[test]
fn a_table_that_says_zero_says_nothing() {
    let table = LinkSpeeds::from([(Arc::from("m5.large"), 0)]);
    let mut typed = node("n", 1, 1);
    let label = (Arc::from(INSTANCE_TYPE), Arc::from("m5.large"));
    typed.meta.labels.extend([label]);
    let link = Stated::of(&typed, &table).with(&MACHINE, 0.0)[2];
    assert_eq!(link, Some(125.0));
}

#[test]
fn an_excluded_node_has_no_bandwidth_whatever_is_stated() {
    let exclude = |value: &str| {
        let mut node = node("n", 1, 1);
        let annotation = (Arc::from(EXCLUDE_BANDWIDTH), Arc::from(value));
        node.meta.annotations.extend([annotation]);
        node.link_speed = Some(LinkSpeed::Known(250));
        stated(&node).with(&MACHINE, 0.0)[2..].to_vec()
    };
    assert_eq!(exclude("true"), [None; 2]);
    assert_eq!(exclude("false"), [Some(250.0); 2]);
}
