//! The plugin as the engine runs it.

use plimsoll_framework::test_util::{
    Cluster, PodBuilder, check_filter, check_hint, cluster, node, pod,
};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::{REASON, spec};
use crate::volume_fixtures::{
    bound_claim, claim, object, volume, waiting_class, with_claims, with_volumes,
};

const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";

fn labelled(name: &str, labels: &[(&str, &str)]) -> Value {
    let mut volume = volume(name, "fast");
    for (key, value) in labels {
        volume["metadata"]["labels"][*key] = (*value).into();
    }
    volume
}

/// Nodes in two zones, one with beta labels, one without any.
fn zones(volume: Value) -> Cluster {
    let nodes = [
        node("a").label(ZONE, "a").label(REGION, "r"),
        node("b").label(ZONE, "b").label(REGION, "r"),
        node("old").label(BETA_ZONE, "a"),
        node("none"),
    ];
    cluster(nodes).objects([volume, bound_claim("c", "fast", "pv")])
}

fn verdicts(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), &Value::Null, cluster, pod)
}

/// Which nodes pass with a volume that has these labels.
fn passing(labels: &[(&str, &str)]) -> Vec<String> {
    let lines = verdicts(&zones(labelled("pv", labels)), &with_claims("a", &["c"]));
    let passes = lines.iter().filter_map(|line| line.strip_suffix(": Pass"));
    passes.map(str::to_owned).collect()
}

#[test]
fn a_pod_whose_volumes_have_no_zone_is_not_judged() {
    let skip = ["PreFilter: Skip"];
    let cluster = zones(labelled("pv", &[("app", "db"), (ZONE, "a____b")]));
    assert_eq!(verdicts(&cluster, &pod("a")), skip);
    assert_eq!(verdicts(&cluster, &with_claims("a", &["c"])), skip);
    let ephemeral = with_volumes("a", &json!([{"name": "v", "ephemeral": {}}]));
    assert_eq!(verdicts(&cluster, &ephemeral), skip);
}

#[test]
fn a_node_must_have_the_zone_of_the_volume_unless_it_has_no_zone_at_all() {
    assert_eq!(passing(&[(ZONE, "a")]), ["a", "none"]);
    assert_eq!(passing(&[(ZONE, "a__ b ")]), ["a", "b", "none"]);
    assert_eq!(passing(&[(ZONE, "a"), (REGION, "s")]), ["none"]);
    let lines = verdicts(
        &zones(labelled("pv", &[(ZONE, "a")])),
        &with_claims("a", &["c"]),
    );
    assert_eq!(
        lines[1],
        format!("b: UnschedulableAndUnresolvable: {REASON}")
    );
}

#[test]
fn a_beta_label_of_the_volume_is_met_by_the_label_of_today() {
    assert_eq!(passing(&[(BETA_ZONE, "a")]), ["a", "old", "none"]);
}

#[test]
fn a_claim_without_a_volume_must_wait_for_its_pod() {
    let unbound = |class: &str| claim("c", class);
    let mut immediate = waiting_class("now", "p");
    immediate["volumeBindingMode"] = "Immediate".into();
    let mut unknown = waiting_class("odd", "p");
    unknown["volumeBindingMode"] = Value::Null;
    let cluster = |claim: Value| {
        let classes = [
            immediate.clone(),
            unknown.clone(),
            waiting_class("late", "p"),
        ];
        cluster([node("n1")]).objects(classes).objects([claim])
    };
    let cases = [
        (unbound("late"), "Skip"),
        (unbound("now"), "PersistentVolume had no name"),
        (
            unbound(""),
            "PersistentVolumeClaim had no pv name and storageClass name",
        ),
        (
            unbound("gone"),
            "storageclass.storage.k8s.io \"gone\" not found",
        ),
        (
            unbound("odd"),
            "VolumeBindingMode not set for StorageClass \"odd\"",
        ),
        (
            bound_claim("c", "late", "gone"),
            "persistentvolume \"gone\" not found",
        ),
        (
            claim("other", "late"),
            "persistentvolumeclaim \"c\" not found",
        ),
    ];
    for (claim, expected) in cases {
        let expected = match expected {
            "Skip" => "PreFilter: Skip".to_owned(),
            text => format!("PreFilter: UnschedulableAndUnresolvable: {text}"),
        };
        assert_eq!(
            verdicts(&cluster(claim), &with_claims("a", &["c"])),
            [expected]
        );
    }
    let nameless = "PreFilter: UnschedulableAndUnresolvable: PersistentVolumeClaim had no name";
    assert_eq!(
        verdicts(&cluster(unbound("late")), &with_claims("a", &[""])),
        [nameless]
    );
}

#[test]
fn only_changes_that_bear_on_zones_or_claims_wake_a_pod() {
    let waiting = with_claims("a", &["c"]);
    let hint = |resource, old: Option<&Value>, new: &Value| {
        let (old, new) = (old.map(object), object(new));
        let actions = if old.is_some() {
            Actions::UPDATE
        } else {
            Actions::ADD
        };
        let change = Change::Object {
            old: old.as_ref(),
            new: Some(&new),
        };
        let event = ClusterEvent::new(resource, actions);
        check_hint(&spec(), &Value::Null, &waiting, event, &change)
    };
    let (queue, skip) = (Some(Hint::Queue), Some(Hint::Skip));
    let (here, there) = (
        labelled("pv", &[(ZONE, "a")]),
        labelled("pv", &[(ZONE, "b")]),
    );
    let volumes = EventResource::PersistentVolume;
    assert_eq!(hint(volumes, None, &here), queue);
    assert_eq!(hint(volumes, Some(&here), &there), queue);
    assert_eq!(
        hint(
            volumes,
            Some(&here),
            &labelled("pv", &[(ZONE, "a"), ("x", "y")])
        ),
        skip
    );
    let claims = EventResource::PersistentVolumeClaim;
    assert_eq!(hint(claims, None, &claim("c", "fast")), queue);
    assert_eq!(hint(claims, None, &claim("d", "fast")), skip);
    let classes = EventResource::StorageClass;
    let mut immediate = waiting_class("now", "p");
    immediate["volumeBindingMode"] = "Immediate".into();
    assert_eq!(hint(classes, None, &waiting_class("late", "p")), queue);
    assert_eq!(hint(classes, None, &immediate), skip);
    assert_eq!(hint(classes, Some(&immediate), &immediate), None);
}
