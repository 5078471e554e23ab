//! One scheduling cycle: when it runs, which nodes it looks at, how it ends.

use plimsoll_core::{Event, Outcome, Unscored};
use plimsoll_framework::test_util::{node, pod};

use crate::fakes;
use crate::harness::{Harness, NO_RESCUE};

#[test]
fn no_cycle_runs_before_nodes_and_pods_were_listed_once() {
    let mut harness = Harness::new();
    harness.set_node(&node("a"));
    harness.set_pod(&pod("p"));
    assert_eq!(harness.engine.next_wakeup(), None);
    harness.step(Event::NodesListed(vec![node("a").arc()]));
    assert!(harness.decisions().is_empty());
    harness.step(Event::PodsListed(vec![pod("p").arc()]));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn a_step_runs_at_most_one_cycle_and_says_that_there_is_more() {
    let mut harness = Harness::start(&[node("a")]);
    let pods = (0..3).map(|n| pod(&format!("p{n}")).arc()).collect();
    harness.step(Event::PodsListed(pods));
    assert_eq!(harness.decisions().len(), 1);
    assert_eq!(harness.engine.next_wakeup(), Some(harness.now));
    harness.step(Event::Tick);
    assert_eq!(harness.decisions().len(), 2);
}

#[test]
fn a_pod_goes_to_the_node_with_the_highest_score() {
    let nodes = [
        node("a").label("score", "3"),
        node("b").label("score", "9"),
        node("c"),
    ];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p"));
    assert_eq!(harness.bound(), ["p -> b"]);
    let decision = &harness.decisions()[0];
    let candidates: Vec<_> = decision
        .candidates
        .iter()
        .map(|one| (&*one.node, one.total))
        .collect();
    assert_eq!(candidates, [("b", 18), ("a", 6), ("c", 0)]);
    let score = decision.candidates[0].scores[0];
    assert_eq!(
        (score.plugin, score.weight, score.raw, score.normalized),
        ("Label", 1, 9, 18)
    );
    assert_eq!(
        (decision.nodes, decision.evaluated, decision.feasible),
        (3, 3, 3)
    );
}

#[test]
fn the_very_next_decision_counts_a_pod_that_was_just_placed() {
    let nodes = [node("a").cpu("1").label("score", "9"), node("b").cpu("1")];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p").cpu("1"));
    harness.set_pod(&pod("q").cpu("1"));
    assert_eq!(harness.bound(), ["p -> a", "q -> b"]);
}

#[test]
fn the_only_feasible_node_is_taken_without_scoring() {
    let mut harness = Harness::start(&[node("a").label("has", "gpu"), node("b")]);
    harness.set_pod(&pod("p").label("needs", "gpu").label("odd", "score-101"));
    let outcome = &harness.decisions()[0].outcome;
    let unscored = Some(Unscored::OnlyFeasibleNode);
    assert_eq!(
        *outcome,
        Outcome::Chosen {
            node: "a".into(),
            unscored
        }
    );
}

#[test]
fn a_filter_that_skips_is_not_asked() {
    let mut harness = Harness::start(&[node("a"), node("b")]);
    harness.set_pod(&pod("p"));
    assert!(!fakes::log().contains(&"match a".to_owned()));
    harness.set_pod(&pod("q").label("needs", "gpu"));
    assert_eq!(
        fakes::log()
            .iter()
            .filter(|line| line.starts_with("match"))
            .count(),
        2
    );
}

#[test]
fn only_the_first_rejection_of_a_node_counts() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2").label("needs", "gpu"));
    assert_eq!(
        harness.last_message(),
        "0/1 nodes are available: 1 Insufficient cpu."
    );
}

#[test]
fn node_sets_of_pre_filters_are_intersected() {
    let nodes = [node("a").label("score", "9"), node("b"), node("c")];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p").label("only", "a_b").label("also", "b_c"));
    assert_eq!(harness.bound(), ["p -> b"]);
}

#[test]
fn a_pod_that_is_being_deleted_is_skipped_with_an_event() {
    let mut harness = Harness::start(&[node("a")]);
    harness.set_pod(&pod("p").deleted("2026-01-31T12:00:00Z"));
    let skipped = "FailedScheduling: skip schedule deleting pod: default/p";
    assert_eq!(harness.events(), [skipped]);
    assert!(harness.bound().is_empty() && harness.patches().is_empty());
    assert_eq!(harness.stats().counters.skipped_deleting, 1);
    assert_eq!(harness.stats().queue.active, 0);
}

#[test]
fn a_nominated_node_is_taken_if_it_still_passes() {
    let nodes = [node("a").label("score", "9"), node("b").cpu("1")];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p").cpu("1").nominated("b"));
    assert_eq!(harness.bound(), ["p -> b"]);
    assert_eq!(harness.decisions()[0].evaluated, 1);
    harness.set_pod(&pod("q").cpu("1").nominated("b"));
    assert_eq!(harness.bound(), ["p -> b", "q -> a"]);
}

#[test]
fn room_is_left_for_a_nominated_pod_of_the_same_or_a_higher_priority() {
    let mut harness = Harness::start(&[node("a").cpu("1")]);
    // Gated, so that it keeps its nomination without taking the node.
    harness.set_pod(&pod("vip").cpu("1").priority(5).nominated("a").gate("wait"));
    harness.set_pod(&pod("low").cpu("1").priority(4));
    harness.set_pod(&pod("equal").cpu("1").priority(5));
    assert!(harness.bound().is_empty());
    harness.set_pod(&pod("high").cpu("1").priority(6));
    assert_eq!(harness.bound(), ["high -> a"]);
}

#[test]
fn a_soft_rejection_counts_only_if_no_node_passes_outright() {
    let nodes = [
        node("a").label("soft", "0.2").label("score", "9"),
        node("b"),
    ];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p"));
    assert_eq!(harness.bound(), ["p -> b"]);
}

#[test]
fn of_soft_nodes_the_one_least_over_its_line_is_taken_and_the_event_says_so() {
    let nodes = [
        node("a").label("soft", "0.2"),
        node("b").label("soft", "0.1"),
    ];
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p"));
    let unscored = Some(Unscored::SoftCap);
    let outcome = &harness.decisions()[0].outcome;
    assert_eq!(
        *outcome,
        Outcome::Chosen {
            node: "b".into(),
            unscored
        }
    );
    harness.answer_bind("p", Ok(()));
    let over = harness.decisions()[0].over.clone().expect("it is said");
    assert_eq!(
        (&*over.reason, over.excess),
        ("node(s) over a soft line", 0.1)
    );
    let expected = [
        "Scheduled: Successfully assigned default/p to b",
        "LoadCapExceeded: placed on b over its soft cap: node(s) over a soft line",
    ];
    assert_eq!(harness.events(), expected);
}

#[test]
fn every_node_is_looked_at_unless_the_file_names_a_percentage() {
    let nodes: Vec<_> = (0..300).map(|n| node(&format!("n{n}"))).collect();
    let mut all = Harness::start(&nodes);
    all.set_pod(&pod("p"));
    assert_eq!(all.decisions()[0].evaluated, 300);
    let mut some = Harness::with(NO_RESCUE, "percentageOfNodesToScore: 50").started(&nodes);
    some.set_pod(&pod("p"));
    some.set_pod(&pod("q"));
    let evaluated: Vec<_> = some.decisions().iter().map(|one| one.evaluated).collect();
    assert_eq!(evaluated, [150, 150]);
}

#[test]
fn a_search_that_does_not_see_all_nodes_goes_on_where_the_last_one_ended() {
    let nodes: Vec<_> = (0..200)
        .map(|n| node(&format!("n{n}")).label("score", if n == 150 { "9" } else { "0" }))
        .collect();
    let mut harness = Harness::with(NO_RESCUE, "percentageOfNodesToScore: 50").started(&nodes);
    harness.set_pod(&pod("p"));
    harness.set_pod(&pod("q"));
    assert_ne!(harness.bound()[0], "p -> n150");
    assert_eq!(harness.bound()[1], "q -> n150");
}

#[test]
fn the_same_seed_gives_the_same_commands() {
    let run = || {
        let nodes: Vec<_> = (0..10).map(|n| node(&format!("n{n}")).cpu("2")).collect();
        let mut harness = Harness::start(&nodes);
        for n in 0..30 {
            harness.set_pod(&pod(&format!("p{n}")).cpu("1"));
        }
        harness.said
    };
    assert_eq!(run(), run());
}
