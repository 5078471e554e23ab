//! Reading and writing fields of JSON objects by path, for objects that have no Rust type.

use serde_json::{Map, Value};

/// The deepest nesting that an object may have: well below the 128 levels that the JSON parser takes, so
/// that what was stored can always be read again, inside a list or an event too.
pub(crate) const MAX_DEPTH: usize = 100;

/// Gives the value at a path of keys.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |inner, key| inner.get(*key))
}

/// Gives the text at a path; an empty text counts as absent, as in Go's zero values.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str().filter(|text| !text.is_empty())
}

/// Gives the list at a path, empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Gives the fields of a value, which becomes an empty object if it is none.
pub(crate) fn fields(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value
        .as_object_mut()
        .expect("the value was made an object above")
}

/// Gives the fields of a child object, which is made if it is missing.
pub(crate) fn section<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    child(fields(value), name)
}

/// Gives the fields of a child of a map, which is made if it is missing.
pub(crate) fn child<'a>(map: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    fields(map.entry(name).or_insert(Value::Null))
}

/// Sets a field that is absent or null.
pub(crate) fn set_default(map: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    let slot = map.entry(name).or_insert(Value::Null);
    if slot.is_null() {
        *slot = value.into();
    }
}

/// Puts `value` under `name`, or removes the field where there is no value.
pub(crate) fn put(map: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(name.to_owned(), value),
        None => map.remove(name),
    };
}

/// Tells whether objects and lists nest deeper than `limit`.
pub(crate) fn deeper_than(value: &Value, limit: usize) -> bool {
    let Some(left) = limit.checked_sub(1) else {
        return value.is_object() || value.is_array();
    };
    match value {
        Value::Object(map) => map.values().any(|inner| deeper_than(inner, left)),
        Value::Array(items) => items.iter().any(|inner| deeper_than(inner, left)),
        _ => false,
    }
}

/// The memory of a map, in bytes: one node of a B-tree with room for eleven fields.
const MAP_BYTES: usize = 640;

/// Gives about how much memory a value takes, in bytes.
pub(crate) fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(key, inner)| key.len() + weight(inner));
            MAP_BYTES + fields.sum::<usize>()
        }
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::String(text) => text.len(),
        _ => 0,
    };
    size_of::<Value>() + inner
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_default_fills_only_what_is_absent_or_null() {
        let mut value = json!({"spec": {"a": 1, "b": null}});
        let spec = section(&mut value, "spec");
        for name in ["a", "b", "c"] {
            set_default(spec, name, 9);
        }
        assert_eq!(value, json!({"spec": {"a": 1, "b": 9, "c": 9}}));
    }

    #[test]
    fn depth_counts_objects_and_lists() {
        let value = json!({"a": [{"b": 1}]});
        assert!(deeper_than(&value, 2));
        assert!(!deeper_than(&value, 3));
    }
}
