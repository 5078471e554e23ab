//! Strategic merge patches (`k8s.io/apimachinery/pkg/util/strategicpatch`).
//!
//! Maps merge field by field and null removes; lists merge as `keys` says. Directives: `$patch` (`delete`,
//! `replace`, `merge`) in maps and list items, `$retainKeys`, `$deleteFromPrimitiveList/<list>` and
//! `$setElementOrder/<list>`. An unknown directive is refused.

mod list;

use serde_json::{Map, Value};

use super::keys::{Strategy, strategy};
use crate::{json, status::Status};

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Merges a patch into an object.
pub(super) fn merge(target: &mut Value, patch: &Value) -> Result<(), Status> {
    match patch.as_object() {
        Some(patch) => merge_map(json::fields(target), patch, ""),
        None => Ok(()),
    }
}

/// Merges a patch into a map that stands in the field `holder`.
fn merge_map(
    target: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    holder: &str,
) -> Result<(), Status> {
    match directive(patch)? {
        Some(Directive::Delete) => {
            target.clear();
            return Ok(());
        }
        Some(Directive::Replace) => target.clear(),
        Some(Directive::Merge) | None => {}
    }
    if let Some(kept) = patch.get(RETAIN).and_then(Value::as_array) {
        target.retain(|key, _| kept.iter().any(|it| it == key));
    }
    for (field, wanted) in patch {
        if let Some(list) = field.strip_prefix(DELETE_FROM) {
            list::remove_values(target.get_mut(list), wanted);
        } else if !field.starts_with('$') {
            merge_field(target, field, wanted, holder)?;
        }
    }
    for (field, order) in patch {
        if let Some(name) = field.strip_prefix(ORDER) {
            list::reorder(target.get_mut(name), order, strategy(holder, name));
        }
    }
    Ok(())
}

fn merge_field(
    target: &mut Map<String, Value>,
    field: &str,
    wanted: &Value,
    holder: &str,
) -> Result<(), Status> {
    match wanted {
        Value::Null => {
            target.remove(field);
        }
        Value::Object(inner) => merge_map(json::child(target, field), inner, field)?,
        Value::Array(items) => {
            let strategy = strategy(holder, field);
            list::merge(
                target.entry(field).or_insert(Value::Null),
                items,
                strategy,
                field,
            )?;
        }
        plain => {
            target.insert(field.to_owned(), plain.clone());
        }
    }
    Ok(())
}

/// What `$patch` says of the map or the list item it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Delete,
    Replace,
    Merge,
}

fn directive(patch: &Map<String, Value>) -> Result<Option<Directive>, Status> {
    match patch.get(PATCH) {
        None => Ok(None),
        Some(Value::String(word)) if word == "delete" => Ok(Some(Directive::Delete)),
        Some(Value::String(word)) if word == "replace" => Ok(Some(Directive::Replace)),
        Some(Value::String(word)) if word == "merge" => Ok(Some(Directive::Merge)),
        Some(other) => Err(Status::bad_request(format!("unknown patch type: {other}"))),
    }
}

#[cfg(test)]
mod tests;
