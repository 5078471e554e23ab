//! Reads one JSON object of the file, and says what does not belong there.
//!
//! Takes a value and the names its object may have, gives typed fields; every mistake is
//! kept and reading goes on. Unknown names get a hint: the name that was meant, or the
//! part of the file in which the field belongs.

use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::names::nearest;
use crate::v1::{FILE_FIELDS, PROFILE_FIELDS};

/// An object that is being read.
#[derive(Debug)]
pub(crate) struct Object<'a, 'e> {
    map: Option<&'a Map<String, Value>>,
    path: FieldPath,
    errors: &'e mut Vec<FieldError>,
}

// === impl Object ===

impl<'a, 'e> Object<'a, 'e> {
    /// Opens `value`, which may have the fields `known`; `null` is an empty object.
    pub(crate) fn open(
        value: &'a Value,
        path: FieldPath,
        known: &[&'static str],
        errors: &'e mut Vec<FieldError>,
    ) -> Self {
        let map = value.as_object();
        if map.is_none() && !value.is_null() {
            let problem = format!("must be an object, is {}", kind_of(value));
            errors.push(FieldError::new(Stage::Decode, path.clone(), problem));
        }
        for name in map.into_iter().flat_map(Map::keys) {
            if !known.contains(&name.as_str()) {
                let problem = unknown(name, known);
                errors.push(FieldError::new(Stage::Decode, path.field(name), problem));
            }
        }
        Self { map, path, errors }
    }

    /// The field `name` as a `T`; `None` where it is absent, null or wrong.
    pub(crate) fn scalar<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.value(name)?;
        match T::deserialize(value) {
            Ok(read) => Some(read),
            Err(problem) => {
                self.reject(name, Stage::Decode, problem.to_string());
                None
            }
        }
    }

    /// Keeps a mistake in the field `name`.
    pub(crate) fn reject(&mut self, name: &str, stage: Stage, problem: String) {
        self.errors
            .push(FieldError::new(stage, self.path.field(name), problem));
    }

    /// The field `name` as it stands; `None` where it is absent or null.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.map?.get(name).filter(|value| !value.is_null())
    }

    /// The nested object `name`; an absent one is empty.
    pub(crate) fn object(&mut self, name: &str, known: &[&'static str]) -> Object<'a, '_> {
        let value = self.value(name).unwrap_or(&Value::Null);
        Object::open(value, self.path.field(name), known, self.errors)
    }

    /// The elements of the list `name`, each read by `read`.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        read: impl Fn(&'a Value, FieldPath, &mut Vec<FieldError>) -> T,
    ) -> Vec<T> {
        let path = self.path.field(name);
        match self.value(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items
                    .map(|(i, item)| read(item, path.index(i), self.errors))
                    .collect()
            }
            Some(other) => {
                let problem = format!("must be a list, is {}", kind_of(other));
                self.errors
                    .push(FieldError::new(Stage::Decode, path, problem));
                Vec::new()
            }
        }
    }
}

fn unknown(name: &str, known: &[&'static str]) -> String {
    let belongs = |place: &str| {
        format!(
            "unknown field: `{name}` belongs to {place} of a {}",
            crate::v1::KIND
        )
    };
    if FILE_FIELDS.contains(&name) {
        return belongs("the top level");
    }
    if PROFILE_FIELDS.contains(&name) {
        return belongs("an entry of `profiles`");
    }
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("unknown field (did you mean `{meant}`?)"),
        None => "unknown field".to_owned(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
