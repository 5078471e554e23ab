//! What is stored, assumed, restored.

mod property;

use plimsoll_objects::{Object, ObjectKey, ObjectKind};
use serde_json::json;

use super::Catalog;

fn claim(name: &str, version: &str, color: &str) -> Object {
    let json = json!({
        "metadata": {
            "name": name, "namespace": "ns", "resourceVersion": version,
            "labels": {"color": color},
        },
    });
    let kind = ObjectKind::PersistentVolumeClaim;
    Object::decode(kind, json.to_string().as_bytes()).expect("a claim")
}

fn color(catalog: &Catalog, name: &str) -> Option<String> {
    let claim = catalog
        .persistent_volume_claims
        .get(&ObjectKey::new("ns", name))?;
    claim.meta.labels.get("color").map(ToString::to_string)
}

#[test]
fn an_assumed_object_counts_until_a_newer_version_comes() {
    let mut catalog = Catalog::default();
    catalog.set(claim("a", "1", "red"));
    catalog.assume(claim("a", "1", "green"));
    assert_eq!(color(&catalog, "a").as_deref(), Some("green"));
    catalog.set(claim("a", "1", "red"));
    assert_eq!(
        color(&catalog, "a").as_deref(),
        Some("green"),
        "listed again"
    );
    catalog.set(claim("a", "2", "blue"));
    assert_eq!(color(&catalog, "a").as_deref(), Some("blue"));
}

#[test]
fn a_restored_object_is_what_the_api_server_has() {
    let mut catalog = Catalog::default();
    catalog.set(claim("a", "1", "red"));
    let green = claim("a", "1", "green");
    catalog.assume(green.clone());
    catalog.restore(green);
    assert_eq!(color(&catalog, "a").as_deref(), Some("red"));
}

#[test]
fn a_pod_that_takes_back_what_it_assumed_leaves_what_another_assumes() {
    let [green, blue] = ["green", "blue"].map(|color| claim("a", "1", color));
    for (first, then, left) in [(&green, &blue, "blue"), (&blue, &green, "green")] {
        let mut catalog = Catalog::default();
        catalog.set(claim("a", "1", "red"));
        catalog.assume(green.clone());
        catalog.assume(blue.clone());
        catalog.restore(first.clone());
        assert_eq!(color(&catalog, "a").as_deref(), Some(left));
        catalog.restore(then.clone());
        assert_eq!(color(&catalog, "a").as_deref(), Some("red"));
    }
}

#[test]
fn what_was_assumed_of_an_earlier_version_takes_nothing_back() {
    let mut catalog = Catalog::default();
    catalog.set(claim("a", "1", "red"));
    let green = claim("a", "1", "green");
    catalog.assume(green.clone());
    catalog.set(claim("a", "2", "red"));
    catalog.assume(claim("a", "2", "blue"));
    catalog.restore(green);
    assert_eq!(color(&catalog, "a").as_deref(), Some("blue"));
}

#[test]
fn what_the_api_server_does_not_have_cannot_be_assumed() {
    let mut catalog = Catalog::default();
    catalog.assume(claim("a", "1", "green"));
    assert_eq!(color(&catalog, "a"), None);
}

#[test]
fn setting_and_removing_give_what_was_there() {
    let mut catalog = Catalog::default();
    assert_eq!(catalog.set(claim("a", "1", "red")), None);
    let old = catalog.set(claim("a", "2", "blue"));
    assert_eq!(old, Some(claim("a", "1", "red")));
    let kind = ObjectKind::PersistentVolumeClaim;
    assert_eq!(catalog.keys(kind), [ObjectKey::new("ns", "a")]);
    let gone = catalog.remove(kind, &ObjectKey::new("ns", "a"));
    assert_eq!(gone, Some(claim("a", "2", "blue")));
    assert!(catalog.persistent_volume_claims.is_empty());
}

#[test]
fn a_namespace_has_its_own_objects() {
    let mut catalog = Catalog::default();
    for name in ["a", "b"] {
        catalog.set(claim(name, "1", "red"));
    }
    let claims = &catalog.persistent_volume_claims;
    assert_eq!(claims.in_namespace("ns").count(), 2);
    assert_eq!(claims.in_namespace("n").count(), 0);
    assert_eq!(claims.in_namespace("nsx").count(), 0);
}
