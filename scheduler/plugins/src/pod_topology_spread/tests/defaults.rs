//! Default constraints: whose they are, and which pods they count.

use plimsoll_framework::test_util::{
    Cluster, PodBuilder, check_filter, check_score, cluster, node,
};
use serde_json::{Value, json};

use super::super::{REASON, spec};
use super::{HOST, app, hard, host, spread};

const ZONE: &str = "topology.kubernetes.io/zone";

fn service(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

fn owner(version: &str, kind: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": "own", "namespace": "default"}, "spec": spec})
}

/// `pod`, made by the object `own` of this kind.
fn owned(pod: PodBuilder, version: &str, kind: &str) -> PodBuilder {
    let owner =
        json!({"apiVersion": version, "kind": kind, "name": "own", "uid": "1", "controller": true});
    pod.merge(json!({"metadata": {"ownerReferences": [owner]}}))
}

fn web() -> Value {
    json!({"selector": {"app": "web"}})
}

fn web_selector() -> Value {
    json!({"selector": {"matchLabels": {"app": "web"}}})
}

/// Nodes in two zones with two pods of `web` on the first, one of `db` on the second.
fn two_zones() -> Cluster {
    let nodes = ["n1", "n2"].map(|name| {
        node(name)
            .label(HOST, name)
            .label(ZONE, &format!("z-{name}"))
    });
    cluster(nodes).pods([
        app("x", "web").on("n1"),
        app("y", "web").on("n1"),
        app("z", "db").on("n2"),
    ])
}

/// One hard default constraint.
fn list() -> Value {
    json!({"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
         "matchLabelKeys": ["hash"]},
    ]})
}

fn system(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_score(&spec(), &Value::Null, cluster, pod)
}

/// `(2 ln 4 + 2) + (2 ln 4 + 4)` and `2 + 4`: hosts with skew 3, zones with skew 5.
const COUNTED: [&str; 2] = ["n1: 12 -> 50", "n2: 6 -> 100"];

#[test]
fn the_pods_of_the_services_of_a_pod_are_spread() {
    let cluster = two_zones().objects([service("s", &web())]);
    assert_eq!(system(&cluster, &app("new", "web")), COUNTED);
    assert_eq!(system(&cluster, &app("new", "other")), ["PreScore: Skip"]);
    let elsewhere = app("new", "web").namespace("other");
    assert_eq!(system(&cluster, &elsewhere), ["PreScore: Skip"]);
}

#[test]
fn services_without_a_selector_or_with_an_empty_one_select_nothing_to_spread() {
    for spec in [
        json!({}),
        json!({"selector": {}}),
        json!({"selector": null}),
    ] {
        let cluster = two_zones().objects([service("s", &spec)]);
        assert_eq!(system(&cluster, &app("new", "web")), ["PreScore: Skip"]);
    }
}

#[test]
fn the_pods_of_the_owner_of_a_pod_are_spread() {
    let cases = [
        ("v1", "ReplicationController", web()),
        ("apps/v1", "ReplicaSet", web_selector()),
        ("apps/v1", "StatefulSet", web_selector()),
    ];
    for (version, kind, selector) in cases {
        let cluster = two_zones().objects([owner(version, kind, &selector)]);
        let pod = |version| owned(app("new", "web"), version, kind);
        assert_eq!(system(&cluster, &pod(version)), COUNTED, "{kind}");
        let foreign = pod("apps.example.com/v1");
        assert_eq!(system(&cluster, &foreign), ["PreScore: Skip"], "{kind}");
    }
    let unknown = owned(app("new", "web"), "apps/v1", "ReplicaSet");
    assert_eq!(system(&two_zones(), &unknown), ["PreScore: Skip"]);
}

#[test]
fn service_and_owner_select_together() {
    let narrow = json!({"selector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}});
    let cluster = two_zones().objects([
        service("s", &web()),
        owner("apps/v1", "ReplicaSet", &narrow),
    ]);
    let pod = owned(app("new", "web"), "apps/v1", "ReplicaSet");
    // No pod of `web` has a tier.
    assert_eq!(system(&cluster, &pod), ["n1: 6 -> 100", "n2: 6 -> 100"]);
    let none = owner("apps/v1", "ReplicaSet", &json!({}));
    let cluster = two_zones().objects([service("s", &web()), none]);
    assert_eq!(system(&cluster, &pod), COUNTED);
}

#[test]
fn with_the_system_constraints_a_node_without_a_zone_is_scored_by_its_host() {
    let nodes = [node("n1").label(HOST, "n1"), node("n2").label(HOST, "n2")];
    let cluster = cluster(nodes)
        .pods([app("x", "web").on("n1")])
        .objects([service("s", &web())]);
    // ln 4 + 2, and 2.
    assert_eq!(
        system(&cluster, &app("new", "web")),
        ["n1: 3 -> 66", "n2: 2 -> 100"]
    );
}

#[test]
fn a_list_replaces_them_and_may_be_hard() {
    let cluster = two_zones().objects([service("s", &web())]);
    let rejected = format!("n1: Unschedulable: {REASON}");
    assert_eq!(
        check_filter(
            &spec(),
            &list(),
            &cluster,
            &app("new", "web").label("hash", "1")
        ),
        [rejected, "n2: Pass".to_owned()]
    );
    assert_eq!(
        check_score(&spec(), &list(), &cluster, &app("new", "web")),
        ["PreScore: Skip"]
    );
}

#[test]
fn a_pod_with_constraints_of_its_own_has_no_others() {
    let cluster = two_zones().objects([service("s", &web())]);
    let pod = spread(app("new", "web"), &[hard(HOST, 9)]);
    assert_eq!(system(&cluster, &pod), ["PreScore: Skip"]);
    assert_eq!(
        check_filter(&spec(), &list(), &cluster, &pod),
        ["n1: Pass", "n2: Pass"]
    );
}

#[test]
fn an_empty_list_turns_them_off() {
    let off = json!({"defaultingType": "List"});
    let nodes = [host("n1", "a"), host("n2", "b")];
    let cluster = cluster(nodes).objects([service("s", &web())]);
    let skipped = check_score(&spec(), &off, &cluster, &app("new", "web"));
    assert_eq!(skipped, ["PreScore: Skip"]);
}
