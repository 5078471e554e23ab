//! What must be: Skip, codes, reasons, and whom terms mean.

use plimsoll_framework::test_util::{Cluster, PodBuilder, Trial, check_filter, cluster, node, pod};
use plimsoll_framework::{Cycle, CycleState, PreFilterOutcome};
use serde_json::{Value, json};

use super::super::required::{REASON_AFFINITY, REASON_ANTI, REASON_EXISTING};
use super::super::spec;
use super::{HOST, WithTerms, ZONE, app, host, namespace, near, near_in};

/// Three nodes in two zones; n4 has no label.
fn nodes() -> Cluster {
    let nodes = [
        host("n1", "a"),
        host("n2", "a"),
        host("n3", "b"),
        node("n4"),
    ];
    cluster(nodes)
}

fn verdicts(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), &Value::Null, cluster, pod)
}

/// Which nodes pass; the others are rejected for `reason`.
fn passing(cluster: &Cluster, pod: &PodBuilder, reason: &str) -> Vec<String> {
    let split = verdicts(cluster, pod).into_iter().filter_map(|line| {
        let (node, verdict) = line.split_once(": ")?;
        assert!(verdict == "Pass" || verdict == reason, "{line}");
        (verdict == "Pass").then(|| node.to_owned())
    });
    split.collect()
}

fn no_company() -> String {
    format!("UnschedulableAndUnresolvable: {REASON_AFFINITY}")
}

#[test]
fn a_pod_without_required_terms_is_not_judged_if_no_placed_pod_avoids_it() {
    let liked = app("a", "web").likes(5, near(ZONE, "web"));
    let there = nodes().pods([app("p", "db").avoids(&[near(ZONE, "api")]).on("n1")]);
    assert_eq!(verdicts(&there, &liked), ["PreFilter: Skip"]);
    assert_eq!(verdicts(&nodes(), &pod("a")), ["PreFilter: Skip"]);
    // On a node without the label the placed pod's term is about no node.
    let nowhere = nodes().pods([app("p", "db").avoids(&[near(ZONE, "web")]).on("n4")]);
    assert_eq!(verdicts(&nowhere, &liked), ["PreFilter: Skip"]);
}

#[test]
fn affinity_needs_a_pod_near_and_preemption_does_not_help() {
    let there = nodes().pods([app("p", "db").on("n1"), app("q", "api").on("n3")]);
    let wants = |terms: &[Value]| pod("a").wants(terms);
    let cases = [
        (wants(&[near(ZONE, "db")]), vec!["n1", "n2"]),
        (wants(&[near(HOST, "db")]), vec!["n1"]),
        // One pod must be meant by all terms.
        (wants(&[near(ZONE, "db"), near(ZONE, "api")]), vec![]),
        (wants(&[near(ZONE, "db"), near(HOST, "db")]), vec!["n1"]),
        // No node has the label, or no selector is written.
        (wants(&[near("rack", "db")]), vec![]),
        (wants(&[json!({"topologyKey": ZONE})]), vec![]),
        (
            wants(&[json!({"topologyKey": ZONE, "labelSelector": {}})]),
            vec!["n1", "n2", "n3"],
        ),
    ];
    for (pod, nodes) in cases {
        assert_eq!(passing(&there, &pod, &no_company()), nodes);
    }
}

#[test]
fn anti_affinity_avoids_what_any_term_means() {
    let there = nodes().pods([app("p", "db").on("n1"), app("q", "api").on("n3")]);
    let avoids = |terms: &[Value]| pod("a").avoids(terms);
    let cases = [
        (avoids(&[near(ZONE, "db")]), vec!["n3", "n4"]),
        (avoids(&[near(HOST, "db")]), vec!["n2", "n3", "n4"]),
        (
            avoids(&[near(HOST, "db"), near(HOST, "api")]),
            vec!["n2", "n4"],
        ),
        (avoids(&[near("rack", "db")]), vec!["n1", "n2", "n3", "n4"]),
    ];
    for (pod, nodes) in cases {
        let reason = format!("Unschedulable: {REASON_ANTI}");
        assert_eq!(passing(&there, &pod, &reason), nodes);
    }
}

#[test]
fn a_placed_pod_keeps_away_what_its_anti_affinity_means() {
    let placed = app("p", "db").avoids(&[near(ZONE, "web"), near(HOST, "api")]);
    let there = nodes().pods([placed.on("n1")]);
    let cases = [
        (app("a", "web"), vec!["n3", "n4"]),
        (app("a", "api"), vec!["n2", "n3", "n4"]),
        (app("a", "api").namespace("other"), vec![]),
    ];
    for (pod, nodes) in cases {
        if nodes.is_empty() {
            assert_eq!(verdicts(&there, &pod), ["PreFilter: Skip"]);
            continue;
        }
        let reason = format!("Unschedulable: {REASON_EXISTING}");
        assert_eq!(passing(&there, &pod, &reason), nodes);
    }
}

#[test]
fn the_first_rule_that_fails_is_named_own_affinity_before_anti_before_others() {
    let there = nodes().pods([app("p", "db").avoids(&[near(HOST, "web")]).on("n1")]);
    let pod = app("a", "web").wants(&[near(ZONE, "db")]);
    assert_eq!(
        verdicts(&there, &pod.clone().avoids(&[near(HOST, "db")]))[..3],
        [
            format!("n1: Unschedulable: {REASON_ANTI}"),
            "n2: Pass".to_owned(),
            format!("n3: {}", no_company()),
        ]
    );
    assert_eq!(
        verdicts(&there, &pod)[0],
        format!("n1: Unschedulable: {REASON_EXISTING}")
    );
}

/// SCH-A3
#[test]
fn the_first_pod_of_a_group_may_begin_it_where_a_node_has_every_label() {
    let both = |name: &str| pod(name).label("app", "web").label("tier", "fe");
    let tier = json!({"topologyKey": HOST, "labelSelector": {"matchLabels": {"tier": "fe"}}});
    let first = both("a").wants(&[near(HOST, "web"), tier.clone()]);
    let hosts = [
        node("n1").label(HOST, "n1"),
        node("n2").label(HOST, "n2"),
        node("n3"),
    ];
    let there = cluster(hosts).pods([app("e1", "web").on("n1")]);
    assert_eq!(passing(&there, &first, &no_company()), ["n1", "n2"]);
    let begun = there.clone().pods([both("e2").on("n2")]);
    assert_eq!(passing(&begun, &first, &no_company()), ["n2"]);
    // One that is not meant itself may not begin it.
    let other = app("a", "web").wants(&[near(HOST, "web"), tier]);
    assert!(passing(&there, &other, &no_company()).is_empty());
    // A pod on a node without the label is none that could be near.
    let hidden = there.pods([both("e3").on("n3")]);
    assert_eq!(passing(&hidden, &first, &no_company()), ["n1", "n2"]);
}

#[test]
fn namespace_selectors_of_the_pod_mean_namespaces_that_exist() {
    let team = json!({"matchLabels": {"team": "x"}});
    let teamless = json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]});
    let there = nodes()
        .objects([
            namespace("x", &json!({"team": "x"})),
            namespace("plain", &json!({})),
        ])
        .pods([
            app("p", "db").namespace("x").on("n1"),
            app("q", "db").namespace("plain").on("n3"),
            app("r", "db").namespace("deleted").on("n2"),
        ]);
    let cases = [
        (near(HOST, "db"), vec![]),
        (near_in(HOST, "db", &team), vec!["n1"]),
        (near_in(HOST, "db", &teamless), vec!["n3"]),
        (near_in(HOST, "db", &json!({})), vec!["n1", "n2", "n3"]),
        (near_in(HOST, "db", &Value::Null), vec![]),
    ];
    for (term, nodes) in cases {
        let pod = pod("a").wants(std::slice::from_ref(&term));
        assert_eq!(passing(&there, &pod, &no_company()), nodes, "{term}");
    }
}

#[test]
fn namespace_selectors_of_placed_pods_see_a_namespace_that_is_gone_without_labels() {
    let teamless = json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]});
    let placed = app("p", "db").avoids(&[near_in(HOST, "web", &teamless)]);
    let there = nodes()
        .objects([namespace("x", &json!({"team": "x"}))])
        .pods([placed.on("n1")]);
    let reason = format!("Unschedulable: {REASON_EXISTING}");
    let gone = app("a", "web").namespace("gone");
    assert_eq!(passing(&there, &gone, &reason), ["n2", "n3", "n4"]);
    let with_team = app("a", "web").namespace("x");
    assert_eq!(verdicts(&there, &with_team), ["PreFilter: Skip"]);
}

#[test]
fn a_mistake_in_any_list_turns_the_pod_down_and_one_of_a_placed_pod_is_passed_over() {
    let wrong = json!({"topologyKey": ZONE, "labelSelector": {"matchExpressions": [
        {"key": "app", "operator": "Near"},
    ]}});
    let pod = app("a", "web").likes(1, wrong.clone());
    let text = "\"Near\" is not a valid label selector operator";
    assert_eq!(
        verdicts(&nodes(), &pod),
        [format!(
            "PreFilter: UnschedulableAndUnresolvable: parsing pod: preferredAffinityTerms: {text}"
        )]
    );
    let placed = app("p", "db").avoids(&[near(ZONE, "web"), wrong]);
    let there = nodes().pods([placed.on("n1")]);
    assert_eq!(verdicts(&there, &app("a", "web")), ["PreFilter: Skip"]);
}

#[test]
fn a_thousand_terms_are_judged() {
    let terms: Vec<Value> = (0..1000)
        .map(|number| near(&format!("key-{}", number % 40), &format!("app-{number}")))
        .collect();
    let there = nodes().pods([app("p", "app-7").on("n1")]);
    let avoids = pod("a").avoids(&terms);
    assert_eq!(passing(&there, &avoids, ""), ["n1", "n2", "n3", "n4"]);
    let wants = pod("a").wants(&terms);
    assert!(passing(&there, &wants, &no_company()).is_empty());
}

#[test]
fn filter_without_pre_filter_is_an_error() {
    let scene = nodes().scene(&pod("a"));
    let trial = Trial::new(&spec(), &Value::Null);
    let cycle: Cycle<'_> = scene.cycle();
    let mut state = CycleState::new();
    let said = trial.filter(&cycle, &state, scene.node("n1"));
    assert_eq!(
        said.map_err(|error| error.message()),
        Err("error reading \"PreFilterInterPodAffinity\" from cycleState: not found".to_owned())
    );
    assert_eq!(
        trial.pre_filter(&cycle, &mut state),
        Ok(PreFilterOutcome::Skip)
    );
}
