//! HTTP extenders in the cycle: what they are asked, in what order, and what comes of it.

use std::sync::Arc;

use plimsoll_core::{Outcome, PluginScore, Question, RefusedNode, Reply, Unscored};
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};

use crate::harness::{Harness, NO_RESCUE};

pub(crate) const GPU: &str = "managedResources: [{name: example.com/gpu}]";

pub(crate) fn with(extenders: &str, nodes: &[NodeBuilder]) -> Harness {
    let extra = format!("extenders:\n{extenders}");
    Harness::with(NO_RESCUE, &extra).started(nodes)
}

pub(crate) fn three() -> [NodeBuilder; 3] {
    ["a", "b", "c"].map(|name| node(name).cpu("40"))
}

pub(crate) fn gpu(name: &str) -> PodBuilder {
    pod(name).request("example.com/gpu", "1")
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

pub(crate) fn kept(kept: &[&str]) -> Reply {
    refused(kept, &[])
}

/// Keeps nodes, and says of others why not; with a `!` before the reason for good.
fn refused(kept: &[&str], refused: &[(&str, &str)]) -> Reply {
    let refuse = |(node, reason): &(&str, &str)| RefusedNode {
        node: Arc::from(*node),
        message: reason.trim_start_matches('!').to_owned(),
        unresolvable: reason.starts_with('!'),
    };
    Reply::Filtered {
        kept: names(kept),
        refused: refused.iter().map(refuse).collect(),
    }
}

fn scores(scores: &[(&str, i64)]) -> Reply {
    let score = |(node, score): &(&str, i64)| (Arc::from(*node), *score);
    Reply::Scores(scores.iter().map(score).collect())
}

/// The questions as `pod extender verb nodes`.
pub(crate) fn asked(harness: &Harness) -> Vec<String> {
    let text = |(_, pod, extender, question): (_, String, usize, Question)| {
        let (verb, nodes) = match question {
            Question::Filter { nodes } => ("filter", nodes),
            Question::Prioritize { nodes } => ("prioritize", nodes),
            Question::Bind { node } => ("bind", vec![node]),
            Question::Preempt { candidates } => (
                "preempt",
                candidates.into_iter().map(|one| one.node).collect(),
            ),
        };
        format!("{pod} {extender} {verb} {}", nodes.join(","))
    };
    harness.asks().into_iter().map(text).collect()
}

#[test]
fn extenders_filter_one_after_the_other_and_score_together() {
    let mut harness = with(
        "- {urlPrefix: 'http://x', filterVerb: f, prioritizeVerb: p, weight: 2, ignorable: true}\n\
         - {urlPrefix: 'http://y', filterVerb: f, prioritizeVerb: p, weight: 1}\n",
        &three(),
    );
    harness.set_pod(&pod("p"));
    harness.reply(kept(&["c", "a"]));
    harness.reply(kept(&["a", "c"]));
    assert_eq!(
        asked(&harness),
        [
            "p 1 filter a,b,c",
            "p 0 filter c,a",
            "p 1 prioritize a,c",
            "p 0 prioritize a,c"
        ],
        "the one that may be ignored comes last"
    );
    assert!(harness.binds().is_empty());
    let asks = harness.asks();
    harness.reply_to(asks[2].0, Ok(scores(&[("a", 10), ("elsewhere", 9)])));
    assert!(harness.binds().is_empty(), "one answer is missing");
    harness.reply_to(asks[3].0, Ok(scores(&[("c", 6), ("c", 1)])));
    assert_eq!(
        harness.bound(),
        ["p -> c"],
        "7 x 2 x 10 against 10 x 1 x 10"
    );
    let decision = &harness.decisions()[0];
    let of_extenders = |row: usize| {
        let mut scores = decision.candidates[row].scores.iter();
        scores.find(|score| score.plugin == "Extender").copied()
    };
    let score = |sum| PluginScore {
        plugin: "Extender",
        weight: 1,
        raw: sum,
        normalized: sum,
    };
    assert_eq!(
        [of_extenders(0), of_extenders(1)],
        [Some(score(140)), Some(score(100))]
    );
    assert_eq!(harness.tries("p"), 1, "one attempt, however often it asks");
}

/// EXT-A2: with one node left there is nothing to score.
#[test]
fn ext_a2_prioritize_is_not_asked_about_the_only_node() {
    let mut harness = with(
        "- {urlPrefix: 'http://x', filterVerb: f, prioritizeVerb: p, weight: 2}\n",
        &[node("a").label("has", "sun"), node("b")],
    );
    harness.set_pod(&pod("p").label("needs", "sun"));
    assert_eq!(asked(&harness), ["p 0 filter a"]);
    harness.reply(kept(&["a"]));
    assert_eq!(asked(&harness).len(), 1);
    assert_eq!(harness.bound(), ["p -> a"]);
    let outcome = Outcome::Chosen {
        node: "a".into(),
        unscored: Some(Unscored::OnlyFeasibleNode),
    };
    assert_eq!(harness.decisions()[0].outcome, outcome);
}

/// EXT-A3: not ignorable, ignorable, and ignorable with a binder.
#[test]
fn ext_a3_a_dead_extender_holds_pods_up_only_where_it_may_not_be_ignored() {
    let dead = "dial tcp 127.0.0.1:1: connect: connection refused";
    let mut firm = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    firm.set_pod(&pod("p"));
    firm.fail(dead);
    assert_eq!(firm.last_message(), dead);
    assert!(firm.events().contains(&format!("FailedScheduling: {dead}")));
    assert_eq!(firm.patches()[0].1, format!("p SchedulerError: {dead}"));
    firm.pass_seconds(2);
    firm.reply(kept(&["b"]));
    assert_eq!(firm.bound(), ["p -> b"], "it is asked again after a rest");

    let all = "filterVerb: f, prioritizeVerb: p, weight: 1, bindVerb: b, ignorable: true";
    let mut soft = with(&format!("- {{urlPrefix: 'http://x', {all}}}\n"), &three());
    soft.set_pod(&pod("p"));
    for verb in ["filter", "prioritize", "bind"] {
        assert!(asked(&soft).pop().is_some_and(|ask| ask.contains(verb)));
        soft.fail(dead);
    }
    assert_eq!(soft.binds().len(), 1, "the default binder does it");

    let mut binder = with("- {urlPrefix: 'http://x', bindVerb: b}\n", &three());
    binder.set_pod(&pod("p"));
    binder.fail(dead);
    assert!(binder.binds().is_empty());
    assert_eq!(binder.patches()[0].1, format!("p SchedulerError: {dead}"));
    assert_eq!(binder.stats().cache.assumed, 0);
}

#[test]
fn a_part_of_the_nodes_is_the_same_part_once_the_answer_has_come() {
    let nodes: Vec<NodeBuilder> = (0..300)
        .map(|n| node(&format!("n{n:03}")).cpu("400"))
        .collect();
    let extra = format!(
        "percentageOfNodesToScore: 34\nextenders:\n- {{urlPrefix: 'http://x', filterVerb: f, {GPU}}}\n"
    );
    let mut harness = Harness::with(NO_RESCUE, &extra).started(&nodes);
    harness.set_pod(&gpu("g"));
    for n in 0..5 {
        harness.set_pod(&pod(&format!("p{n}")));
    }
    let (_, _, _, question) = harness.asks().remove(0);
    let Question::Filter { nodes } = question else {
        panic!("{question:?}");
    };
    assert_eq!(nodes.len(), 102);
    let last = [Arc::clone(&nodes[101])];
    harness.reply(Reply::Filtered {
        kept: last.to_vec(),
        refused: Vec::new(),
    });
    assert_eq!(harness.stats().cache.assumed, 6);
    let chosen = harness.decisions().pop().map(|decision| decision.outcome);
    let outcome = Outcome::Chosen {
        node: Arc::clone(&last[0]),
        unscored: Some(Unscored::OnlyFeasibleNode),
    };
    assert_eq!(chosen, Some(outcome));
}

#[test]
fn reasons_of_extenders_are_counted_and_anything_wakes_the_pod() {
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    harness.set_pod(&pod("p"));
    harness.reply(refused(
        &[],
        &[("a", "no gpu"), ("b", "!broken"), ("moon", "?")],
    ));
    assert_eq!(
        harness.last_message(),
        "0/3 nodes are available: 1 broken, 1 no gpu.",
        "of c nothing is said"
    );
    let waiting = &harness.stats().unschedulable[0];
    assert_eq!((waiting.plugin, waiting.pods), ("Extender", 1));
    harness.set_pod(&pod("other").merge(serde_json::json!({"spec": {"nodeName": "a"}})));
    harness.pass_seconds(1);
    assert_eq!(
        harness.asks().len(),
        2,
        "a pod somewhere changes its mind perhaps"
    );
}

#[test]
fn a_node_that_is_both_refused_and_kept_is_kept() {
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    harness.set_pod(&pod("p"));
    harness.reply(refused(&["a"], &[("a", "no gpu")]));
    assert_eq!(harness.bound(), ["p -> a"]);
}

#[test]
fn the_cluster_of_the_moment_of_the_answer_counts() {
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &three());
    harness.set_pod(&pod("p"));
    harness.node_gone("a");
    harness.set_node(&node("d").cpu("4"));
    harness.reply(kept(&["a"]));
    assert_eq!(harness.bound(), [""; 0], "a is gone, d was not asked about");
    assert_eq!(harness.last_message(), "0/3 nodes are available:");
    harness.pass_seconds(2);
    harness.reply(kept(&["d"]));
    assert_eq!(harness.bound(), ["p -> d"], "the new node has woken it");
}

#[test]
fn nodes_over_a_soft_line_are_asked_about_when_nothing_else_is_left() {
    let soft = ["a", "b"].map(|name| node(name).cpu("4").label("soft", "1"));
    let nodes = [soft[0].clone(), soft[1].clone(), node("c").cpu("4")];
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &nodes);
    harness.set_pod(&pod("p"));
    harness.reply(kept(&[]));
    harness.reply(kept(&["b"]));
    assert_eq!(asked(&harness), ["p 0 filter c", "p 0 filter a,b"]);
    assert_eq!(harness.bound(), ["p -> b"]);
}

#[test]
fn a_member_of_a_group_is_not_placed_past_an_extender() {
    let gangs = "Sort Gates Gang Fit Match Label Book Binder";
    let extra = format!("extenders:\n- {{urlPrefix: 'http://x', filterVerb: f, {GPU}}}\n");
    let mut harness = Harness::with(gangs, &extra).started(&three());
    for name in ["m1", "m2"] {
        let member = gpu(name).label("gang", "g").label("gang-size", "2");
        harness.set_pod(&member);
    }
    assert!(harness.asks().is_empty() && harness.binds().is_empty());
    let patches = harness.patches();
    let says = "extenders are not asked about members of a group";
    assert!(patches[0].1.contains(says), "{patches:?}");
}

#[test]
fn a_reason_for_a_node_that_was_not_offered_does_not_count() {
    let nodes = [node("a"), node("b").label("has", "sun")];
    let mut harness = with("- {urlPrefix: 'http://x', filterVerb: f}\n", &nodes);
    harness.set_pod(&pod("p").label("needs", "sun"));
    harness.reply(refused(&[], &[("a", "no gpu"), ("b", "no gpu")]));
    let message = harness.last_message();
    let once = message.contains("1 no gpu") && !message.contains("2 no gpu");
    assert!(once, "{message}");
}

#[test]
fn the_next_search_begins_after_the_nodes_that_were_judged_whatever_extenders_leave() {
    let nodes: Vec<NodeBuilder> = (0..300)
        .map(|n| node(&format!("n{n:03}")).cpu("400"))
        .collect();
    let extra =
        "percentageOfNodesToScore: 34\nextenders:\n- {urlPrefix: 'http://x', filterVerb: f}\n";
    let mut harness = Harness::with(NO_RESCUE, extra).started(&nodes);
    let mut firsts = Vec::new();
    for name in ["p", "q"] {
        harness.set_pod(&pod(name));
        let Some((_, _, _, Question::Filter { nodes })) = harness.asks().pop() else {
            panic!("no question");
        };
        firsts.push(nodes[0].to_string());
        harness.reply(kept(&[&nodes[0]]));
    }
    assert_eq!(firsts, ["n000", "n102"]);
    assert_eq!(harness.decisions()[0].evaluated, 102);
}
