//! What people read when a pod finds no node.

use plimsoll_framework::test_util::{node, pod};

use crate::harness::{ALL, Harness};

fn message_for(
    nodes: &[plimsoll_framework::test_util::NodeBuilder],
    labels: &[(&str, &str)],
) -> String {
    let mut harness = Harness::start(nodes);
    let pod = labels
        .iter()
        .fold(pod("p"), |pod, (key, value)| pod.label(key, value));
    harness.set_pod(&pod);
    let message = harness.last_message();
    assert!(
        harness.patches()[0].1.ends_with(&message),
        "{:?}",
        harness.patches()
    );
    assert_eq!(harness.events()[0], format!("FailedScheduling: {message}"));
    message
}

#[test]
fn a_cluster_without_nodes_is_said_so() {
    assert_eq!(message_for(&[], &[]), "no nodes available to schedule pods");
}

#[test]
fn nodes_are_counted_by_reason_and_sorted_as_text() {
    let mut nodes: Vec<_> = (0..10)
        .map(|n| node(&format!("small{n}")).cpu("1"))
        .collect();
    nodes.extend((0..2).map(|n| node(&format!("other{n}"))));
    let mut harness = Harness::start(&nodes);
    harness.set_pod(&pod("p").cpu("2").label("needs", "gpu"));
    let expected = "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) didn't match.";
    assert_eq!(harness.last_message(), expected);
    assert_eq!(
        harness.patches()[0].1,
        format!("p Unschedulable: {expected}")
    );
}

#[test]
fn nodes_outside_the_set_of_a_pre_filter_are_counted_for_it() {
    let nodes = [node("a"), node("b"), node("c")];
    let message = message_for(&nodes, &[("only", "a"), ("needs", "gpu")]);
    let expected = "0/3 nodes are available: 1 node(s) didn't match, \
                    2 node(s) didn't satisfy plugin(s) [Only].";
    assert_eq!(message, expected);
}

#[test]
fn node_sets_that_do_not_meet_name_their_plugins() {
    let nodes = [node("a"), node("b")];
    let expected = "0/2 nodes are available: \
                    node(s) didn't satisfy plugin(s) [Also Only] simultaneously.";
    assert_eq!(
        message_for(&nodes, &[("only", "a"), ("also", "b")]),
        expected
    );
    let expected = "0/2 nodes are available: node(s) didn't satisfy plugin Only.";
    assert_eq!(message_for(&nodes, &[("only", "x")]), expected);
}

#[test]
fn a_pre_filter_that_rejects_speaks_for_all_nodes() {
    let nodes = [node("a"), node("b")];
    let message = message_for(&nodes, &[("odd", "pre-filter-rejects")]);
    assert_eq!(message, "0/2 nodes are available: no such claim.");
}

#[test]
fn internal_errors_name_the_plugin_and_the_point() {
    let nodes = [node("a"), node("b")];
    let range = "applying score defaultWeights on Score plugins: plugin \"Odd\" returns an \
                 invalid score 101, it should in the range of [0, 100] after normalizing";
    let cases = [
        (
            "pre-filter-error",
            "running PreFilter plugin \"Odd\": broken",
        ),
        ("filter-error", "running \"Odd\" filter plugin: broken"),
        ("pre-score-error", "running PreScore plugin \"Odd\": broken"),
        (
            "score-error",
            "running Score plugins: plugin \"Odd\" failed with: broken",
        ),
        (
            "normalize-error",
            "running Normalize on Score plugins: plugin \"Odd\" failed with: broken",
        ),
        ("score-101", range),
    ];
    for (odd, expected) in cases {
        let mut harness = Harness::start(&nodes);
        harness.set_pod(&pod("p").label("odd", odd));
        assert_eq!(
            harness.patches()[0].1,
            format!("p SchedulerError: {expected}")
        );
        assert_eq!(harness.stats().attempts[0].error, 1);
    }
}

#[test]
fn reasons_of_post_filters_end_the_message() {
    let mut harness = Harness::with(ALL, "").started(&[node("a").cpu("1")]);
    harness.set_pod(&pod("p").cpu("2"));
    let expected = "0/1 nodes are available: 1 Insufficient cpu. rescue: no help";
    assert_eq!(harness.last_message(), expected);
    harness.set_pod(&pod("q").cpu("2").label("rescue", "unresolvable"));
    assert!(harness.last_message().ends_with("cpu. rescue: hopeless"));
    assert_eq!(harness.stats().counters.preemption_attempts, 2);
}

#[test]
fn what_is_said_of_the_promised_node_counts_and_an_error_about_it_does_not() {
    let mut harness = Harness::start(&[node("a").cpu("1"), node("b").cpu("8")]);
    let pinned = |name| pod(name).cpu("2").label("only", "a").nominated("b");
    harness.set_pod(&pinned("p").label("needs", "gpu"));
    assert_eq!(
        harness.last_message(),
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match."
    );
    harness.set_pod(&pinned("q").label("breaks-on", "b"));
    assert_eq!(
        harness.last_message(),
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [Only]."
    );
}
