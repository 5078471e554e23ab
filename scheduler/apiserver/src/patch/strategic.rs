//! Strategic merge patches (`k8s.io/apimachinery/pkg/util/strategicpatch`).
//!
//! Maps merge field by field and null removes; lists merge as `keys` says. Directives: `$patch` (`delete`,
//! `replace`, `merge`) in maps and list items, `$retainKeys`, `$deleteFromPrimitiveList/<list>` and
//! `$setElementOrder/<list>`. An unknown directive is refused.

mod list;

use serde_json::{Map, Value};

use crate::{
    json,
    schema::{Field, Kind, Merge, Type, types},
    status::Status,
};

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Merges a patch into an object of a type.
pub(super) fn merge(of: Option<&Type>, target: &mut Value, patch: &Value) -> Result<(), Status> {
    match patch.as_object() {
        Some(patch) => merge_map(json::fields(target), patch, of),
        None => Ok(()),
    }
}

/// How a list is merged.
#[derive(Debug, Clone, Copy)]
enum Strategy<'a> {
    /// The patch's list replaces the present one.
    Replace,
    /// Items of this type with the same value of this field are merged.
    ByKey(&'static str, Option<&'a Type>),
    /// Values that are missing are added.
    Union,
}

impl<'a> Strategy<'a> {
    fn of(field: Option<&'a Field>) -> Self {
        match field.map(|field| (field.merge, field)) {
            Some((Merge::ByKey(key), field)) => Self::ByKey(key, inner(field)),
            Some((Merge::Union, _)) => Self::Union,
            Some((Merge::Replace, _)) | None => Self::Replace,
        }
    }
}

/// Gives the type of a field's value, or of the items in it.
fn inner(field: &Field) -> Option<&'static Type> {
    match &field.kind {
        Kind::Struct(at) => Some(types().at(*at)),
        Kind::List(item) => match **item {
            Kind::Struct(at) => Some(types().at(at)),
            _ => None,
        },
        Kind::Plain(_) | Kind::Map(_) => None,
    }
}

/// Merges a patch into a map of a type.
fn merge_map(
    target: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    of: Option<&Type>,
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
            merge_field(target, field, wanted, of)?;
        }
    }
    for (field, order) in patch {
        if let Some(name) = field.strip_prefix(ORDER) {
            let field = of.and_then(|of| of.field(name));
            list::reorder(target.get_mut(name), order, Strategy::of(field));
        }
    }
    Ok(())
}

fn merge_field(
    target: &mut Map<String, Value>,
    field: &str,
    wanted: &Value,
    of: Option<&Type>,
) -> Result<(), Status> {
    let known = of.and_then(|of| of.field(field));
    match wanted {
        Value::Null => {
            target.remove(field);
        }
        Value::Object(inner) => {
            merge_map(
                json::child(target, field),
                inner,
                known.and_then(self::inner),
            )?;
        }
        Value::Array(items) => {
            let slot = target.entry(field).or_insert(Value::Null);
            list::merge(slot, items, Strategy::of(known), field)?;
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
