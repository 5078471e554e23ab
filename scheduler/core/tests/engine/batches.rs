//! Groups by count: so many members that wait are one batch, and the next ones another.

use plimsoll_core::FailureKind;
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};

use crate::harness::Harness;

const PLUGINS: &str = "Sort Gates Gang Fit Apart Label Book Second Hold Rescue Binder";

fn start(nodes: &[NodeBuilder]) -> Harness {
    Harness::with(PLUGINS, "").started(nodes)
}

fn member(number: usize, size: usize) -> PodBuilder {
    pod(&format!("g{number}"))
        .cpu("1")
        .label("gang", "g")
        .label("gang-batch", &size.to_string())
}

fn come(harness: &mut Harness, numbers: std::ops::Range<usize>, size: usize) {
    for number in numbers {
        harness.set_pod(&member(number, size));
        harness.pass_seconds(1);
    }
}

#[test]
fn each_batch_is_placed_when_it_is_full_and_a_further_member_begins_the_next() {
    let mut harness = start(&[node("a").cpu("9")]);
    come(&mut harness, 0..1, 2);
    assert!(harness.bound().is_empty());
    come(&mut harness, 1..5, 2);
    assert_eq!(
        harness.bound(),
        ["g0 -> a", "g1 -> a", "g2 -> a", "g3 -> a"]
    );
    harness.pass_seconds(2);
    let (_, last) = harness.patches().pop().expect("told");
    assert_eq!(last, "g4 Unschedulable: group default/g has 1 of 2");
    assert_eq!(harness.stats().queue.gated, 1);
}

#[test]
fn members_that_are_bound_do_not_count() {
    let mut harness = start(&[node("a").cpu("9")]);
    for number in 0..3 {
        harness.set_pod(&member(number, 2).on("a"));
    }
    come(&mut harness, 3..4, 2);
    harness.pass_seconds(60);
    assert!(harness.bound().is_empty());
    come(&mut harness, 4..5, 2);
    assert_eq!(harness.bound(), ["g3 -> a", "g4 -> a"]);
}

#[test]
fn batches_wait_apart_and_each_is_placed_whole() {
    let mut harness = start(&[node("a").cpu("3")]);
    come(&mut harness, 0..6, 2);
    assert_eq!(harness.bound(), ["g0 -> a", "g1 -> a"]);
    assert_eq!(harness.stats().cache.assumed, 2, "no half of a batch");
    for number in 0..2 {
        harness.answer_bind(&format!("g{number}"), Ok(()));
    }
    harness.set_node(&node("b").cpu("2"));
    harness.pass_seconds(30);
    assert_eq!(harness.bound().len(), 4, "one node has room for one more");
    for number in 2..4 {
        harness.answer_bind(&format!("g{number}"), Ok(()));
    }
    harness.set_node(&node("c").cpu("2"));
    harness.pass_seconds(30);
    let bound: Vec<String> = harness
        .bound()
        .iter()
        .map(|one| one[..2].to_owned())
        .collect();
    assert_eq!(bound, ["g0", "g1", "g2", "g3", "g4", "g5"]);
}

/// A batch of three that loses a member, beside one that has a single one so far.
#[test]
fn a_batch_that_lost_a_member_is_filled_up_from_the_newest() {
    let mut harness = start(&[node("a").cpu("0")]);
    come(&mut harness, 0..4, 3);
    let queue = harness.stats().queue;
    assert_eq!((queue.unschedulable + queue.backoff, queue.gated), (3, 1));
    harness.pod_gone(&member(1, 3));
    let queue = harness.stats().queue;
    assert_eq!(queue.gated, 0, "g3 has taken its place");
    harness.set_node(&node("b").cpu("3"));
    harness.pass_seconds(30);
    assert_eq!(harness.bound(), ["g0 -> b", "g2 -> b", "g3 -> b"]);
}

#[test]
fn a_member_that_comes_goes_to_the_batch_that_lost_one() {
    let mut harness = start(&[node("a").cpu("0")]);
    come(&mut harness, 0..4, 2);
    harness.pod_gone(&member(0, 2));
    assert_eq!(harness.stats().queue.gated, 1);
    come(&mut harness, 4..5, 2);
    assert_eq!(harness.stats().queue.gated, 0);
    harness.set_node(&node("b").cpu("4"));
    harness.pass_seconds(30);
    assert_eq!(harness.bound().len(), 4);
}

#[test]
fn a_member_that_is_refused_late_waits_for_the_next_batch() {
    let mut harness = start(&[node("a").cpu("9")]);
    come(&mut harness, 0..2, 2);
    harness.answer_bind("g0", Ok(()));
    harness.answer_bind("g1", Err(FailureKind::Refused));
    harness.pass_seconds(30);
    assert_eq!(harness.bound().len(), 2);
    assert_eq!(harness.stats().queue.gated, 1);
    come(&mut harness, 2..3, 2);
    harness.pass_seconds(30);
    let mut bound = harness.bound().split_off(2);
    bound.sort_unstable();
    assert_eq!(bound, ["g1 -> a", "g2 -> a"]);
}

#[test]
fn a_member_that_goes_in_mid_wait_takes_its_batch_back_and_the_next_one_fills_it() {
    let mut harness = start(&[node("a").cpu("9")]);
    harness.set_pod(&member(0, 3));
    harness.set_pod(&member(1, 3).label("hold", "30"));
    harness.set_pod(&member(2, 3));
    assert_eq!(harness.stats().cache.assumed, 3);
    harness.set_pod(&member(3, 3));
    harness.pod_gone(&member(2, 3));
    // g1 holds anew, with g0 and g3.
    assert_eq!(harness.stats().in_flight.permit, 3);
    harness.pass_seconds(1);
    assert_eq!(harness.stats().queue.gated, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No node takes anybody, so that all that are there wait.
    #[test]
    fn whoever_comes_and_goes_less_than_one_batch_is_short(
        ops in prop::collection::vec((any::<bool>(), 0..12_usize), 1..60), size in 1..5_usize,
    ) {
        let mut harness = start(&[node("a").cpu("0")]);
        let mut there = std::collections::BTreeSet::new();
        for (comes, number) in ops {
            if comes && there.insert(number) {
                harness.set_pod(&member(number, size));
            } else if !comes && there.remove(&number) {
                harness.pod_gone(&member(number, size));
            }
            harness.pass_seconds(1);
            let queue = harness.stats().queue;
            prop_assert_eq!(queue.gated, there.len() % size);
            let all = queue.active + queue.backoff + queue.unschedulable + queue.gated;
            prop_assert_eq!(all, there.len());
        }
        harness.set_node(&node("b").cpu("12"));
        harness.pass_seconds(60);
        let placed = there.len() / size * size;
        prop_assert!(harness.stats().cache.assumed == placed, "{placed} of {}", there.len());
    }
}
