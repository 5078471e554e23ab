//! Which changes wake a pod that was rejected.

use plimsoll_framework::test_util::{Cluster, PodBuilder, check_hint_in, cluster, node, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Node, Pod};
use serde_json::{Value, json};

use super::super::spec;
use super::{HOST, WithTerms, ZONE, app, host, namespace, near, near_in};

fn by_pod(waiting: &PodBuilder, old: Option<&PodBuilder>, new: Option<&PodBuilder>) -> bool {
    by_pod_in(&cluster([]), waiting, old, new)
}

fn by_pod_in(
    cluster: &Cluster,
    waiting: &PodBuilder,
    old: Option<&PodBuilder>,
    new: Option<&PodBuilder>,
) -> bool {
    let actions = match (old, new) {
        (None, _) => Actions::ADD,
        (_, None) => Actions::DELETE,
        _ => Actions::UPDATE_POD_LABEL,
    };
    let event = ClusterEvent::new(EventResource::AssignedPod, actions);
    let built = [old, new].map(|pod| pod.map(PodBuilder::build));
    let [old, new]: [Option<&Pod>; 2] = [built[0].as_ref(), built[1].as_ref()];
    let change = Change::Pod { old, new };
    check_hint_in((&spec(), &Value::Null), cluster, waiting, event, &change) == Some(Hint::Queue)
}

fn by_node(waiting: &PodBuilder, old: Option<&Node>, new: &Node) -> bool {
    let actions = if old.is_some() {
        Actions::UPDATE_NODE_LABEL
    } else {
        Actions::ADD
    };
    let event = ClusterEvent::new(EventResource::Node, actions);
    let new = Some(new);
    let change = Change::Node { old, new };
    let hint = check_hint_in(
        (&spec(), &Value::Null),
        &cluster([]),
        waiting,
        event,
        &change,
    );
    hint == Some(Hint::Queue)
}

#[test]
fn a_pod_that_is_wanted_wakes_by_coming_or_by_new_labels() {
    let waiting = pod("a").wants(&[near(ZONE, "db"), near(HOST, "db")]);
    let (db, api) = (app("p", "db").on("n1"), app("p", "api").on("n1"));
    let cases = [
        (None, Some(&db), true),
        (None, Some(&api), false),
        (Some(&api), Some(&db), true),
        (Some(&db), Some(&db), false),
        (Some(&db), Some(&api), false),
        (Some(&db), None, false),
    ];
    for (old, new, wakes) in cases {
        assert_eq!(by_pod(&waiting, old, new), wakes);
    }
}

#[test]
fn a_pod_that_is_avoided_wakes_by_going_or_by_new_labels() {
    let waiting = pod("a").avoids(&[near(ZONE, "db"), near(HOST, "cache")]);
    let (db, api) = (app("p", "db").on("n1"), app("p", "api").on("n1"));
    let cases = [
        (Some(&db), None, true),
        (Some(&api), None, false),
        (Some(&db), Some(&api), true),
        (Some(&api), Some(&db), false),
        (None, Some(&db), false),
    ];
    for (old, new, wakes) in cases {
        assert_eq!(by_pod(&waiting, old, new), wakes);
    }
}

#[test]
fn a_pod_that_avoided_the_waiting_one_wakes_it_by_going() {
    let gone = app("p", "db").avoids(&[near(ZONE, "web")]).on("n1");
    assert!(by_pod(&app("a", "web"), Some(&gone), None));
    assert!(!by_pod(&app("a", "api"), Some(&gone), None));
    assert!(!by_pod(&app("a", "web"), None, Some(&gone)));
}

#[test]
fn a_pod_without_a_node_wakes_nobody_one_with_a_promise_does() {
    let waiting = pod("a").wants(&[near(ZONE, "db")]);
    assert!(!by_pod(&waiting, None, Some(&app("p", "db"))));
    let promised = app("p", "db").merge(json!({"status": {"nominatedNodeName": "n1"}}));
    assert!(by_pod(&waiting, None, Some(&promised)));
    let placed = app("p", "db").on("n1");
    assert!(by_pod(&waiting, Some(&app("p", "db")), Some(&placed)));
}

#[test]
fn the_last_of_a_group_that_goes_lets_another_begin_it() {
    let waiting = app("a", "web").wants(&[near(ZONE, "web")]);
    assert!(by_pod(&waiting, Some(&app("p", "web").on("n1")), None));
    assert!(!by_pod(&waiting, Some(&app("p", "api").on("n1")), None));
}

#[test]
fn a_namespace_selector_sees_the_labels_that_the_namespace_has() {
    let team = json!({"matchLabels": {"team": "x"}});
    let waiting = pod("a").wants(&[near_in(ZONE, "db", &team)]);
    let db = app("p", "db").namespace("x").on("n1");
    let with = |labels: Value| cluster([]).objects([namespace("x", &labels)]);
    assert!(by_pod_in(
        &with(json!({"team": "x"})),
        &waiting,
        None,
        Some(&db)
    ));
    assert!(!by_pod_in(&with(json!({})), &waiting, None, Some(&db)));
    let gone = app("p", "db")
        .namespace("x")
        .avoids(&[near_in(ZONE, "web", &team)]);
    let placed = gone.on("n1");
    let web = app("a", "web").namespace("x");
    assert!(by_pod_in(
        &with(json!({"team": "x"})),
        &web,
        Some(&placed),
        None
    ));
    assert!(!by_pod_in(&cluster([]), &web, Some(&placed), None));
}

#[test]
fn a_node_wakes_a_pod_that_wants_company_if_it_has_or_gets_a_label_of_a_term() {
    let waiting = pod("a").wants(&[near(ZONE, "db"), near("rack", "db")]);
    let (plain, zone) = (node("n1").build(), node("n1").zone("a").build());
    let other = node("n1").zone("b").build();
    let more = node("n1").zone("a").label("disk", "ssd").build();
    let cases = [
        (None, &zone, true),
        (None, &plain, false),
        (Some(&plain), &zone, true),
        (Some(&zone), &other, true),
        (Some(&zone), &more, false),
    ];
    for (old, new, wakes) in cases {
        assert_eq!(by_node(&waiting, old, new), wakes, "{old:?} {new:?}");
    }
}

#[test]
fn a_node_wakes_a_pod_that_avoids_others_or_is_avoided_unless_only_labels_were_added() {
    let (plain, zone) = (node("n1").build(), host("n1", "a").build());
    let other = host("n1", "b").build();
    for waiting in [pod("a").avoids(&[near(ZONE, "db")]), app("a", "web")] {
        let cases = [
            (None, &plain, true),
            (Some(&zone), &plain, true),
            (Some(&zone), &other, true),
            (Some(&plain), &zone, false),
        ];
        for (old, new, wakes) in cases {
            assert_eq!(by_node(&waiting, old, new), wakes, "{old:?} {new:?}");
        }
    }
}

#[test]
fn a_mistake_and_new_labels_of_the_pod_itself_always_wake_it() {
    let mistaken = pod("a").avoids(&[json!({"labelSelector": {"matchExpressions": [
        {"key": "app", "operator": "Near"},
    ]}})]);
    let (plain, other) = (node("n1").build(), app("p", "db").on("n1"));
    assert!(by_node(&mistaken, Some(&plain), &plain));
    assert!(by_pod(&mistaken, None, Some(&other)));
    assert!(by_pod(
        &pod("a").avoids(&[]),
        Some(&mistaken.clone().on("n1")),
        None
    ));
    let event = ClusterEvent::new(EventResource::TargetPod, Actions::UPDATE_POD_LABEL);
    let (old, new) = (app("a", "web").build(), app("a", "api").build());
    let change = Change::Pod {
        old: Some(&old),
        new: Some(&new),
    };
    let none = cluster([]);
    let hint = check_hint_in((&spec(), &Value::Null), &none, &pod("a"), event, &change);
    assert_eq!(hint, Some(Hint::Queue));
}

#[test]
fn it_listens_to_placed_pods_to_the_pod_itself_and_to_nodes() {
    let kinds = [
        (EventResource::AssignedPod, Actions::ADD, true),
        (EventResource::AssignedPod, Actions::UPDATE_POD_LABEL, true),
        (EventResource::AssignedPod, Actions::DELETE, true),
        (
            EventResource::AssignedPod,
            Actions::UPDATE_POD_SCALE_DOWN,
            false,
        ),
        (EventResource::TargetPod, Actions::UPDATE_POD_LABEL, true),
        (EventResource::Node, Actions::ADD, true),
        (EventResource::Node, Actions::UPDATE_NODE_LABEL, true),
        (EventResource::Node, Actions::UPDATE_NODE_TAINT, false),
        (EventResource::Node, Actions::DELETE, false),
    ];
    for (resource, actions, listens) in kinds {
        let event = ClusterEvent::new(resource, actions);
        let none = cluster([]);
        let hint = check_hint_in(
            (&spec(), &Value::Null),
            &none,
            &pod("a"),
            event,
            &Change::None,
        );
        assert_eq!(hint.is_some(), listens, "{event}");
    }
}
