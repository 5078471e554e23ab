//! What wakes a pod that was turned down.

use plimsoll_framework::test_util::{PodBuilder, check_hint, check_hint_in, cluster, node};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Node, Pod};
use serde_json::{Value, json};

use super::super::spec;
use super::{app, hard, host, soft, spread, with};

fn waiting() -> PodBuilder {
    spread(app("new", "web"), &[hard("zone", 1)])
}

fn hint(
    pod: &PodBuilder,
    resource: EventResource,
    actions: Actions,
    change: &Change<'_>,
) -> Option<Hint> {
    check_hint(
        &spec(),
        &Value::Null,
        pod,
        ClusterEvent::new(resource, actions),
        change,
    )
}

fn of_pods(old: Option<&Pod>, new: Option<&Pod>) -> Option<Hint> {
    let actions = match (old, new) {
        (None, _) => Actions::ADD,
        (_, None) => Actions::DELETE,
        _ => Actions::UPDATE_POD_LABEL,
    };
    hint(
        &waiting(),
        EventResource::AssignedPod,
        actions,
        &Change::Pod { old, new },
    )
}

fn of_itself(old: &PodBuilder, new: &PodBuilder, actions: Actions) -> Option<Hint> {
    let (before, after) = (old.build(), new.build());
    let change = Change::Pod {
        old: Some(&before),
        new: Some(&after),
    };
    hint(new, EventResource::TargetPod, actions, &change)
}

fn of_nodes(pod: &PodBuilder, old: Option<&Node>, new: Option<&Node>) -> Option<Hint> {
    let actions = Actions::UPDATE_NODE_LABEL;
    hint(
        pod,
        EventResource::Node,
        actions,
        &Change::Node { old, new },
    )
}

#[test]
fn a_counted_pod_that_comes_or_goes_wakes_it() {
    let counted = app("x", "web").on("n1").build();
    let other = app("x", "db").on("n1").build();
    let elsewhere = app("x", "web").namespace("other").on("n1").build();
    let cases = [
        (&counted, Hint::Queue),
        (&other, Hint::Skip),
        (&elsewhere, Hint::Skip),
    ];
    for (pod, expected) in cases {
        assert_eq!(of_pods(None, Some(pod)), Some(expected));
        assert_eq!(of_pods(Some(pod), None), Some(expected));
    }
}

#[test]
fn a_pod_without_a_node_does_not_wake_it_unless_it_is_nominated() {
    let unplaced = app("x", "web").build();
    assert_eq!(of_pods(Some(&unplaced), None), Some(Hint::Skip));
    let nominated = app("x", "web").nominated("n1").build();
    assert_eq!(of_pods(Some(&nominated), None), Some(Hint::Queue));
}

#[test]
fn a_label_that_turns_the_match_wakes_it() {
    let web = app("x", "web").on("n1");
    let same = web.clone().label("tier", "front").build();
    let other = app("x", "db").on("n1").build();
    let web = web.build();
    assert_eq!(of_pods(Some(&web), Some(&other)), Some(Hint::Queue));
    assert_eq!(of_pods(Some(&other), Some(&web)), Some(Hint::Queue));
    assert_eq!(of_pods(Some(&web), Some(&same)), Some(Hint::Skip));
    assert_eq!(of_pods(Some(&web), Some(&web)), Some(Hint::Skip));
}

#[test]
fn a_change_of_its_own_labels_wakes_it_if_it_is_now_counted_otherwise() {
    let labels = Actions::UPDATE_POD_LABEL;
    let renamed = spread(app("new", "db"), &[hard("zone", 1)]);
    assert_eq!(of_itself(&waiting(), &renamed, labels), Some(Hint::Queue));
    let more = waiting().label("tier", "front");
    assert_eq!(of_itself(&waiting(), &more, labels), Some(Hint::Skip));
    let stranger = app("x", "db").build();
    let change = Change::Pod {
        old: Some(&stranger),
        new: Some(&stranger),
    };
    let told = hint(&waiting(), EventResource::TargetPod, labels, &change);
    assert_eq!(told, Some(Hint::Skip));
}

#[test]
fn a_toleration_wakes_it_if_taints_are_honoured() {
    let tolerations = Actions::UPDATE_POD_TOLERATION;
    let honours = with(hard("zone", 1), json!({"nodeTaintsPolicy": "Honor"}));
    for (constraint, expected) in [(hard("zone", 1), Hint::Skip), (honours, Hint::Queue)] {
        let before = spread(app("new", "web"), &[constraint]);
        let after = before.clone().tolerates_any("dedicated");
        assert_eq!(of_itself(&before, &after, tolerations), Some(expected));
    }
}

#[test]
fn a_node_that_becomes_or_ceases_to_be_a_domain_wakes_it() {
    let (domain, bare) = (host("n1", "a").build(), node("n1").build());
    let moved = host("n1", "b").build();
    let other = host("n1", "a").label("disk", "ssd").build();
    let tainted = host("n1", "a")
        .taint("x", "", plimsoll_objects::TaintEffect::NoSchedule)
        .build();
    let bare_tainted = node("n1")
        .taint("x", "", plimsoll_objects::TaintEffect::NoSchedule)
        .build();
    let cases = [
        (None, Some(&domain), Hint::Queue),
        (None, Some(&bare), Hint::Skip),
        (Some(&domain), None, Hint::Queue),
        (Some(&bare), None, Hint::Skip),
        (Some(&bare), Some(&domain), Hint::Queue),
        (Some(&domain), Some(&bare), Hint::Queue),
        (Some(&domain), Some(&moved), Hint::Queue),
        (Some(&domain), Some(&other), Hint::Skip),
        (Some(&domain), Some(&tainted), Hint::Queue),
        (Some(&bare), Some(&bare_tainted), Hint::Skip),
    ];
    for (old, new, expected) in cases {
        assert_eq!(
            of_nodes(&waiting(), old, new),
            Some(expected),
            "{old:?} {new:?}"
        );
    }
}

#[test]
fn soft_constraints_and_mistakes_are_no_reason_to_sleep_on() {
    let bare = node("n1").build();
    let relaxed = spread(app("new", "web"), &[soft("zone", 1)]);
    assert_eq!(of_nodes(&relaxed, None, Some(&bare)), Some(Hint::Queue));
    let wrong = json!({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Gt"}]}});
    let mistaken = spread(app("new", "web"), &[with(hard("zone", 1), wrong)]);
    assert_eq!(of_nodes(&mistaken, None, Some(&bare)), Some(Hint::Queue));
}

#[test]
fn default_constraints_wake_by_the_services_that_there_are() {
    let args = json!({"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
    ]});
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"app": "web"}},
    });
    let gone = app("x", "web").on("n1").build();
    let event = ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE);
    let change = Change::Pod {
        old: Some(&gone),
        new: None,
    };
    for (objects, expected) in [(vec![service], Hint::Queue), (vec![], Hint::Skip)] {
        let told = check_hint_in(
            (&spec(), &args),
            &cluster([]).objects(objects),
            &app("new", "web"),
            event,
            &change,
        );
        assert_eq!(told, Some(expected));
    }
}

#[test]
fn other_events_are_not_listened_to() {
    let event = ClusterEvent::new(EventResource::AssignedPod, Actions::UPDATE_POD_SCALE_DOWN);
    assert_eq!(
        check_hint(&spec(), &Value::Null, &waiting(), event, &Change::None),
        None
    );
    let event = ClusterEvent::new(EventResource::Node, Actions::UPDATE_NODE_ALLOCATABLE);
    assert_eq!(
        check_hint(&spec(), &Value::Null, &waiting(), event, &Change::None),
        None
    );
}
