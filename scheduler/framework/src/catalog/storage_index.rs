//! Volumes and attachments by what they are looked for by, so that nobody walks all of them.
//!
//! Takes each object as the API server has it and as it had it, gives names: of the volumes
//! that are free by class, of those set aside by claim, of attachments by node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_objects::{Object, ObjectKey};

/// The index.
#[derive(Debug, Clone, Default)]
pub(super) struct StorageIndex {
    names: BTreeMap<Place, BTreeSet<Arc<str>>>,
}

/// What an object is looked for by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A volume of this class that is set aside for no claim.
    Free(Arc<str>),
    /// A volume that is set aside for this claim, or bound to it.
    Aside(ObjectKey),
    /// An attachment to this node.
    Attached(Arc<str>),
}

// === impl StorageIndex ===

impl StorageIndex {
    /// The API server had `old` and has `new`.
    pub(super) fn replace(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let (before, after) = (old.and_then(Place::of), new.and_then(Place::of));
        if let Some((place, name)) = before
            && let Some(names) = self.names.get_mut(&place)
        {
            names.remove(name);
            if names.is_empty() {
                self.names.remove(&place);
            }
        }
        if let Some((place, name)) = after {
            let names = self.names.entry(place).or_default();
            names.insert(Arc::clone(name));
        }
    }

    /// The names of the objects at `place`, sorted.
    pub(super) fn at<'s>(&'s self, place: &Place) -> impl Iterator<Item = &'s Arc<str>> + use<'s> {
        self.names.get(place).into_iter().flatten()
    }

    /// How many objects are at `place`.
    pub(super) fn count(&self, place: &Place) -> usize {
        self.names.get(place).map_or(0, BTreeSet::len)
    }
}

// === impl Place ===

impl Place {
    /// Where `object` belongs, and its name.
    fn of(object: &Object) -> Option<(Self, &Arc<str>)> {
        let name = &object.key().name;
        if let Object::PersistentVolume(volume) = object {
            let place = match &volume.claim_ref {
                Some(claim) => Self::Aside(claim.key.clone()),
                None => Self::Free(Arc::clone(&volume.class)),
            };
            return Some((place, name));
        }
        if let Object::VolumeAttachment(attachment) = object {
            return Some((Self::Attached(Arc::clone(&attachment.node)), name));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_objects::{Object, ObjectKey, ObjectKind};
    use serde_json::{Value, json};

    use crate::Catalog;

    fn object(kind: ObjectKind, json: &Value) -> Object {
        Object::decode(kind, json.to_string().as_bytes()).expect("an object of a test")
    }

    fn volume(name: &str, class: &str, claim: Option<&str>) -> Object {
        let claim = claim.map(|name| json!({"namespace": "ns", "name": name}));
        let json = json!({
            "metadata": {"name": name}, "spec": {"storageClassName": class, "claimRef": claim}});
        object(ObjectKind::PersistentVolume, &json)
    }

    fn attachment(name: &str, node: &str) -> Object {
        let json = json!({"metadata": {"name": name}, "spec": {"nodeName": node}});
        object(ObjectKind::VolumeAttachment, &json)
    }

    fn free(catalog: &Catalog, class: &str) -> Vec<String> {
        let volumes = catalog.free_volumes(&Arc::from(class));
        volumes.map(|volume| volume.meta.key.to_string()).collect()
    }

    fn aside(catalog: &Catalog, claim: &str) -> Vec<String> {
        let key = ObjectKey::new("ns", claim);
        let volumes = catalog.volumes_for(&key);
        volumes.map(|volume| volume.meta.key.to_string()).collect()
    }

    fn attached(catalog: &Catalog, node: &str) -> Vec<String> {
        let node = Arc::from(node);
        let attachments = catalog.attachments_to(&node);
        let names: Vec<_> = attachments.map(|one| one.meta.key.to_string()).collect();
        assert_eq!(catalog.attachment_count(&node), names.len());
        names
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn volumes_are_found_by_class_or_claim_and_attachments_by_node() {
        let mut catalog = Catalog::default();
        for object in [
            volume("b", "fast", None),
            volume("a", "fast", None),
            volume("c", "", None),
            volume("d", "fast", Some("x")),
            attachment("x", "n1"),
            attachment("y", "n2"),
        ] {
            catalog.set(object);
        }
        assert_eq!(free(&catalog, "fast"), ["a", "b"]);
        assert_eq!(free(&catalog, ""), ["c"]);
        assert_eq!(free(&catalog, "slow"), NONE);
        assert_eq!(aside(&catalog, "x"), ["d"]);
        assert_eq!(aside(&catalog, "y"), NONE);
        assert_eq!(attached(&catalog, "n1"), ["x"]);
    }

    #[test]
    fn what_changes_or_goes_is_not_found_where_it_was() {
        let mut catalog = Catalog::default();
        for object in [
            volume("a", "fast", None),
            volume("a", "slow", None),
            attachment("x", "n1"),
        ] {
            catalog.set(object);
        }
        assert_eq!(free(&catalog, "fast"), NONE);
        assert_eq!(free(&catalog, "slow"), ["a"]);
        catalog.set(volume("a", "slow", Some("c")));
        assert_eq!(free(&catalog, "slow"), NONE);
        assert_eq!(aside(&catalog, "c"), ["a"]);
        catalog.remove(ObjectKind::PersistentVolume, &ObjectKey::new("", "a"));
        catalog.remove(ObjectKind::VolumeAttachment, &ObjectKey::new("", "x"));
        assert_eq!(aside(&catalog, "c"), NONE);
        assert_eq!(attached(&catalog, "n1"), NONE);
    }

    #[test]
    fn an_assumed_volume_is_found_where_the_stored_one_is_as_it_is_to_be_taken() {
        let mut catalog = Catalog::default();
        catalog.set(volume("a", "fast", None));
        catalog.assume(volume("a", "fast", Some("c")));
        let found = catalog.free_volumes(&Arc::from("fast")).next();
        assert!(found.expect("it is there").claim_ref.is_some());
        assert_eq!(aside(&catalog, "c"), NONE);
    }
}
