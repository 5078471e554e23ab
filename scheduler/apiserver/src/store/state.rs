//! What the store's lock guards: the revision, the collections, and the source of identities.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    Object, PodDeletion,
    collection::Collection,
    index::Key,
    write::{Origin, Part, Write},
};
use crate::{identity::Identity, resources::Resource, status::Status};

/// The revision of an empty server. Clients take 0 for "any", so counting begins behind it.
const FIRST_REVISION: u64 = 1;

/// What the store is made from.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How many changes each resource keeps.
    pub(crate) history: usize,
    pub(crate) seed: u64,
    pub(crate) pod_deletion: PodDeletion,
    pub(crate) namespaces: Vec<String>,
}

/// The address of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) resource: &'static Resource,
    pub(crate) key: Key<'a>,
}

impl<'a> Target<'a> {
    pub(crate) const fn new(
        resource: &'static Resource,
        namespace: &'a str,
        name: &'a str,
    ) -> Self {
        Self {
            resource,
            key: (namespace, name),
        }
    }

    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(self.resource, self.key.1)
    }

    pub(crate) fn conflict(&self, why: &str) -> Status {
        Status::conflict(&self.resource.qualified(), self.key.1, why)
    }
}

/// The guarded state.
#[derive(Debug)]
pub(crate) struct State {
    revision: u64,
    collections: BTreeMap<(&'static str, &'static str), Collection>,
    pub(super) identity: Identity,
    pub(super) pod_deletion: PodDeletion,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Self {
        let stored = Resource::all().iter().filter(|it| it.alias.is_none());
        let collections = stored
            .map(|it| ((it.group, it.plural), Collection::new(settings.history)))
            .collect();
        let mut state = Self {
            revision: FIRST_REVISION,
            collections,
            identity: Identity::new(settings.seed),
            pod_deletion: settings.pod_deletion,
        };
        state.furnish(&settings.namespaces);
        state
    }

    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Gives the objects of a resource, those of the stored one for an alias.
    pub(crate) fn collection(&self, resource: &'static Resource) -> &Collection {
        let stored = resource.stored();
        self.collections
            .get(&(stored.group, stored.plural))
            .expect("every stored resource of the table has had a collection since the start")
    }

    fn collection_mut(&mut self, resource: &'static Resource) -> &mut Collection {
        let stored = resource.stored();
        self.collections
            .get_mut(&(stored.group, stored.plural))
            .expect("every stored resource of the table has had a collection since the start")
    }

    /// Gives an object, or the refusal that there is none.
    pub(crate) fn get(&self, target: Target<'_>) -> Result<&Arc<Object>, Status> {
        let found = self.collection(target.resource).index.get(target.key);
        found.ok_or_else(|| target.not_found())
    }

    /// Writes a version of an object at the next revision.
    pub(super) fn commit(&mut self, resource: &'static Resource, value: Value) -> Arc<Object> {
        self.revision += 1;
        let object = Arc::new(Object::new(resource.stored(), value, self.revision));
        self.collection_mut(resource).put(&object);
        object
    }

    /// Removes an object at the next revision, and gives its last state.
    pub(super) fn erase(&mut self, target: Target<'_>) -> Result<Arc<Object>, Status> {
        let revision = self.revision + 1;
        let last = self
            .collection_mut(target.resource)
            .remove(target.key, revision)
            .ok_or_else(|| target.not_found())?;
        self.revision = revision;
        Ok(last)
    }

    /// Makes the objects that every cluster has. A name that is no name leaves its namespace out.
    fn furnish(&mut self, namespaces: &[String]) {
        let fixed = ["default", "kube-node-lease", "kube-public", "kube-system"];
        let names = fixed
            .into_iter()
            .chain(namespaces.iter().map(String::as_str));
        let namespace = |name| ("namespaces", json!({"metadata": {"name": name}}));
        let class = |(name, value)| {
            let metadata = json!({"name": name});
            (
                "priorityclasses",
                json!({"metadata": metadata, "value": value}),
            )
        };
        let classes = [
            ("system-cluster-critical", 2_000_000_000_u32),
            ("system-node-critical", 2_000_001_000),
        ];
        let objects: Vec<_> = names.map(namespace).chain(classes.map(class)).collect();
        for (resource, object) in objects {
            let Some(resource) = Resource::named(resource) else {
                continue;
            };
            let write = Write::by(Origin::Owner, Part::Whole);
            if let Err(status) = self.create(resource, object, write) {
                tracing::warn!(resource = resource.plural, %status, "cannot make an object of the cluster");
            }
        }
    }
}
