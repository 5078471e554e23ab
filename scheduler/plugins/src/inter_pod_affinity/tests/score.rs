//! What would be good: raw and normalised scores, Skip, args.

use plimsoll_framework::test_util::{Cluster, PodBuilder, Trial, check_score, cluster, node, pod};
use plimsoll_framework::{CycleState, NodeScore};
use serde_json::{Value, json};

use super::super::preferred::normalize;
use super::super::spec;
use super::{HOST, WithTerms, ZONE, app, host, near, near_in};

fn nodes() -> Cluster {
    cluster([
        host("n1", "a"),
        host("n2", "a"),
        host("n3", "b"),
        node("n4"),
    ])
}

fn scores(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_score(&spec(), &Value::Null, cluster, pod)
}

const SKIP: [&str; 1] = ["PreScore: Skip"];

#[test]
fn weights_add_up_per_pod_and_per_label_that_a_node_has() {
    let there = nodes().pods([app("p", "db").on("n1"), app("q", "db").on("n2")]);
    let likes = pod("a").likes(5, near(ZONE, "db"));
    assert_eq!(
        scores(&there, &likes),
        ["n1: 10 -> 100", "n2: 10 -> 100", "n3: 0 -> 0", "n4: 0 -> 0"]
    );
    let both = likes.dislikes(7, near(HOST, "db"));
    assert_eq!(
        scores(&there, &both),
        ["n1: 3 -> 100", "n2: 3 -> 100", "n3: 0 -> 0", "n4: 0 -> 0"]
    );
}

#[test]
fn the_quotient_is_taken_first_and_cut_off() {
    let mut rows = [0, 29, 100].map(|score| NodeScore {
        node: plimsoll_framework::NodeId(0),
        score,
    });
    normalize(&mut rows);
    // 100 * (29 / 100) in floats is a little below 29.
    assert_eq!(rows.map(|row| row.score), [0, 28, 100]);
    normalize(&mut []);
}

#[test]
fn placed_pods_say_what_they_think_of_the_newcomer() {
    let there = nodes().pods([
        app("p", "db").likes(4, near(ZONE, "web")).on("n1"),
        app("q", "db").dislikes(9, near(HOST, "web")).on("n2"),
        app("r", "db").wants(&[near(HOST, "web")]).on("n3"),
    ]);
    let raw = |args: &Value| {
        let lines = check_score(&spec(), args, &there, &app("a", "web"));
        let of = |line: &String| line.split(" -> ").next().map(str::to_owned);
        lines.iter().filter_map(of).collect::<Vec<String>>()
    };
    assert_eq!(raw(&Value::Null), ["n1: 4", "n2: -5", "n3: 1", "n4: 0"]);
    let weight = json!({"hardPodAffinityWeight": 50});
    assert_eq!(raw(&weight), ["n1: 4", "n2: -5", "n3: 50", "n4: 0"]);
    let weight = json!({"hardPodAffinityWeight": 0});
    assert_eq!(raw(&weight), ["n1: 4", "n2: -5", "n3: 0", "n4: 0"]);
    assert_eq!(scores(&there, &app("a", "api")), SKIP);
}

#[test]
fn it_is_skipped_if_nothing_counts_not_if_the_sums_are_zero() {
    assert_eq!(scores(&nodes(), &pod("a")), SKIP);
    let likes = pod("a").likes(5, near(ZONE, "db"));
    assert_eq!(scores(&nodes(), &likes), SKIP);
    let without_label = nodes().pods([app("p", "db").on("n4")]);
    assert_eq!(scores(&without_label, &likes), SKIP);
    let there = nodes().pods([app("p", "db").on("n1")]);
    let torn = likes.dislikes(5, near(ZONE, "db"));
    let all_zero = ["n1: 0 -> 0", "n2: 0 -> 0", "n3: 0 -> 0", "n4: 0 -> 0"];
    assert_eq!(scores(&there, &torn), all_zero);
}

#[test]
fn preferred_terms_of_placed_pods_may_be_ignored_for_pods_without_their_own() {
    let ignore = json!({"ignorePreferredTermsOfExistingPods": true});
    let there = nodes().pods([
        app("p", "db").likes(4, near(HOST, "web")).on("n1"),
        app("q", "api").on("n2"),
    ]);
    assert_eq!(
        check_score(&spec(), &ignore, &there, &app("a", "web")),
        SKIP
    );
    let likes = app("a", "web").likes(8, near(HOST, "api"));
    assert_eq!(
        check_score(&spec(), &ignore, &there, &likes)[..2],
        ["n1: 4 -> 50", "n2: 8 -> 100"]
    );
}

#[test]
fn every_namespace_is_meant_by_an_empty_selector_on_both_sides() {
    let everywhere = |app: &str| near_in(HOST, app, &json!({}));
    let there = nodes().pods([
        app("p", "db").namespace("x").on("n1"),
        app("q", "api")
            .namespace("y")
            .likes(3, everywhere("web"))
            .on("n2"),
    ]);
    assert_eq!(
        scores(&there, &app("a", "web").likes(1, everywhere("db")))[..2],
        ["n1: 1 -> 33", "n2: 3 -> 100"]
    );
}

#[test]
fn odd_weights_do_not_overflow() {
    let there = nodes().pods([app("p", "db").on("n1"), app("q", "db").on("n1")]);
    let odd = pod("a").dislikes(i32::MIN, near(HOST, "db"));
    assert_eq!(
        scores(&there, &odd),
        [
            "n1: -4294967296 -> 0",
            "n2: 0 -> 100",
            "n3: 0 -> 100",
            "n4: 0 -> 100"
        ]
    );
}

#[test]
fn a_mistake_fails_the_attempt_where_pre_filter_is_not_configured() {
    let scene = nodes().scene(&pod("a").likes(
        1,
        json!({"topologyKey": ZONE, "labelSelector": {"matchExpressions": [
            {"key": "app", "operator": "Near"},
        ]}}),
    ));
    let trial = Trial::new(&spec(), &Value::Null);
    let said = trial.scores(&scene.cycle(), &mut CycleState::new(), &[]);
    let text = "\"Near\" is not a valid label selector operator";
    assert_eq!(
        said.map_err(|error| error.message()),
        Err(format!(
            "failed to parse pod: preferredAffinityTerms: {text}"
        ))
    );
}

#[test]
fn score_without_pre_score_is_an_error() {
    let scene = nodes().scene(&pod("a"));
    let trial = Trial::new(&spec(), &Value::Null);
    let hook = trial.hooks.score.as_ref().expect("it scores");
    let said = hook.score(&scene.cycle(), &CycleState::new(), scene.node("n1"));
    assert_eq!(
        said.map_err(|error| error.message()),
        Err("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found".to_owned())
    );
}
