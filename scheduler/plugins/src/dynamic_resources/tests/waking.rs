//! Who waits before the queue, and what wakes whom.

use plimsoll_framework::test_util::{check_hint_in, check_pre_enqueue_in, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use plimsoll_objects::{Object, ObjectKind};
use serde_json::{Value, json};

use super::{claim, given, some, spec, two_nodes, using};

#[test]
fn a_pod_waits_before_the_queue_for_its_claims() {
    let check = |objects: Vec<Value>, pod| {
        check_pre_enqueue_in(&spec(), &Value::Null, &two_nodes(objects), &pod)
    };
    let mut going = claim("c", some(1));
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let wait = |reason: &str| format!("UnschedulableAndUnresolvable: {reason}");
    assert_eq!(check(vec![claim("c", some(1))], using(&["c"])), "Pass");
    assert_eq!(check(vec![], pod("p")), "Pass");
    assert_eq!(
        check(vec![], using(&["c"])),
        wait("could not find ResourceClaim \"default/c\"")
    );
    assert_eq!(
        check(vec![going], using(&["c"])),
        wait("resourceclaim \"c\" is being deleted")
    );
    let template = |status: Value| {
        pod("p").merge(json!({
            "spec": {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "t"}]},
            "status": {"resourceClaimStatuses": status},
        }))
    };
    assert_eq!(
        check(vec![], template(json!([]))),
        wait("pod \"default/p\": ResourceClaim not created yet")
    );
    assert_eq!(check(vec![], template(json!([{"name": "x"}]))), "Pass");
    assert_eq!(
        check(
            vec![claim("c", some(1))],
            template(json!([{"name": "x", "resourceClaimName": "c"}]))
        ),
        wait("ResourceClaim default/c was not created for Pod default/p (Pod is not owner)")
    );
}

fn object(json: &Value) -> Object {
    Object::decode(ObjectKind::ResourceClaim, json.to_string().as_bytes()).unwrap()
}

/// The hint for a pod that uses `c` after a claim changed from `old` to `new`.
fn hint(old: Option<&Value>, new: Option<&Value>) -> Option<Hint> {
    let (before, after) = (old.map(object), new.map(object));
    let cluster = two_nodes([claim("c", some(1))]);
    let change = Change::Object {
        old: before.as_ref(),
        new: after.as_ref(),
    };
    let event = ClusterEvent::new(EventResource::ResourceClaim, Actions::UPDATE);
    check_hint_in(
        (&spec(), &Value::Null),
        &cluster,
        &using(&["c"]),
        event,
        &change,
    )
}

#[test]
fn a_claim_wakes_its_pod_and_one_that_gives_back_wakes_all() {
    let (own, other) = (claim("c", some(1)), claim("other", some(1)));
    let allocated = |claim: &Value| given(claim.clone(), "n1", "a");
    let cases = [
        (None, Some(&own), Hint::Queue),
        (None, Some(&other), Hint::Skip),
        (Some(&own), Some(&own), Hint::Skip),
        (Some(&own), Some(&allocated(&own)), Hint::Queue),
        (Some(&other), Some(&allocated(&other)), Hint::Skip),
        (Some(&allocated(&other)), Some(&other), Hint::Queue),
        (Some(&other), None, Hint::Skip),
        (Some(&allocated(&other)), None, Hint::Queue),
    ];
    for (old, new, expected) in cases {
        assert_eq!(hint(old, new), Some(expected), "{old:?} -> {new:?}");
    }
}

#[test]
fn a_pod_whose_claims_are_not_there_is_not_woken_by_others() {
    let change = |new: &Object| {
        let change = Change::Object {
            old: None,
            new: Some(new),
        };
        let event = ClusterEvent::new(EventResource::ResourceClaim, Actions::ADD);
        let pod = using(&["missing"]);
        check_hint_in(
            (&spec(), &Value::Null),
            &two_nodes([]),
            &pod,
            event,
            &change,
        )
    };
    assert_eq!(change(&object(&claim("c", some(1)))), Some(Hint::Skip));
}

#[test]
fn nodes_classes_and_slices_wake_by_their_kind_alone() {
    let change = Change::None;
    let wakes = |resource, actions| {
        let event = ClusterEvent::new(resource, actions);
        let cluster = two_nodes([claim("c", some(1))]);
        check_hint_in(
            (&spec(), &Value::Null),
            &cluster,
            &using(&["c"]),
            event,
            &change,
        )
        .is_some()
    };
    assert!(wakes(EventResource::Node, Actions::UPDATE_NODE_LABEL));
    assert!(!wakes(EventResource::Node, Actions::UPDATE_NODE_TAINT));
    assert!(wakes(EventResource::DeviceClass, Actions::ADD));
    assert!(wakes(EventResource::ResourceSlice, Actions::UPDATE));
    assert!(!wakes(EventResource::ResourceSlice, Actions::DELETE));
    assert!(wakes(
        EventResource::TargetPod,
        Actions::UPDATE_POD_GENERATED_RESOURCE_CLAIM
    ));
}
