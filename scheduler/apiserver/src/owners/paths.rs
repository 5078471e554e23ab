//! Sets of fields: which paths an object owns, what stands at a path, and taking it away.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::schema::{Field, Kind, ListType, Type, types};

/// Where a value stands, from the top of the object.
pub(super) type Path = Vec<Step>;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A field of an object.
    Field(String),
    /// The item of a list that has these keys, as JSON.
    Key(String),
    /// A value in a set, as JSON.
    Value(String),
}

/// What belongs to no one: the address of the object, and what the server sets.
const NO_ONES: [&str; 10] = [
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// Gives the fields that an object of a type has.
pub(super) fn owned(of: &Type, object: &Value) -> BTreeSet<Path> {
    let mut paths = BTreeSet::new();
    let mut stripped = object.clone();
    if let Some(metadata) = stripped.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| !NO_ONES.contains(&key.as_str()));
    }
    if let Some(map) = stripped.as_object_mut() {
        map.retain(|key, inner| {
            key != "metadata" || inner.as_object().is_some_and(|it| !it.is_empty())
        });
        fields(of, map, &mut Vec::new(), &mut paths);
    }
    paths
}

fn fields(of: &Type, map: &Map<String, Value>, path: &mut Path, paths: &mut BTreeSet<Path>) {
    for (name, value) in map {
        let Some(field) = of.field(name) else {
            continue;
        };
        if value.is_null() {
            continue;
        }
        path.push(Step::Field(name.clone()));
        inside(field, &field.kind, value, path, paths);
        path.pop();
    }
}

fn inside(field: &Field, kind: &Kind, value: &Value, path: &mut Path, paths: &mut BTreeSet<Path>) {
    let whole = field.list == ListType::Atomic;
    match (kind, value) {
        (Kind::Struct(at), Value::Object(map)) if !whole && !map.is_empty() => {
            fields(types().at(*at), map, path, paths);
        }
        (Kind::Map(_), Value::Object(map)) if !whole && !map.is_empty() => {
            for key in map.keys() {
                path.push(Step::Field(key.clone()));
                paths.insert(path.clone());
                path.pop();
            }
        }
        (Kind::List(item), Value::Array(items)) if !whole && !items.is_empty() => {
            for value in items {
                path.push(step_of(field, value));
                paths.insert(path.clone());
                if let (Kind::Struct(at), Value::Object(map)) = (&**item, value) {
                    fields(types().at(*at), map, path, paths);
                }
                path.pop();
            }
        }
        _ => {
            paths.insert(path.clone());
        }
    }
}

/// Gives the step to an item of a list that is no whole.
pub(super) fn step_of(field: &Field, item: &Value) -> Step {
    match &field.list {
        ListType::Map(keys) => {
            let mut found = Map::new();
            for key in keys {
                let value = item.get(*key).filter(|it| !it.is_null()).cloned();
                // The one key that has a default (`+default` of the types).
                let value = value.or_else(|| (*key == "protocol").then(|| json!("TCP")));
                if let Some(value) = value {
                    found.insert((*key).to_owned(), value);
                }
            }
            Step::Key(Value::Object(found).to_string())
        }
        ListType::Set | ListType::Atomic | ListType::Granular => Step::Value(item.to_string()),
    }
}

/// Gives the value at a path; of an item of a list only that it is there, since its fields have paths.
pub(super) fn at<'a>(object: &'a Value, path: &[Step]) -> Option<&'a Value> {
    let mut value = object;
    for (place, step) in path.iter().enumerate() {
        value = match step {
            Step::Field(name) => value.get(name)?,
            Step::Value(_) | Step::Key(_) => {
                let items = value.as_array()?;
                let item = items.iter().find(|item| is_at(step, item))?;
                if place + 1 == path.len() {
                    return Some(&Value::Null);
                }
                item
            }
        };
    }
    Some(value)
}

/// Takes what stands at a path out of an object.
pub(super) fn remove(object: &mut Value, path: &[Step]) {
    let Some((last, holder)) = path.split_last() else {
        return;
    };
    let mut value = object;
    for step in holder {
        let next = match step {
            Step::Field(name) => value.get_mut(name),
            Step::Value(_) | Step::Key(_) => value
                .as_array_mut()
                .and_then(|items| items.iter_mut().find(|item| is_at(step, item))),
        };
        let Some(next) = next else {
            return;
        };
        value = next;
    }
    match (last, value) {
        (Step::Field(name), Value::Object(map)) => {
            map.remove(name);
        }
        (step, Value::Array(items)) => items.retain(|item| !is_at(step, item)),
        _ => {}
    }
}

/// Tells whether an item of a list is the one that a step means.
pub(super) fn is_at(step: &Step, item: &Value) -> bool {
    match step {
        Step::Field(_) => false,
        Step::Value(text) => serde_json::from_str::<Value>(text).is_ok_and(|it| it == *item),
        Step::Key(text) => {
            let keys: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
            let same = |(key, value): (&String, &Value)| match item.get(key) {
                Some(found) => found == value,
                None => key == "protocol" && value == "TCP",
            };
            !keys.is_empty() && keys.iter().all(same)
        }
    }
}
