//! One page of a list, as the collection stands or as it stood at an earlier revision.
//!
//! An earlier state is made by undoing the changes since: the objects that changed are shown in their
//! first previous version, all others as they are. So pages of one list agree with each other while
//! writes go on, nothing is copied per list, and a page costs the changes since the first one at most.

use std::{collections::BTreeMap, iter, ops::Bound, sync::Arc};

use super::{Object, collection::Collection, history::TooOld, index::Key};
use crate::selector::Selection;

/// What a page shall show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageQuery<'a> {
    pub(crate) namespace: Option<&'a str>,
    /// The last key of the page before.
    pub(crate) after: Option<Key<'a>>,
    /// The revision to show, absent for the present.
    pub(crate) at: Option<u64>,
    pub(crate) limit: Option<usize>,
    pub(crate) selection: &'a Selection,
}

/// One page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Object>>,
    /// Whether objects follow that may match.
    pub(crate) more: bool,
    /// How many objects the namespace, or the cluster, has at that revision, matching or not.
    pub(crate) total: usize,
}

/// The objects that changed after a revision, as they were at it; `None` where there was none.
type Past = BTreeMap<(Box<str>, Box<str>), Option<Arc<Object>>>;

impl Collection {
    /// Gives a page.
    pub(crate) fn page(&self, query: PageQuery<'_>) -> Result<Page, TooOld> {
        let past = match query.at {
            Some(revision) => self.past(query.namespace, revision)?,
            None => Past::new(),
        };
        let mut objects = self.objects(query, &past).peekable();
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut items = Vec::new();
        while items.len() < limit
            && let Some(object) = objects.next()
        {
            if query.selection.matches(object) {
                items.push(Arc::clone(object));
            }
        }
        let more = objects.peek().is_some();
        let total = self.total(query.namespace, &past);
        Ok(Page { items, more, total })
    }

    fn past(&self, namespace: Option<&str>, revision: u64) -> Result<Past, TooOld> {
        let mut past = Past::new();
        for change in self.history.since(revision)? {
            let object = &change.object;
            if namespace.is_none_or(|it| it == object.namespace()) {
                past.entry((object.namespace().into(), object.name().into()))
                    .or_insert_with(|| change.previous.clone());
            }
        }
        Ok(past)
    }

    /// Merges what did not change with what it was before, in the order of keys.
    fn objects<'a>(
        &'a self,
        query: PageQuery<'a>,
        past: &'a Past,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let first = query.after.map_or(Bound::Unbounded, |(namespace, name)| {
            Bound::Excluded((namespace.into(), name.into()))
        });
        let mut old = past
            .range((first, Bound::Unbounded))
            .filter_map(|(_, object)| object.as_ref())
            .peekable();
        let mut unchanged = self
            .index
            .after(query.namespace, query.after)
            .filter(|object| past.is_empty() || !past.contains_key(&owned_key(object)))
            .peekable();
        iter::from_fn(move || match (old.peek(), unchanged.peek()) {
            (Some(before), Some(now)) if key(before) < key(now) => old.next(),
            (Some(_), None) => old.next(),
            _ => unchanged.next(),
        })
    }

    fn total(&self, namespace: Option<&str>, past: &Past) -> usize {
        let mut total = self.index.len(namespace);
        for ((namespace, name), object) in past {
            let here = self.index.get((namespace, name)).is_some();
            match (object.is_some(), here) {
                (true, false) => total += 1,
                (false, true) => total = total.saturating_sub(1),
                _ => {}
            }
        }
        total
    }
}

fn key(object: &Object) -> Key<'_> {
    (object.namespace(), object.name())
}

fn owned_key(object: &Object) -> (Box<str>, Box<str>) {
    (object.namespace().into(), object.name().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::Resource;

    fn put(collection: &mut Collection, name: &str, revision: u64) {
        let value = json!({"metadata": {"namespace": "n", "name": name}});
        let object = Object::new(Resource::named("pods").unwrap(), value, revision);
        collection.put(&Arc::new(object));
    }

    fn page(
        collection: &Collection,
        at: Option<u64>,
        after: Option<Key<'_>>,
        limit: usize,
    ) -> (Vec<String>, bool, usize) {
        let selection = Selection::default();
        let query = PageQuery {
            namespace: None,
            after,
            at,
            limit: Some(limit),
            selection: &selection,
        };
        let page = collection.page(query).unwrap();
        let items = page.items.iter();
        let items = items.map(|it| format!("{}@{}", it.name(), it.resource_version()));
        (items.collect(), page.more, page.total)
    }

    #[test]
    fn the_pages_of_one_list_agree_while_objects_come_change_and_go() {
        let mut collection = Collection::new(100);
        for (at, name) in ["a", "c", "e", "g"].into_iter().enumerate() {
            put(&mut collection, name, at as u64 + 1);
        }
        assert_eq!(
            page(&collection, Some(4), None, 2),
            (vec!["a@1".into(), "c@2".into()], true, 4)
        );
        put(&mut collection, "d", 5);
        put(&mut collection, "e", 6);
        collection.remove(("n", "g"), 7);
        put(&mut collection, "e", 8);
        let rest = (vec!["e@3".into(), "g@4".into()], false, 4);
        assert_eq!(page(&collection, Some(4), Some(("n", "c")), 9), rest);
        let now = (vec!["d@5".into(), "e@8".into()], false, 4);
        assert_eq!(page(&collection, None, Some(("n", "c")), 9), now);
    }

    #[test]
    fn every_past_revision_is_shown_as_it_was() {
        let mut collection = Collection::new(100);
        let mut states = vec![Vec::new()];
        for revision in 1..60_u64 {
            let name = format!("p{}", revision * 7 % 11);
            if revision % 3 == 0 && collection.index.get(("n", &name)).is_some() {
                collection.remove(("n", &name), revision);
            } else {
                put(&mut collection, &name, revision);
            }
            states.push(page(&collection, None, None, 99).0);
        }
        for (revision, state) in states.iter().enumerate() {
            let (items, more, total) = page(&collection, Some(revision as u64), None, 99);
            assert_eq!(
                (&items, more, total),
                (state, false, state.len()),
                "at {revision}"
            );
        }
    }

    #[test]
    fn a_revision_that_is_no_longer_kept_is_too_old() {
        let mut collection = Collection::new(1);
        put(&mut collection, "a", 1);
        put(&mut collection, "a", 2);
        let selection = Selection::default();
        let query = PageQuery {
            namespace: None,
            after: None,
            at: Some(0),
            limit: None,
            selection: &selection,
        };
        assert_eq!(collection.page(query).unwrap_err(), TooOld { oldest: 1 });
    }
}
