//! Merging lists: by a key field, as a set of values, or as a whole; and the two list directives.

use serde_json::{Map, Value};

use super::{Directive, Strategy, directive, merge_map};
use crate::{
    json,
    schema::{Type, go_text},
    status::Status,
};

/// Merges the items of a patch into a list, which is made if it is missing.
pub(super) fn merge(
    target: &mut Value,
    items: &[Value],
    strategy: Strategy<'_>,
    field: &str,
) -> Result<(), Status> {
    if replaces_all(items) || !target.is_array() {
        *target = Value::Array(Vec::new());
    }
    let Some(list) = target.as_array_mut() else {
        return Ok(());
    };
    match strategy {
        Strategy::Replace => {
            let plain = items.iter().filter(|it| it.get(super::PATCH).is_none());
            *list = plain
                .map(|it| resolved(it, None))
                .collect::<Result<_, _>>()?;
        }
        Strategy::Union => {
            let before = list.clone();
            for item in items {
                if !list.contains(item) {
                    list.push(item.clone());
                }
            }
            settle(list, items, &before, |one, other| one == other);
        }
        Strategy::ByKey(key, of) => {
            let before = list.clone();
            for item in items {
                merge_item(list, item, (key, of), field)?;
            }
            settle(list, items, &before, |one, other| {
                one.get(key) == other.get(key)
            });
        }
    }
    Ok(())
}

/// Puts the items of a merged list in order (`normalizeElementOrder`): those of the patch in its order,
/// the others in theirs, and an item that is new before an item that the patch does not name.
fn settle(
    list: &mut Vec<Value>,
    items: &[Value],
    before: &[Value],
    same: impl Fn(&Value, &Value) -> bool,
) {
    let rank = |order: &[Value], item: &Value| order.iter().position(|it| same(it, item));
    let (mut named, others): (Vec<Value>, Vec<Value>) =
        list.drain(..).partition(|item| rank(items, item).is_some());
    named.sort_by_key(|item| rank(items, item));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    while let (Some(other), Some(ours)) = (others.peek(), named.peek()) {
        let first = match (rank(before, other), rank(before, ours)) {
            (Some(other), Some(ours)) => other <= ours,
            _ => false,
        };
        list.extend(if first { others.next() } else { named.next() });
    }
    list.extend(others.chain(named));
}

/// Takes values out of a list.
pub(super) fn remove_values(target: Option<&mut Value>, values: &Value) {
    let (Some(list), Some(values)) = (target.and_then(Value::as_array_mut), values.as_array())
    else {
        return;
    };
    list.retain(|item| !values.contains(item));
}

/// Puts the items that `order` names in its order; each other item keeps its place behind the item that
/// it followed.
pub(super) fn reorder(target: Option<&mut Value>, order: &Value, strategy: Strategy<'_>) {
    let (Some(list), Some(order)) = (target.and_then(Value::as_array_mut), order.as_array()) else {
        return;
    };
    let rank = |item: &Value| {
        order.iter().position(|wanted| match strategy {
            Strategy::ByKey(key, _) => wanted.get(key) == item.get(key),
            Strategy::Union | Strategy::Replace => wanted == item,
        })
    };
    // Runs of an item and its followers without a rank; the first run may have no ranked item.
    let mut runs: Vec<(Option<usize>, Vec<Value>)> = vec![(None, Vec::new())];
    for item in list.drain(..) {
        match (rank(&item), runs.last_mut()) {
            (None, Some((_, run))) => run.push(item),
            (at, _) => runs.push((at, vec![item])),
        }
    }
    runs.sort_by_key(|(at, _)| *at);
    list.extend(runs.into_iter().flat_map(|(_, run)| run));
}

/// Tells whether a patch's list begins anew: it has an item that is nothing but `$patch: replace`.
fn replaces_all(items: &[Value]) -> bool {
    items.iter().filter_map(Value::as_object).any(|map| {
        let word = map.get(super::PATCH);
        map.len() == 1 && word.is_some_and(|word| word == "replace")
    })
}

fn merge_item(
    list: &mut Vec<Value>,
    item: &Value,
    (key, of): (&str, Option<&Type>),
    field: &str,
) -> Result<(), Status> {
    let Some(patch) = item.as_object() else {
        let message = format!("cannot merge the list {field}: an item is no object");
        return Err(Status::bad_request(message));
    };
    let what = directive(patch)?;
    if what == Some(Directive::Replace) && patch.len() == 1 {
        return Ok(());
    }
    let Some(id) = patch.get(key).filter(|id| !id.is_null()) else {
        let item = go_text(item);
        let message = format!("map: {item} does not contain declared merge key: {key}");
        return Err(Status::unknown(message));
    };
    let at = list.iter().position(|present| present.get(key) == Some(id));
    match (at, what) {
        (Some(at), Some(Directive::Delete)) => {
            list.remove(at);
        }
        (None, Some(Directive::Delete)) => {}
        (Some(at), _) => merge_map(json::fields(&mut list[at]), patch, of)?,
        (None, _) => list.push(resolved(item, of)?),
    }
    Ok(())
}

/// Gives an item of a patch as a value of its own: without nulls and directives.
fn resolved(item: &Value, of: Option<&Type>) -> Result<Value, Status> {
    let Some(patch) = item.as_object() else {
        return Ok(item.clone());
    };
    let mut fresh = Map::new();
    merge_map(&mut fresh, patch, of)?;
    Ok(Value::Object(fresh))
}
