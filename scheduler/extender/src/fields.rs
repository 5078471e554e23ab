//! Reads JSON as Go's `encoding/json` does: keys in any case, `null` as absent, only the
//! first value of a body, unknown keys passed over.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

/// A body is not what the protocol says.
#[derive(Debug, Error)]
pub enum WireError {
    /// Not JSON.
    #[error("the body is not JSON")]
    Json(#[from] serde_json::Error),
    /// Nothing at all (Go says `EOF`).
    #[error("the body is empty")]
    Empty,
    /// A value has another type.
    #[error("{key}: expected {expected}")]
    Type {
        /// The key, as the protocol writes it.
        key: &'static str,
        /// What should be there.
        expected: &'static str,
    },
}

/// The first JSON value of `body`. What follows it is not looked at.
pub(crate) fn first_value(body: &[u8]) -> Result<Value, WireError> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<Value>();
    values
        .next()
        .ok_or(WireError::Empty)?
        .map_err(WireError::Json)
}

/// An object; `null` is an empty one.
pub(crate) fn object(value: Value, key: &'static str) -> Result<Fields, WireError> {
    match value {
        Value::Null => Ok(Fields(Map::new())),
        Value::Object(map) => Ok(Fields(map)),
        _ => Err(wrong(key, "an object")),
    }
}

/// A list; `null` is none.
pub(crate) fn list(value: Value, key: &'static str) -> Result<Option<Vec<Value>>, WireError> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => Ok(Some(items)),
        _ => Err(wrong(key, "a list")),
    }
}

/// The fields of an object that are not taken yet.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// The value under `key` in whatever case; the exact spelling goes first.
    pub(crate) fn take(&mut self, key: &str) -> Value {
        if let Some(value) = self.0.remove(key) {
            return value;
        }
        let found = self.0.keys().find(|other| other.eq_ignore_ascii_case(key));
        let found = found.cloned();
        found
            .and_then(|found| self.0.remove(&found))
            .unwrap_or_default()
    }

    /// A text; absent is empty.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<String, WireError> {
        text(self.take(key), key)
    }

    /// A whole number; absent is 0, as in Go. A fraction is a mistake.
    pub(crate) fn whole(&mut self, key: &'static str) -> Result<i64, WireError> {
        match self.take(key) {
            Value::Null => Ok(0),
            value => value.as_i64().ok_or(wrong(key, "a whole number")),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, WireError> {
        let items = list(self.take(key), key)?;
        let read = |items: Vec<Value>| items.into_iter().map(|item| text(item, key)).collect();
        items.map(read).transpose()
    }

    /// Texts by name; absent is empty.
    pub(crate) fn text_map(
        &mut self,
        key: &'static str,
    ) -> Result<BTreeMap<String, String>, WireError> {
        let entries = object(self.take(key), key)?.0.into_iter();
        entries
            .map(|(name, value)| Ok((name, text(value, key)?)))
            .collect()
    }

    /// All that is left, under its own names.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.0
    }
}

fn text(value: Value, key: &'static str) -> Result<String, WireError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text),
        _ => Err(wrong(key, "a text")),
    }
}

fn wrong(key: &'static str, expected: &'static str) -> WireError {
    WireError::Type { key, expected }
}
