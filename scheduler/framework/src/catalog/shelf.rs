//! The objects of one kind, by namespace and name.
//!
//! Holds what the API server has and what is assumed on top of it; gives the latter where
//! there is one (client-go `AssumeCache`).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::ObjectKey;

/// Objects of one kind.
#[derive(Debug, Clone)]
pub struct Shelf<T> {
    entries: BTreeMap<ObjectKey, Entry<T>>,
    /// Grows with every change.
    version: u64,
}

/// One object.
#[derive(Debug, Clone)]
struct Entry<T> {
    stored: Arc<T>,
    /// What each pod that has reserved it takes it for: the last one counts.
    assumed: Vec<Arc<T>>,
}

/// What a shelf must know of its objects.
pub trait Shelved {
    /// Namespace and name.
    fn key(&self) -> &ObjectKey;
    /// `metadata.resourceVersion`.
    fn version(&self) -> &str;
}

// === impl Shelf ===

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            version: 0,
        }
    }
}

impl<T> Shelf<T> {
    /// The object `key`, as it is to be taken.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.entries.get(key).map(Entry::current)
    }

    /// The object `name` of a kind without namespaces.
    pub fn named(&self, name: &str) -> Option<&Arc<T>> {
        self.get(&ObjectKey::new("", name))
    }

    /// The same for a name that is shared already: nothing is allocated.
    pub fn called(&self, name: &Arc<str>) -> Option<&Arc<T>> {
        self.get(&ObjectKey {
            namespace: Arc::default(),
            name: Arc::clone(name),
        })
    }

    /// The object `key`, as the API server has it.
    pub fn stored(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.entries.get(key).map(|entry| &entry.stored)
    }

    /// All objects by namespace and name, as they are to be taken.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.entries.values().map(Entry::current)
    }

    /// The objects of a namespace by name, as they are to be taken.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        let first = ObjectKey::new(namespace, "");
        let rest = self.entries.range(first.clone()..);
        rest.take_while(move |(key, _)| key.namespace == first.namespace)
            .map(|(_, entry)| entry.current())
    }

    /// Another number for each state that the shelf has had.
    pub fn changes(&self) -> u64 {
        self.version
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.entries.keys().cloned().collect()
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<T>> {
        self.version += 1;
        self.entries.remove(key).map(|entry| entry.stored)
    }
}

impl<T> Entry<T> {
    fn current(&self) -> &Arc<T> {
        self.assumed.last().unwrap_or(&self.stored)
    }
}

impl<T: Shelved> Shelf<T> {
    pub(super) fn set(&mut self, object: Arc<T>) -> Option<Arc<T>> {
        self.version += 1;
        let Some(entry) = self.entries.get_mut(object.key()) else {
            let entry = Entry {
                stored: Arc::clone(&object),
                assumed: Vec::new(),
            };
            self.entries.insert(object.key().clone(), entry);
            return None;
        };
        if entry.stored.version() != object.version() || object.version().is_empty() {
            entry.assumed.clear();
        }
        Some(std::mem::replace(&mut entry.stored, object))
    }

    /// Only an object that the API server has can be assumed to be another.
    pub(super) fn assume(&mut self, object: Arc<T>) {
        self.version += 1;
        if let Some(entry) = self.entries.get_mut(object.key()) {
            entry.assumed.push(object);
        }
    }

    /// Takes back that very object; what others assume stays.
    pub(super) fn restore(&mut self, object: &Arc<T>) {
        self.version += 1;
        if let Some(entry) = self.entries.get_mut(object.key()) {
            entry.assumed.retain(|other| !Arc::ptr_eq(other, object));
        }
    }
}

/// Every kind has its key and version in its metadata.
macro_rules! shelved {
    ($($kind:ty),* $(,)?) => {
        $(impl Shelved for $kind {
            fn key(&self) -> &ObjectKey {
                &self.meta.key
            }

            fn version(&self) -> &str {
                &self.meta.resource_version
            }
        })*
    };
}

shelved!(
    plimsoll_objects::CsiDriver,
    plimsoll_objects::CsiNode,
    plimsoll_objects::CsiStorageCapacity,
    plimsoll_objects::DeviceClass,
    plimsoll_objects::Namespace,
    plimsoll_objects::PersistentVolume,
    plimsoll_objects::PersistentVolumeClaim,
    plimsoll_objects::PodDisruptionBudget,
    plimsoll_objects::ResourceClaim,
    plimsoll_objects::ResourceSlice,
    plimsoll_objects::StorageClass,
    plimsoll_objects::VolumeAttachment,
    plimsoll_objects::Workload,
);
