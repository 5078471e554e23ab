//! Whatever comes in whatever order: the catalog is what one made anew of the last objects
//! is, with what pods assume on top.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::{Object, ObjectKey, ObjectKind};
use proptest::prelude::*;
use serde_json::json;

use crate::Catalog;

/// Names of objects, classes, claims and nodes.
const NAMES: u8 = 3;
const KINDS: [ObjectKind; 3] = [
    ObjectKind::PersistentVolume,
    ObjectKind::PersistentVolumeClaim,
    ObjectKind::VolumeAttachment,
];

#[derive(Debug, Clone)]
struct Spec {
    kind: ObjectKind,
    name: u8,
    version: u8,
    /// Class, claim, node: what an index or a plugin reads.
    says: u8,
}

#[derive(Debug, Clone)]
enum Op {
    Set(Spec),
    Remove(ObjectKind, u8),
    Assume(Spec),
    /// One of the assumptions made so far ends, perhaps again.
    Restore(prop::sample::Index),
}

fn spec() -> impl Strategy<Value = Spec> {
    let kind = prop::sample::select(KINDS.to_vec());
    (kind, 0..NAMES, 1..3_u8, 0..9_u8).prop_map(|(kind, name, version, says)| Spec {
        kind,
        name,
        version,
        says,
    })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let kind = prop::sample::select(KINDS.to_vec());
    let op = prop_oneof![
        4 => spec().prop_map(Op::Set),
        2 => (kind, 0..NAMES).prop_map(|(kind, name)| Op::Remove(kind, name)),
        3 => spec().prop_map(Op::Assume),
        2 => any::<prop::sample::Index>().prop_map(Op::Restore),
    ];
    prop::collection::vec(op, 1..60)
}

fn text(number: u8) -> String {
    format!("x{}", number % NAMES)
}

fn key(kind: ObjectKind, name: u8) -> ObjectKey {
    let namespaced = kind == ObjectKind::PersistentVolumeClaim;
    ObjectKey::new(if namespaced { "ns" } else { "" }, &text(name))
}

impl Spec {
    fn object(&self) -> Object {
        let key = key(self.kind, self.name);
        // A third of the volumes are free.
        let aside =
            (self.says >= NAMES).then(|| json!({"namespace": "ns", "name": text(self.says)}));
        let json = json!({
            "metadata": {
                "name": &*key.name, "namespace": &*key.namespace,
                "resourceVersion": self.version.to_string(),
            },
            "spec": {
                "storageClassName": text(self.says / NAMES), "claimRef": aside,
                "volumeName": text(self.says), "nodeName": text(self.says),
            },
        });
        Object::decode(self.kind, json.to_string().as_bytes()).expect("an object of a test")
    }
}

/// What the API server has of an object, and what is assumed on top, by its number.
type Model = BTreeMap<(ObjectKind, ObjectKey), (Object, Vec<(usize, Object)>)>;

/// Does `op` to both; `made` has every assumption so far.
fn apply(op: &Op, catalog: &mut Catalog, model: &mut Model, made: &mut Vec<Object>) {
    match op {
        Op::Set(spec) => {
            let object = spec.object();
            let place = (spec.kind, object.key().clone());
            let old = model.remove(&place);
            assert_eq!(
                catalog.set(object.clone()),
                old.as_ref().map(|(old, _)| old.clone())
            );
            let same = |old: &Object| old.meta().resource_version == object.meta().resource_version;
            let assumed = old.filter(|(old, _)| same(old)).map(|(_, assumed)| assumed);
            model.insert(place, (object, assumed.unwrap_or_default()));
        }
        Op::Remove(kind, name) => {
            let place = (*kind, key(*kind, *name));
            let old = model.remove(&place);
            assert_eq!(catalog.remove(place.0, &place.1), old.map(|(old, _)| old));
        }
        Op::Assume(spec) => {
            let object = spec.object();
            catalog.assume(object.clone());
            if let Some((_, assumed)) = model.get_mut(&(spec.kind, object.key().clone())) {
                assumed.push((made.len(), object.clone()));
            }
            made.push(object);
        }
        Op::Restore(_) if made.is_empty() => {}
        Op::Restore(which) => {
            let number = which.index(made.len());
            catalog.restore(made[number].clone());
            for (_, assumed) in model.values_mut() {
                assumed.retain(|(other, _)| *other != number);
            }
        }
    }
}

/// All that the catalog gives, by kind and index, as it is to be taken.
fn told(catalog: &Catalog) -> Vec<Vec<Object>> {
    let mut all = vec![
        catalog
            .persistent_volumes
            .iter()
            .cloned()
            .map(Object::PersistentVolume)
            .collect(),
        catalog
            .persistent_volume_claims
            .in_namespace("ns")
            .cloned()
            .map(Object::PersistentVolumeClaim)
            .collect(),
        catalog
            .volume_attachments
            .iter()
            .cloned()
            .map(Object::VolumeAttachment)
            .collect(),
    ];
    for number in 0..NAMES {
        let name: Arc<str> = text(number).into();
        let claim = ObjectKey::new("ns", &name);
        let free = catalog.free_volumes(&name).cloned();
        all.push(free.map(Object::PersistentVolume).collect());
        let aside = catalog.volumes_for(&claim).cloned();
        all.push(aside.map(Object::PersistentVolume).collect());
        let attached: Vec<Object> = catalog
            .attachments_to(&name)
            .cloned()
            .map(Object::VolumeAttachment)
            .collect();
        assert_eq!(catalog.attachment_count(&name), attached.len());
        all.push(attached);
    }
    all
}

proptest! {
    #[test]
    fn a_catalog_is_what_one_made_anew_is(ops in ops()) {
        let (mut catalog, mut model, mut made) = (Catalog::default(), Model::new(), Vec::new());
        for op in &ops {
            apply(op, &mut catalog, &mut model, &mut made);
        }
        let mut anew = Catalog::default();
        for (object, assumed) in model.values() {
            anew.set(object.clone());
            for (_, object) in assumed {
                anew.assume(object.clone());
            }
        }
        prop_assert_eq!(told(&catalog), told(&anew));
        for kind in KINDS {
            prop_assert_eq!(catalog.keys(kind), anew.keys(kind));
        }
        for ((_, key), (object, assumed)) in &model {
            if let Object::PersistentVolumeClaim(stored) = object {
                let claims = &catalog.persistent_volume_claims;
                prop_assert_eq!(claims.stored(key), Some(stored));
                let current = claims.get(key).cloned().map(Object::PersistentVolumeClaim);
                let last = assumed.last().map_or(object, |(_, object)| object);
                prop_assert_eq!(current.as_ref(), Some(last));
            }
        }
    }
}
