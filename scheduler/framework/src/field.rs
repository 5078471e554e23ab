//! Paths into a configuration file, its mistakes, and a reader that finds all of them.
//!
//! Takes JSON values, gives typed values and every [`FieldError`] at once: a wrong field
//! never hides the next one. Plugins read their args with [`Fields`].

use std::collections::BTreeSet;
use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Where in a file: `profiles[0].pluginConfig[1].args.loadWeight`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(String);

/// The step of loading a file at which kube-scheduler would find a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Reading: syntax, unknown and repeated fields, wrong types.
    Decode,
    /// Checking values.
    Validate,
    /// Building profiles: unknown plugins, args of plugins.
    Profile,
}

/// One mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FieldError {
    /// When it is found.
    pub stage: Stage,
    /// Where it is.
    pub path: FieldPath,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Reads the fields of one JSON object and collects every mistake.
///
/// ```
/// use plimsoll_framework::{FieldPath, Fields};
/// let args = serde_json::json!({"loadWeight": 0.5, "typo": 1});
/// let mut errors = Vec::new();
/// let mut fields = Fields::new(&args, FieldPath::new("args"), &mut errors);
/// let weight: f64 = fields.optional("loadWeight").unwrap_or(0.7);
/// fields.finish();
/// assert_eq!(weight, 0.5);
/// assert_eq!(errors[0].to_string(), "args.typo: unknown field");
/// ```
#[derive(Debug)]
pub struct Fields<'a> {
    object: Option<&'a Map<String, Value>>,
    path: FieldPath,
    seen: BTreeSet<&'static str>,
    errors: &'a mut Vec<FieldError>,
}

// === impl FieldPath ===

impl FieldPath {
    /// A path that begins at `name`; empty for the whole file.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The field `name` of this object.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self::new(name)
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// The element `index` of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<file>" } else { &self.0 })
    }
}

// === impl FieldError ===

impl FieldError {
    /// A mistake.
    pub fn new(stage: Stage, path: FieldPath, problem: impl Into<String>) -> Self {
        Self {
            stage,
            path,
            problem: problem.into(),
        }
    }
}

// === impl Fields ===

impl<'a> Fields<'a> {
    /// Begins to read `value` at `path`; `null` reads as an empty object.
    pub fn new(value: &'a Value, path: FieldPath, errors: &'a mut Vec<FieldError>) -> Self {
        let object = match value {
            Value::Object(object) => Some(object),
            Value::Null => None,
            _ => {
                let problem = format!("must be an object, is {}", kind_of(value));
                errors.push(FieldError::new(Stage::Decode, path.clone(), problem));
                None
            }
        };
        // Every args object may carry its own group and version.
        Self {
            object,
            path,
            seen: BTreeSet::from(["apiVersion", "kind"]),
            errors,
        }
    }

    /// The field `name` as a `T`; `None` where it is absent, null or wrong (then an error is
    /// kept).
    pub fn optional<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let value = self.raw(name)?;
        match T::deserialize(value) {
            Ok(read) => Some(read),
            Err(problem) => {
                self.reject(name, Stage::Decode, problem.to_string());
                None
            }
        }
    }

    /// The field `name` as it stands; `None` where it is absent or null.
    pub fn raw(&mut self, name: &'static str) -> Option<&'a Value> {
        self.seen.insert(name);
        self.object?.get(name).filter(|value| !value.is_null())
    }

    /// Keeps a mistake in the field `name`.
    pub fn reject(&mut self, name: &str, stage: Stage, problem: impl Into<String>) {
        self.errors
            .push(FieldError::new(stage, self.path.field(name), problem));
    }

    /// The path of the field `name`.
    pub fn path(&self, name: &str) -> FieldPath {
        self.path.field(name)
    }

    /// The errors kept so far, to read nested objects with.
    pub fn errors(&mut self) -> &mut Vec<FieldError> {
        self.errors
    }

    /// Reports every field that nobody asked for.
    pub fn finish(self) {
        for name in self.object.into_iter().flat_map(Map::keys) {
            if !self.seen.contains(name.as_str()) {
                let path = self.path.field(name);
                self.errors
                    .push(FieldError::new(Stage::Decode, path, "unknown field"));
            }
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FieldError, FieldPath, Fields, Stage};

    /// Reads a nested object with a list, as args of plugins have it.
    fn read(args: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        let mut fields = Fields::new(args, FieldPath::new("args"), &mut errors);
        let weight: Option<f64> = fields.optional("weight");
        if weight.is_some_and(|weight| weight > 1.0) {
            fields.reject("weight", Stage::Validate, "must be at most 1");
        }
        let path = fields.path("inner");
        if let Some(inner) = fields.raw("inner") {
            let mut inner = Fields::new(inner, path, fields.errors());
            drop::<Option<Vec<String>>>(inner.optional("names"));
            inner.finish();
        }
        fields.finish();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let args = json!({
            "weight": 2, "inner": {"names": [1], "typo": true}, "other": {}, "kind": "A",
        });
        assert_eq!(
            read(&args),
            [
                "args.weight: must be at most 1",
                "args.inner.names: invalid type: integer `1`, expected a string",
                "args.inner.typo: unknown field",
                "args.other: unknown field",
            ]
        );
    }

    #[test]
    fn absent_and_null_fields_are_the_same() {
        for args in [
            json!(null),
            json!({}),
            json!({"weight": null, "inner": null}),
        ] {
            assert_eq!(read(&args), [""; 0], "{args}");
        }
    }

    #[test]
    fn what_is_no_object_is_said_so() {
        let kinds = [
            (json!(true), "a boolean"),
            (json!(1), "a number"),
            (json!("x"), "a string"),
            (json!([]), "a list"),
        ];
        for (args, kind) in kinds {
            assert_eq!(read(&args), [format!("args: must be an object, is {kind}")]);
        }
    }

    #[test]
    fn paths_read_like_the_file() {
        let path = FieldPath::default()
            .field("profiles")
            .index(1)
            .field("args");
        assert_eq!(path.as_str(), "profiles[1].args");
        let error = FieldError::new(Stage::Decode, FieldPath::default(), "is empty");
        assert_eq!(error.to_string(), "<file>: is empty");
    }

    #[test]
    fn errors_sort_by_stage_first() {
        let error = |stage, path| FieldError::new(stage, FieldPath::new(path), "x");
        let mut errors = [
            error(Stage::Profile, "a"),
            error(Stage::Validate, "b"),
            error(Stage::Decode, "c"),
        ];
        errors.sort();
        let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
        assert_eq!(paths, ["c", "b", "a"]);
    }
}
