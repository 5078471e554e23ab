//! The current objects of one resource, ordered by namespace and name as lists show them.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::Object;

/// The key of an object inside its resource.
pub(crate) type Key<'a> = (&'a str, &'a str);

/// Current objects by namespace, then name; objects of the cluster are in the namespace "".
#[derive(Debug, Default)]
pub(crate) struct Index {
    namespaces: BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<Object>>>,
    len: usize,
}

impl Index {
    pub(crate) fn get(&self, (namespace, name): Key<'_>) -> Option<&Arc<Object>> {
        self.namespaces.get(namespace)?.get(name)
    }

    /// Counts the objects of a namespace, or of all.
    pub(crate) fn len(&self, namespace: Option<&str>) -> usize {
        match namespace {
            Some(namespace) => self.namespaces.get(namespace).map_or(0, BTreeMap::len),
            None => self.len,
        }
    }

    /// Puts a version in place and gives the one it replaces.
    pub(crate) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let names = self
            .namespaces
            .entry(object.namespace().into())
            .or_default();
        let previous = names.insert(object.name().into(), object);
        self.len += usize::from(previous.is_none());
        previous
    }

    pub(crate) fn remove(&mut self, (namespace, name): Key<'_>) -> Option<Arc<Object>> {
        let names = self.namespaces.get_mut(namespace)?;
        let removed = names.remove(name)?;
        self.len -= 1;
        if names.is_empty() {
            self.namespaces.remove(namespace);
        }
        Some(removed)
    }

    /// Goes through the objects of a namespace, or of all, that come after a key.
    pub(crate) fn after<'a>(
        &'a self,
        namespace: Option<&'a str>,
        after: Option<Key<'a>>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let first = match (namespace, after) {
            (Some(namespace), _) | (None, Some((namespace, _))) => Bound::Included(namespace),
            (None, None) => Bound::Unbounded,
        };
        self.namespaces
            .range::<str, _>((first, Bound::Unbounded))
            .take_while(move |(here, _)| namespace.is_none_or(|it| it == &***here))
            .flat_map(move |(here, names)| {
                let start = match after {
                    Some((namespace, name)) if *namespace == **here => Bound::Excluded(name),
                    _ => Bound::Unbounded,
                };
                names
                    .range::<str, _>((start, Bound::Unbounded))
                    .map(|(_, object)| object)
            })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::Resource;

    fn index(keys: &[Key<'_>]) -> Index {
        let mut index = Index::default();
        for (namespace, name) in keys {
            let value = json!({"metadata": {"namespace": namespace, "name": name}});
            index.insert(Arc::new(Object::new(
                Resource::named("pods").unwrap(),
                value,
                1,
            )));
        }
        index
    }

    fn names(index: &Index, namespace: Option<&str>, after: Option<Key<'_>>) -> Vec<String> {
        let objects = index.after(namespace, after);
        objects
            .map(|it| format!("{}/{}", it.namespace(), it.name()))
            .collect()
    }

    #[test]
    fn objects_come_by_namespace_and_name_from_any_key_on() {
        let index = index(&[("b", "1"), ("a", "2"), ("a", "1"), ("c", "1")]);
        assert_eq!(names(&index, None, None), ["a/1", "a/2", "b/1", "c/1"]);
        assert_eq!(names(&index, None, Some(("a", "1"))), ["a/2", "b/1", "c/1"]);
        assert_eq!(names(&index, None, Some(("aa", "9"))), ["b/1", "c/1"]);
        assert_eq!(names(&index, Some("a"), Some(("a", "1"))), ["a/2"]);
        assert!(names(&index, Some("x"), None).is_empty());
    }

    #[test]
    fn the_count_follows_inserts_and_removals() {
        let mut index = index(&[("a", "1"), ("a", "1"), ("b", "1")]);
        assert_eq!((index.len(None), index.len(Some("a"))), (2, 1));
        assert!(index.remove(("a", "1")).is_some());
        assert!(index.remove(("a", "1")).is_none());
        assert_eq!((index.len(None), index.len(Some("a"))), (1, 0));
    }
}
