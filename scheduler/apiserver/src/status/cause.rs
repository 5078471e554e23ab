//! One mistake in an object: the field, and what is wrong with it, in the words of kube-apiserver
//! (`k8s.io/apimachinery/pkg/util/validation/field`).

use std::fmt;

use serde_json::{Map, Value, json};

/// One entry of `details.causes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable reason, such as `FieldValueRequired`.
    pub reason: &'static str,
    /// What is wrong.
    pub message: String,
    /// The path of the field, empty where the cause is not about a field.
    pub field: String,
}

impl Cause {
    pub(crate) fn required(field: &str, why: &str) -> Self {
        let message = match why {
            "" => "Required value".to_owned(),
            why => format!("Required value: {why}"),
        };
        Self::new("FieldValueRequired", field, message)
    }

    pub(crate) fn forbidden(field: &str, why: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    pub(crate) fn invalid(field: &str, value: &str, why: &str) -> Self {
        let message = format!("Invalid value: {value:?}: {why}");
        Self::new("FieldValueInvalid", field, message)
    }

    /// The value is shown as JSON, or as a text in the form of JSON, where the order of fields matters.
    pub(crate) fn invalid_json(field: &str, value: &impl fmt::Display, why: &str) -> Self {
        let message = format!("Invalid value: {value}: {why}");
        Self::new("FieldValueInvalid", field, message)
    }

    /// A taint that stands twice, which kube-apiserver explains.
    pub(crate) fn duplicate_taint(field: &str, taint: &str) -> Self {
        let message =
            format!("Duplicate value: {taint}: taints must be unique by key and effect pair");
        Self::new("FieldValueDuplicate", field, message)
    }

    pub(crate) fn duplicate(field: &str, value: &str) -> Self {
        Self::new(
            "FieldValueDuplicate",
            field,
            format!("Duplicate value: {value:?}"),
        )
    }

    /// A field that another owns.
    pub(crate) fn owned(owner: &str, field: &str) -> Self {
        let message = format!("conflict with {owner}");
        Self::new("FieldManagerConflict", field, message)
    }

    pub(crate) fn unsupported(field: &str, value: &str, known: &[&str]) -> Self {
        let known: Vec<String> = known.iter().map(|text| format!("{text:?}")).collect();
        let message = format!(
            "Unsupported value: {value:?}: supported values: {}",
            known.join(", ")
        );
        Self::new("FieldValueNotSupported", field, message)
    }

    fn new(reason: &'static str, field: &str, message: String) -> Self {
        Self {
            reason,
            message,
            field: field.to_owned(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("reason".to_owned(), json!(self.reason));
        map.insert("message".to_owned(), json!(self.message));
        if !self.field.is_empty() {
            map.insert("field".to_owned(), json!(self.field));
        }
        Value::Object(map)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "{field}: {}", self.message),
        }
    }
}
