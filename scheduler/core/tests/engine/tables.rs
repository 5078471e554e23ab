//! Tables: pods that are alike cost a look at the nodes that changed, not at all of them.

use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};

use crate::fakes;
use crate::harness::Harness;

const NODES: usize = 50;

fn nodes() -> Vec<NodeBuilder> {
    let made = |index| node(&format!("n{index:02}")).cpu("4").label("has", "disk");
    (0..NODES).map(made).collect()
}

fn wanting(name: &str) -> PodBuilder {
    pod(name).cpu("1").label("needs", "disk")
}

/// How often the filter `Match` was asked for these pods.
fn asked(harness: &mut Harness, pods: &[PodBuilder]) -> usize {
    fakes::log();
    for pod in pods {
        harness.set_pod(pod);
        harness.settle();
    }
    let notes = fakes::log();
    let of_match = notes.iter().filter(|note| note.starts_with("match "));
    of_match.count()
}

#[test]
fn a_pod_like_the_one_before_is_held_against_the_node_that_changed() {
    let mut harness = Harness::start(&nodes());
    assert_eq!(asked(&mut harness, &[wanting("a")]), NODES);
    // Each pod changes the node that it is put on, and no other.
    assert_eq!(asked(&mut harness, &["b", "c", "d"].map(wanting)), 3);
}

#[test]
fn a_node_that_changes_is_judged_again_and_one_that_comes_makes_all_be() {
    let mut harness = Harness::start(&nodes());
    asked(&mut harness, &[wanting("a")]);
    harness.set_node(&node("n07").cpu("8").label("has", "disk"));
    assert_eq!(asked(&mut harness, &[wanting("b")]), 2);
    harness.set_node(&node("new").cpu("8").label("has", "disk"));
    assert_eq!(asked(&mut harness, &[wanting("c")]), NODES + 1);
}

#[test]
fn a_pod_unlike_the_others_has_verdicts_of_its_own() {
    let mut harness = Harness::start(&nodes());
    asked(&mut harness, &[wanting("a")]);
    assert_eq!(asked(&mut harness, &[wanting("other").cpu("2")]), NODES);
}
