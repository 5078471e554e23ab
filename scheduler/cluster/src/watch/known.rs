//! Which objects the engine was given last.
//!
//! Lets a new list share what has not changed with what the engine holds, so that memory
//! does not double while everything is listed again. Holds no object alive by itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use plimsoll_objects::{ObjectMeta, Uid};

use crate::kind::{Head, Kind};

/// Weak references to the objects of one kind, by uid: some 60 bytes each.
pub(super) struct Known<T> {
    objects: BTreeMap<Uid, Weak<T>>,
}

// === impl Known ===

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
        }
    }
}

impl<T> Known<T> {
    /// The object of this text, if the engine still holds it at the same version. The head
    /// of a text is read in half the time of the whole.
    pub(super) fn unchanged<K: Kind<Object = T>>(&self, json: &str) -> Option<Arc<T>> {
        if self.objects.is_empty() {
            return None;
        }
        let head = Head::of(json)?;
        let object = self.objects.get(&head.uid())?.upgrade()?;
        let version = &*K::meta(&object).resource_version;
        (!version.is_empty() && version == head.version()).then_some(object)
    }

    /// The engine is given this object.
    pub(super) fn set(&mut self, meta: &ObjectMeta, object: &Arc<T>) {
        self.objects
            .insert(meta.uid.clone(), Arc::downgrade(object));
    }

    /// The engine is told that the object is gone.
    pub(super) fn remove(&mut self, uid: &Uid) {
        self.objects.remove(uid);
    }

    /// The engine is given these objects and no others.
    pub(super) fn replace<K: Kind<Object = T>>(&mut self, objects: &[Arc<T>]) {
        let entry = |object: &Arc<T>| (K::meta(object).uid.clone(), Arc::downgrade(object));
        self.objects = objects.iter().map(entry).collect();
    }
}
