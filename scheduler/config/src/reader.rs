//! Reads one JSON object of the file, and says what does not belong there.
//!
//! Takes a value and the names its object may have, gives typed fields; every mistake is
//! kept and reading goes on. Unknown names get a hint: the name that was meant, or the
//! part of the file in which the field belongs.

use plimsoll_framework::{FieldError, FieldPath, Stage};
use plimsoll_objects::ApiDuration;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::names::nearest;
use crate::plimsoll;
use crate::v1::extender::EXTENDER_FIELDS;
use crate::v1::{FILE_FIELDS, PROFILE_FIELDS, old};

/// How the problem of a field that does not belong there begins.
pub(crate) const UNKNOWN_FIELD: &str = "unknown field";

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
                self.reject(name, Stage::Decode, readable(&problem.to_string()));
                None
            }
        }
    }

    /// The field `name` as a duration; here, and only here, `null` is no way to leave it out
    /// (`metav1.Duration`).
    pub(crate) fn duration(&mut self, name: &str) -> Option<ApiDuration> {
        let given = self.map.and_then(|map| map.get(name));
        if given.is_some_and(Value::is_null) {
            let problem = "null is no duration: leave the field out, or write one such as 15s";
            self.reject(name, Stage::Decode, problem.to_owned());
            return None;
        }
        self.scalar(name)
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

/// A wrong type in words of the file rather than of this program.
pub(crate) fn readable(problem: &str) -> String {
    let words = [
        ("expected i32", "expected a whole number of 32 bits"),
        ("expected i64", "expected a whole number of 64 bits"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u64", "expected a whole number, not negative"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list"),
    ];
    let word = words.into_iter().find(|(own, _)| problem.ends_with(own));
    match word {
        Some((own, said)) => problem.replace(own, said),
        None => problem.to_owned(),
    }
}

/// What to say about the field `name`, which is none of `known`.
fn unknown(name: &str, known: &[&'static str]) -> String {
    let hint = hint(name, known);
    hint.map_or_else(
        || UNKNOWN_FIELD.to_owned(),
        |hint| format!("{UNKNOWN_FIELD}{hint}"),
    )
}

fn hint(name: &str, known: &[&'static str]) -> Option<String> {
    let belongs = |place: &str| format!(": `{name}` belongs to {place} of a {}", crate::v1::KIND);
    if let Some(advice) = old::advice(name) {
        return Some(format!(": {advice}"));
    }
    if FILE_FIELDS.contains(&name) {
        return Some(belongs("the top level"));
    }
    if PROFILE_FIELDS.contains(&name) {
        return Some(belongs("an entry of `profiles`"));
    }
    if name == "weight" {
        let said = ": `weight` belongs to an entry of `enabled`, at `score` or in `multiPoint`";
        return Some(said.to_owned());
    }
    if EXTENDER_FIELDS.contains(&name) {
        return Some(belongs("an entry of `extenders`"));
    }
    if plimsoll::FIELDS.contains(&name) {
        return Some(format!(
            ": `{name}` belongs to a {}, the file of --plimsoll-config",
            plimsoll::KIND
        ));
    }
    let meant = nearest(name, known.iter().copied());
    meant.map(|meant| format!(" (did you mean `{meant}`?)"))
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
