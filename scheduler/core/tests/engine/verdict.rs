//! What the engine says of a pod when it is only asked, and pods placed by such words.

use plimsoll_core::{Outcome, Placement, Unscored, Verdict};
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{PodBuilder, node, pod};

use crate::harness::{ALL, Harness};

fn verdict(harness: &mut Harness, pod: &PodBuilder) -> Verdict {
    let now = Now::at(harness.now);
    let verdict = harness.engine.verdict(now, &pod.arc());
    verdict.expect("a profile is for it")
}

fn place(harness: &mut Harness, pod: &PodBuilder) -> Placement {
    let now = Now::at(harness.now);
    let placement = harness.engine.try_place(now, &pod.arc());
    placement.expect("a profile is for it")
}

/// `a: Success`, `b: Unschedulable Fit [Insufficient cpu]`.
fn words(verdict: &Verdict) -> Vec<String> {
    let word = |(name, said): (&std::sync::Arc<str>, &plimsoll_core::NodeVerdict)| {
        let status = &said.status;
        let mut text = format!("{name}: {}", status.code);
        if !status.plugin.is_empty() {
            text = format!("{text} {}", status.plugin);
        }
        if !status.reasons.is_empty() {
            text = format!("{text} [{}]", status.reasons.join(", "));
        }
        text
    };
    verdict.nodes.iter().map(word).collect()
}

fn names(names: &[std::sync::Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

fn three() -> Harness {
    Harness::with(ALL, "").started(&[
        node("c").label("score", "5"),
        node("a").label("score", "5"),
        node("b").cpu("1"),
    ])
}

#[test]
fn every_node_is_judged_and_all_of_the_best_are_named() {
    let mut harness = three();
    let said = verdict(&mut harness, &pod("p").cpu("2"));
    assert_eq!(
        words(&said),
        [
            "a: Success",
            "b: Unschedulable Fit [Insufficient cpu]",
            "c: Success"
        ]
    );
    assert_eq!((said.feasible, names(&said.top)), (2, vec!["a", "c"]));
    let columns: Vec<_> = said
        .score_plugins
        .iter()
        .map(|one| (one.name, one.weight))
        .collect();
    assert_eq!(columns, [("Label", 1)]);
    assert_eq!(said.skipped_score, ["Odd"]);
    let first = &said.nodes["a"];
    assert_eq!(
        (&*first.raw, &*first.normalized, first.total),
        (&[5][..], &[10][..], Some(10))
    );
    assert_eq!(said.nodes["b"].total, None);
    let ready = said.pre_filter.expect("it was asked");
    assert_eq!(
        (ready.status.code, ready.skipped),
        ("Success", vec!["Match"])
    );
    assert_eq!((ready.plugins.len(), ready.node_names), (0, None));
}

#[test]
fn asking_changes_nothing() {
    let mut harness = three();
    let (before, counted) = (harness.stats(), harness.engine.evaluations());
    let asked = [
        verdict(&mut harness, &pod("p").cpu("2")),
        verdict(&mut harness, &pod("p").cpu("2")),
    ];
    assert_eq!(asked[0], asked[1]);
    assert_eq!(harness.stats(), before);
    assert_eq!(harness.engine.evaluations(), counted);
    assert!(harness.said.is_empty(), "{:?}", harness.said);
}

#[test]
fn a_cycle_comes_to_what_the_verdict_said() {
    let pods = [
        pod("p").cpu("2"),
        pod("p").cpu("9000"),
        pod("p").label("needs", "gpu"),
        pod("p").label("only", "b_c"),
        pod("p").label("only", "a").label("also", "b"),
        pod("p").label("odd", "pre-filter-rejects"),
        pod("p").label("odd", "pre-filter-error"),
        pod("p").label("odd", "filter-error"),
        pod("p").label("odd", "score-error"),
        pod("p").cpu("9000").label("rescue", "unresolvable"),
        pod("p").cpu("9000").label("rescue", "retry"),
    ];
    for pod in pods {
        let mut harness = three();
        let said = verdict(&mut harness, &pod);
        harness.set_pod(&pod);
        match &harness.decisions()[0].outcome {
            Outcome::Chosen { node, .. } => assert!(said.top.contains(node), "{said:?}"),
            Outcome::Unschedulable { message } => assert_eq!(said.message.as_ref(), Some(message)),
            Outcome::Failed { message } => assert_eq!(said.error.as_ref(), Some(message)),
        }
    }
}

#[test]
fn pods_that_are_not_tried_get_one_word() {
    let mut harness = three();
    let gated = verdict(&mut harness, &pod("p").gate("wait"));
    let held = gated.pre_enqueue.expect("a gate holds it");
    assert_eq!(held.plugin, "Gates");
    assert!(gated.pre_filter.is_none() && gated.nodes.is_empty());
    let leaving = verdict(&mut harness, &pod("p").deleted("2026-01-01T00:00:00Z"));
    let expected = "skip schedule deleting pod: default/p";
    assert_eq!(leaving.skipped.as_deref(), Some(expected));
    let other = pod("p").scheduler("nobody").arc();
    assert_eq!(harness.engine.verdict(Now::at(harness.now), &other), None);
}

#[test]
fn nodes_outside_the_set_of_a_pre_filter_have_no_plugin() {
    let mut harness = three();
    let said = verdict(&mut harness, &pod("p").label("only", "a"));
    let outside = "UnschedulableAndUnresolvable [node(s) didn't satisfy plugin(s) [Only]]";
    assert_eq!(
        words(&said),
        [
            "a: Success".to_owned(),
            format!("b: {outside}"),
            format!("c: {outside}")
        ]
    );
    let ready = said.pre_filter.expect("it was asked");
    assert_eq!(ready.node_names.as_deref().map(names), Some(vec!["a"]));
    let (status, left) = &ready.plugins[0];
    assert_eq!((status.code, &*status.plugin), ("Success", "Only"));
    assert_eq!(left.as_deref().map(names), Some(vec!["a"]));
    let nothing = verdict(&mut harness, &pod("p").label("only", "x"));
    let ready = nothing.pre_filter.expect("it was asked");
    assert_eq!(
        (ready.node_names, nothing.nodes.len()),
        (Some(Vec::new()), 0)
    );
}

#[test]
fn an_only_node_is_taken_unscored_and_an_error_in_scoring_is_not_seen() {
    let mut harness = three();
    let said = verdict(&mut harness, &pod("p").label("only", "a"));
    let taken = said.unscored.as_ref().map(|(node, why)| (&**node, *why));
    assert_eq!(taken, Some(("a", Unscored::OnlyFeasibleNode)));
    assert_eq!(
        (names(&said.top), said.nodes["a"].total),
        (vec!["a"], Some(10))
    );
    let odd = pod("p").label("only", "a").label("odd", "score-error");
    let said = verdict(&mut harness, &odd);
    assert_eq!((said.error, said.feasible, said.top), (None, 1, Vec::new()));
    let odd = verdict(&mut harness, &pod("p").label("odd", "score-error"));
    assert_eq!((odd.node(), odd.feasible), (None, 3));
    assert!(odd.error.is_some() && odd.score_plugins.is_empty());
}

#[test]
fn the_promised_node_is_taken_unscored() {
    let mut harness = three();
    let promised = pod("p").nominated("c");
    harness.step(plimsoll_core::Event::PodsListed(vec![
        promised.clone().gate("wait").arc(),
    ]));
    let said = verdict(&mut harness, &promised);
    let taken = said.unscored.as_ref().map(|(node, why)| (&**node, *why));
    assert_eq!(taken, Some(("c", Unscored::NominatedNode)));
    let rival = verdict(&mut harness, &pod("q"));
    assert_eq!(names(&rival.top), ["a", "c"]);
}

#[test]
fn of_soft_nodes_the_least_is_taken_if_none_passes() {
    let mut harness = Harness::with(ALL, "")
        .started(&[node("b").label("soft", "1"), node("a").label("soft", "2")]);
    let said = verdict(&mut harness, &pod("p"));
    assert_eq!(
        words(&said),
        [
            "a: Soft [node(s) over a soft line]",
            "b: Soft [node(s) over a soft line]"
        ]
    );
    let taken = said.unscored.as_ref().map(|(node, why)| (&**node, *why));
    assert_eq!((taken, said.feasible), (Some(("b", Unscored::SoftCap)), 0));
}

#[test]
fn what_preemption_would_do_is_told_and_not_done() {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("1")]);
    harness.set_pod(&pod("victim").cpu("1").on("a"));
    let said = verdict(&mut harness, &pod("p").cpu("1").label("rescue", "yes"));
    let expected = "0/1 nodes are available: 1 Insufficient cpu. rescue: found a place";
    assert_eq!(said.message.as_deref(), Some(expected));
    let help = said.post_filter.expect("it was asked");
    assert_eq!(help.status.reasons, ["rescue: found a place"]);
    assert_eq!(help.nominated_node.as_deref(), Some("a"));
    assert_eq!(names(&help.tied), ["a"]);
    assert_eq!(
        help.candidates["a"].victims[0].to_string(),
        "default/victim"
    );
    assert!(harness.effects().is_empty());
    let none = verdict(&mut harness, &pod("p").cpu("2").label("rescue", "withdraw"));
    let none = none.post_filter.expect("it was asked");
    assert_eq!(
        (none.status.code, &*none.status.plugin),
        ("Unschedulable", "Rescue")
    );
    assert!(none.clears_nomination && none.candidates.is_empty());
}

#[test]
fn a_pod_that_was_placed_is_seen_by_the_next() {
    let mut harness = Harness::with(ALL, "").started(&[node("b").cpu("1"), node("a").cpu("1")]);
    let placed = ["p", "q", "r"].map(|name| {
        let placement = place(&mut harness, &pod(name).cpu("1"));
        placement.node.map(|node| node.to_string())
    });
    assert_eq!(placed, [Some("a".to_owned()), Some("b".to_owned()), None]);
    assert!(harness.bound().is_empty());
}

#[test]
fn a_pod_that_a_reserve_turns_down_leaves_its_place_to_the_next() {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("1")]);
    let down = place(&mut harness, &pod("p").cpu("1").label("reserve", "rejects"));
    let reserve = down.reserve.expect("it was turned down");
    assert_eq!(
        (reserve.code, &*reserve.plugin),
        ("Unschedulable", "Second")
    );
    assert_eq!(down.node.as_deref(), Some("a"));
    let failed = place(&mut harness, &pod("p").cpu("1").label("reserve", "error"));
    let reserve = failed.reserve.expect("it failed");
    assert_eq!((reserve.code, &*reserve.plugin), ("Error", ""));
    assert_eq!(
        reserve.reasons,
        ["running Reserve plugin \"Second\": broken"]
    );
    let next = place(&mut harness, &pod("q").cpu("1"));
    assert_eq!((next.node.as_deref(), next.reserve), (Some("a"), None));
}
