//! Soft constraints: raw scores and those after `normalize`.

use plimsoll_framework::test_util::{Cluster, check_score, cluster, node};
use serde_json::{Value, json};

use super::super::spec;
use super::{HOST, app, hard, host, soft, spread, with};

fn scores(cluster: &Cluster, constraints: &[Value]) -> Vec<String> {
    let pod = spread(app("new", "web"), constraints);
    check_score(&spec(), &Value::Null, cluster, &pod)
}

/// Three pods on `n1`, one on `n2`, both in zone `a`; one on `n3` in zone `b`.
fn uneven() -> Cluster {
    let nodes = [host("n1", "a"), host("n2", "a"), host("n3", "b")];
    let places = ["n1", "n1", "n1", "n2", "n3"].into_iter().enumerate();
    cluster(nodes).pods(places.map(|(n, on)| app(&format!("p{n}"), "web").on(on)))
}

#[test]
fn a_pod_without_soft_constraints_is_skipped() {
    assert_eq!(scores(&uneven(), &[]), ["PreScore: Skip"]);
    assert_eq!(scores(&uneven(), &[hard("zone", 9)]), ["PreScore: Skip"]);
}

#[test]
fn fewer_pods_in_the_zone_are_better_and_two_zones_weigh_ln_4() {
    // 4 and 1 pods times 1.386: 5.545 and 1.386.
    assert_eq!(
        scores(&uneven(), &[soft("zone", 1)]),
        ["n1: 6 -> 16", "n2: 6 -> 16", "n3: 1 -> 100"]
    );
}

#[test]
fn hosts_are_counted_one_by_one_and_weigh_by_their_number() {
    // 3, 1 and 1 pods times ln 5.
    assert_eq!(
        scores(&uneven(), &[soft(HOST, 1)]),
        ["n1: 5 -> 40", "n2: 2 -> 100", "n3: 2 -> 100"]
    );
}

#[test]
fn a_large_skew_waters_the_difference_down() {
    assert_eq!(
        scores(&uneven(), &[soft("zone", 5)]),
        ["n1: 10 -> 50", "n2: 10 -> 50", "n3: 5 -> 100"]
    );
}

#[test]
fn nodes_without_a_key_get_nothing_and_their_pods_count_nowhere() {
    let cluster = cluster([
        host("n1", "a"),
        host("n2", "b"),
        node("n3").label("zone", "a"),
    ])
    .pods([app("x", "web").on("n1"), app("y", "web").on("n3")]);
    assert_eq!(
        scores(&cluster, &[soft("zone", 1), soft(HOST, 1)]),
        // 1 * ln 4 + 1 * ln 4, of two hosts and two zones.
        ["n1: 3 -> 0", "n2: 0 -> 100", "n3: 0 -> 0"]
    );
}

#[test]
fn where_no_pod_matches_all_nodes_are_best() {
    let empty = cluster([host("n1", "a"), host("n2", "b")]);
    assert_eq!(
        scores(&empty, &[soft("zone", 1)]),
        ["n1: 0 -> 100", "n2: 0 -> 100"]
    );
    let nothing = with(soft("zone", 1), json!({"labelSelector": null}));
    let all = ["n1: 0 -> 100", "n2: 0 -> 100", "n3: 0 -> 100"];
    assert_eq!(scores(&uneven(), &[nothing]), all);
    let everything = with(soft("zone", 1), json!({"labelSelector": {}}));
    assert_eq!(scores(&uneven(), &[everything]), all);
}

#[test]
fn pods_on_nodes_that_cannot_do_count_in_their_zone() {
    // n4 breaks the hard constraint; its zone is that of n3.
    let nodes = [host("n1", "a"), host("n3", "b"), host("n4", "b")];
    let pods = ["x", "y", "z"].map(|name| app(name, "web").on("n4"));
    assert_eq!(
        scores(
            &cluster(nodes).pods(pods),
            &[soft("zone", 1), hard(HOST, 1)]
        ),
        ["n1: 0 -> 100", "n3: 4 -> 0"]
    );
}

#[test]
fn a_mistake_in_a_selector_fails_the_attempt() {
    let wrong = json!({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Gt"}]}});
    assert_eq!(
        scores(&uneven(), &[with(soft("zone", 1), wrong)]),
        ["Error: calculating preScoreState: \
          obtaining pod's soft topology spread constraints: \
          \"Gt\" is not a valid label selector operator"]
    );
}
