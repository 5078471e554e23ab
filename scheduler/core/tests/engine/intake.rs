//! Nodes and pods as the watch shows them: lists, losses, repeats, wrong order.

use plimsoll_core::Event;
use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::Harness;

#[test]
fn a_pod_may_come_before_its_node() {
    let mut harness = Harness::start(&[]);
    harness.set_pod(&pod("early").cpu("1").on("a"));
    assert_eq!(harness.stats().cache.orphans, 1);
    harness.set_node(&node("a").cpu("1"));
    assert_eq!(harness.stats().cache.orphans, 0);
    harness.set_pod(&pod("p").cpu("1"));
    assert!(harness.bound().is_empty());
}

#[test]
fn a_node_that_comes_back_has_its_pods() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("old").cpu("1").on("a"));
    harness.node_gone("a");
    assert_eq!(
        (harness.stats().cache.nodes, harness.stats().cache.orphans),
        (0, 1)
    );
    harness.set_node(&node("a").cpu("1"));
    harness.set_pod(&pod("p").cpu("1"));
    assert!(harness.bound().is_empty());
    harness.pod_gone(&pod("old"));
    harness.pass_seconds(3);
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_list_replaces_what_is_known_so_that_no_pod_goes_to_a_ghost_node() {
    // Case WAT-A1.
    let mut harness = Harness::start(&[node("ghost"), node("b").cpu("1")]);
    harness.set_pod(&pod("old").cpu("1").on("b"));
    harness.step(Event::NodesListed(vec![node("b").cpu("1").arc()]));
    harness.step(Event::PodsListed(vec![]));
    harness.set_pod(&pod("p").cpu("1"));
    assert_eq!(harness.bound(), ["p -> b"]);
    assert_eq!(harness.stats().counters.relists, 2);
    assert_eq!(harness.stats().cache.nodes, 1);
}

#[test]
fn a_list_of_what_is_known_already_changes_nothing() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p").cpu("1").label("needs", "gpu"));
    harness.set_pod(&pod("q").on("a"));
    harness.forget();
    harness.step(Event::NodesListed(vec![node("b").arc(), node("a").arc()]));
    let pods = [pod("p").cpu("1").label("needs", "gpu"), pod("q").on("a")];
    harness.step(Event::PodsListed(
        pods.iter().map(PodBuilder::arc).collect(),
    ));
    harness.settle();
    assert!(harness.said.is_empty(), "{:?}", harness.said);
}

#[test]
fn a_list_that_is_older_than_a_binding_does_not_undo_it() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("1"));
    harness.answer_bind("p", Ok(()));
    harness.step(Event::PodsListed(vec![pod("p").cpu("1").arc()]));
    harness.settle();
    assert_eq!(harness.bound().len(), 1);
    assert_eq!(harness.stats().cache.assumed, 1);
    harness.set_pod(&pod("p").cpu("1").on("a"));
    let cache = harness.stats().cache;
    assert_eq!((cache.pods, cache.assumed), (1, 0));
}

#[test]
fn a_pod_that_comes_back_while_its_binding_is_open_is_not_decided_twice() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p"));
    harness.pod_gone(&pod("p"));
    harness.set_pod(&pod("p"));
    harness.answer_bind("p", Ok(()));
    harness.pass_seconds(30);
    assert_eq!(harness.bound().len(), 1);
    let stats = harness.stats();
    assert_eq!((stats.counters.binds.bound, stats.cache.assumed), (1, 1));
}

#[test]
fn a_pod_that_has_ended_gives_its_room_back() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("job").cpu("1").on("a"));
    harness.set_pod(&pod("p").cpu("1"));
    harness.set_pod(&pod("job").cpu("1").on("a").phase("Succeeded"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_confirmed_pod_on_another_node_is_moved_and_counted() {
    let mut harness = Harness::start(&[node("a").cpu("1"), node("b").cpu("1").label("score", "1")]);
    harness.set_pod(&pod("p").cpu("1"));
    assert_eq!(harness.bound(), ["p -> b"]);
    harness.answer_bind("p", Ok(()));
    harness.set_pod(&pod("p").cpu("1").on("a"));
    assert_eq!(harness.stats().counters.moved, 1);
    harness.set_pod(&pod("q").cpu("1"));
    assert_eq!(harness.bound()[1], "q -> b");
}

#[test]
fn requests_of_a_pod_that_shrink_make_room() {
    let mut harness = Harness::start(&[node("a").cpu("2")]);
    harness.set_pod(&pod("big").cpu("2").on("a"));
    harness.set_pod(&pod("big").cpu("1").on("a"));
    harness.set_pod(&pod("p").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn the_clock_may_go_back_without_harm() {
    let mut harness = Harness::start(&[node("a")]);
    harness.now = std::time::Duration::from_secs(1);
    harness.set_pod(&pod("p"));
    assert_eq!(harness.bound(), ["p -> a"]);
    assert_eq!(harness.decisions()[0].at, std::time::Duration::from_mins(1));
}

#[test]
fn answers_and_deletions_of_things_nobody_knows_are_counted_or_ignored() {
    let mut harness = Harness::start(&[node("a")]);
    harness.node_gone("never");
    harness.pod_gone(&pod("never"));
    harness.answer(plimsoll_core::CommandId(4711), Ok(()));
    assert_eq!(harness.stats().counters.late_answers, 1);
}
