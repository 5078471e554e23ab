//! Which changes wake a pod.

use plimsoll_framework::test_util::{PodBuilder, check_hint, pod};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::super::spec;
use super::DRIVER;
use crate::volume_fixtures::{attachment, claim, csi_node, object, with_claims, with_volumes};

fn hint(
    pod: &PodBuilder,
    resource: EventResource,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Option<Hint> {
    let (old, new) = (old.map(object), new.map(object));
    let actions = match (&old, &new) {
        (None, _) => Actions::ADD,
        (_, None) => Actions::DELETE,
        _ => Actions::UPDATE,
    };
    let change = Change::Object {
        old: old.as_ref(),
        new: new.as_ref(),
    };
    let event = ClusterEvent::new(resource, actions);
    check_hint(&spec(), &Value::Null, pod, event, &change)
}

#[test]
fn a_node_whose_drivers_take_more_wakes_pods() {
    let drivers = |limit: Option<Option<i32>>| match limit {
        Some(limit) => csi_node("n1", &[(DRIVER, limit)]),
        None => csi_node("n1", &[]),
    };
    let cases = [
        (Some(Some(1)), Some(Some(2)), Hint::Queue),
        (Some(Some(2)), Some(Some(2)), Hint::Skip),
        (Some(Some(2)), Some(Some(1)), Hint::Skip),
        (Some(Some(2)), Some(None), Hint::Queue),
        (Some(Some(2)), None, Hint::Queue),
        (Some(None), None, Hint::Skip),
        (None, Some(None), Hint::Queue),
        (None, Some(Some(0)), Hint::Queue),
        (Some(None), Some(None), Hint::Skip),
    ];
    for (old, new, expected) in cases {
        let (before, after) = (drivers(old), drivers(new));
        let answer = hint(
            &pod("a"),
            EventResource::CsiNode,
            Some(&before),
            Some(&after),
        );
        assert_eq!(answer, Some(expected), "{old:?} {new:?}");
    }
    let new = drivers(None);
    let answer = hint(&pod("a"), EventResource::CsiNode, None, Some(&new));
    assert_eq!(answer, Some(Hint::Queue));
}

#[test]
fn a_claim_that_comes_wakes_the_pods_that_use_it() {
    let ephemeral = with_volumes("a", &json!([{"name": "v", "ephemeral": {}}]));
    let cases = [
        (with_claims("a", &["c"]), "c", Hint::Queue),
        (with_claims("a", &["c"]), "d", Hint::Skip),
        (ephemeral.clone(), "a-v", Hint::Queue),
        (ephemeral, "v", Hint::Skip),
        (with_claims("a", &["c"]).namespace("other"), "c", Hint::Skip),
    ];
    for (waiting, name, expected) in cases {
        let new = claim(name, "fast");
        let answer = hint(
            &waiting,
            EventResource::PersistentVolumeClaim,
            None,
            Some(&new),
        );
        assert_eq!(answer, Some(expected), "{name}");
    }
}

#[test]
fn an_attachment_that_goes_wakes_pods_with_volumes_that_may_be_attached() {
    let volumes = |volume: Value| with_volumes("a", &json!([volume]));
    let disk = json!({"name": "v", "gcePersistentDisk": {"pdName": "d"}});
    let cases = [
        (with_claims("a", &["c"]), DRIVER, Hint::Queue),
        (
            volumes(json!({"name": "v", "ephemeral": {}})),
            DRIVER,
            Hint::Queue,
        ),
        (volumes(disk.clone()), DRIVER, Hint::Skip),
        (volumes(disk), "pd.csi.storage.gke.io", Hint::Queue),
        (pod("a"), DRIVER, Hint::Skip),
    ];
    for (waiting, attacher, expected) in cases {
        let mut gone = attachment("att", "n1", "v");
        gone["spec"]["attacher"] = attacher.into();
        let answer = hint(&waiting, EventResource::VolumeAttachment, Some(&gone), None);
        assert_eq!(answer, Some(expected), "{attacher}");
    }
}

#[test]
fn a_pod_that_goes_wakes_others_if_it_had_volumes_and_a_node() {
    let cases = [
        (with_claims("p", &["c"]).on("n1"), Hint::Queue),
        (with_claims("p", &["c"]).nominated("n1"), Hint::Queue),
        (with_claims("p", &["c"]), Hint::Skip),
        (pod("p").on("n1"), Hint::Skip),
    ];
    for (gone, expected) in cases {
        let gone = gone.build();
        let change = Change::Pod {
            old: Some(&gone),
            new: None,
        };
        let event = ClusterEvent::new(EventResource::AssignedPod, Actions::DELETE);
        let answer = check_hint(&spec(), &Value::Null, &pod("a"), event, &change);
        assert_eq!(answer, Some(expected));
    }
}
