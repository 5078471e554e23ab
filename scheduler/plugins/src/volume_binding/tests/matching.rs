//! Volumes that are there.

use plimsoll_framework::test_util::{check_reserve, cluster, node};
use proptest::prelude::{prop, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::super::spec;
use super::{NO_VOLUME, rejected, storage, verdicts};
use crate::volume_fixtures::{claim, local, waiting_class, with_claims};

/// The volumes that the pod takes on `n1`.
fn taken(objects: &[Value], claims: &[&str]) -> String {
    let cluster = storage().objects(objects.iter().cloned());
    check_reserve(
        &spec(),
        &Value::Null,
        &cluster,
        &with_claims("a", claims),
        "n1",
    )
}

fn here(name: &str, size: &str) -> Value {
    local(name, size, ("host", "n1"))
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a path");
    object.pointer_mut(parent).expect("an object")[field] = value;
    object
}

#[test]
fn the_smallest_volume_that_is_large_enough_is_taken() {
    let volumes = [
        here("large", "20Gi"),
        here("small", "1Gi"),
        here("fit", "6Gi"),
        here("more", "6Gi"),
    ];
    let objects = [&[claim("c", "local")][..], &volumes].concat();
    assert_eq!(taken(&objects, &["c"]), "Reserved, PersistentVolume fit");
}

#[test]
fn a_node_without_a_volume_of_its_own_is_rejected() {
    let cluster = storage().objects([claim("c", "local"), here("pv", "6Gi")]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, ["n1: Pass".to_owned(), rejected("n2", NO_VOLUME)]);
}

#[test]
fn every_claim_takes_a_volume_of_its_own_the_smallest_first() {
    let large = with(
        claim("large", "local"),
        "/spec/resources/requests/storage",
        "8Gi".into(),
    );
    let objects = [
        large,
        claim("small", "local"),
        here("v8", "8Gi"),
        here("v6", "6Gi"),
    ];
    let expected = "Reserved, PersistentVolume v6, PersistentVolume v8";
    assert_eq!(taken(&objects, &["large", "small"]), expected);
    let cluster = storage().objects([claim("c", "local"), claim("d", "local"), here("v6", "6Gi")]);
    let lines = verdicts(&cluster, &with_claims("a", &["c", "d"]));
    assert_eq!(lines[0], rejected("n1", NO_VOLUME));
}

#[test]
fn a_volume_that_does_not_suit_the_claim_is_not_taken() {
    let wished = with(
        claim("c", "local"),
        "/spec/selector",
        json!({"matchLabels": {"grade": "gold"}}),
    );
    let gold = |volume: Value| with(volume, "/metadata/labels", json!({"grade": "gold"}));
    let odd = [
        with(
            gold(here("mode", "6Gi")),
            "/spec/volumeMode",
            "Block".into(),
        ),
        with(
            gold(here("phase", "6Gi")),
            "/status/phase",
            "Released".into(),
        ),
        with(
            gold(here("access", "6Gi")),
            "/spec/accessModes",
            json!(["ReadOnlyMany"]),
        ),
        with(
            gold(here("attributes", "6Gi")),
            "/spec/volumeAttributesClassName",
            "vac".into(),
        ),
        with(
            gold(here("deleted", "6Gi")),
            "/metadata/deletionTimestamp",
            "2026-01-01T00:00:00Z".into(),
        ),
        with(
            gold(here("class", "6Gi")),
            "/spec/storageClassName",
            "other".into(),
        ),
        with(
            gold(here("other", "6Gi")),
            "/spec/claimRef",
            json!({"namespace": "default", "name": "d"}),
        ),
        here("label", "6Gi"),
        gold(here("size", "4Gi")),
    ];
    let objects = [&[wished.clone()][..], &odd].concat();
    let lines = verdicts(
        &storage().objects(objects.clone()),
        &with_claims("a", &["c"]),
    );
    assert_eq!(lines[0], rejected("n1", NO_VOLUME));
    let objects = [&objects[..], &[gold(here("good", "7Gi"))]].concat();
    assert_eq!(taken(&objects, &["c"]), "Reserved, PersistentVolume good");
}

#[test]
fn a_volume_set_aside_for_the_claim_is_taken_whatever_its_phase_and_no_other() {
    let to = |uid: Option<&str>| json!({"namespace": "default", "name": "c", "uid": uid});
    let aside = with(here("aside", "9Gi"), "/spec/claimRef", to(None));
    let aside = with(aside, "/status/phase", "Bound".into());
    let objects = [claim("c", "local"), here("fit", "6Gi"), aside];
    assert_eq!(taken(&objects, &["c"]), "Reserved, PersistentVolume aside");
    let far = with(
        local("aside", "9Gi", ("host", "n2")),
        "/spec/claimRef",
        to(Some("uid-c")),
    );
    let cluster = storage().objects([claim("c", "local"), here("fit", "6Gi"), far]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, [rejected("n1", NO_VOLUME), "n2: Pass".to_owned()]);
    let stale = with(
        here("aside", "9Gi"),
        "/spec/claimRef",
        to(Some("uid-before")),
    );
    let objects = [claim("c", "local"), here("fit", "6Gi"), stale];
    assert_eq!(taken(&objects, &["c"]), "Reserved, PersistentVolume fit");
}

#[test]
fn a_mistake_in_the_selector_of_a_claim_is_an_error() {
    let selector = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
    let cluster = storage().objects([with(claim("c", "local"), "/spec/selector", selector)]);
    let text = "n1: Error: error creating internal label selector for claim: default/c: \
                \"Near\" is not a valid label selector operator";
    assert_eq!(verdicts(&cluster, &with_claims("a", &["c"]))[0], text);
}

proptest! {
    /// What is looked up by labels is what a walk over all volumes would find.
    #[test]
    fn the_volume_found_is_the_first_by_size_and_name_that_the_node_reaches(
        volumes in prop::collection::vec((5_i64..9, 0_usize..3, 0_usize..3), 0..12),
    ) {
        let labels = [("host", "n"), ("zone", "z"), ("host", "m")];
        let objects = volumes.iter().enumerate().map(|(index, (size, one, other))| {
            let mut volume = local(&format!("v{index:02}"), &format!("{size}Gi"), labels[*one]);
            let terms = &mut volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"];
            let (key, value) = labels[*other];
            let more = json!({"matchExpressions": [
                {"key": key, "operator": "In", "values": [value]}]});
            if one != other {
                terms.as_array_mut().expect("terms").push(more);
            }
            volume
        });
        let nodes = [node("n1").label("host", "n"), node("n2").label("zone", "z"), node("n3")];
        let cluster = cluster(nodes)
            .objects([waiting_class("local", "kubernetes.io/no-provisioner"), claim("c", "local")])
            .objects(objects.collect::<Vec<_>>());
        let lines = verdicts(&cluster, &with_claims("a", &["c"]));
        for (at, (name, own)) in [("n1", 0), ("n2", 1)].into_iter().enumerate() {
            let reached = volumes.iter().enumerate();
            let reached = reached.filter(|(_, (_, one, other))| *one == own || *other == own);
            match reached.min_by_key(|(index, (size, ..))| (*size, *index)) {
                None => prop_assert_eq!(&lines[at], &rejected(name, NO_VOLUME)),
                Some((index, _)) => {
                    let pod = with_claims("a", &["c"]);
                    let answer = check_reserve(&spec(), &Value::Null, &cluster, &pod, name);
                    prop_assert_eq!(answer, format!("Reserved, PersistentVolume v{index:02}"));
                }
            }
        }
        prop_assert_eq!(&lines[2], &rejected("n3", NO_VOLUME));
    }
}
