//! Reads `resources: [{name, weight}, ..]` in the args of plugins that score resources.
//!
//! Takes JSON, gives names and weights with the path of each entry, so that a plugin can
//! say which one it refuses; gives them back as JSON with defaults filled in.

use plimsoll_framework::{FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

use crate::allocation::{Resource, WeightedResource};

/// What scorers look at unless told otherwise (kube-scheduler `defaultResourceSpec`).
const DEFAULT_RESOURCES: [&str; 2] = ["cpu", "memory"];
/// Weight of an entry that gives none.
const DEFAULT_WEIGHT: i64 = 1;

/// One entry as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Name of the resource; empty where the file gives none.
    pub name: String,
    /// `None` where the file gives none.
    pub weight: Option<i64>,
    /// Where the entry is.
    pub path: FieldPath,
}

/// Reads the list in the field `resources`; empty where it is absent. Mistakes of form are
/// kept with `fields`.
pub(crate) fn read(fields: &mut Fields<'_>) -> Vec<Entry> {
    let path = fields.path("resources");
    objects(fields, "resources", |item, index, errors| {
        let path = path.index(index);
        let mut entry = Fields::new(item, path.clone(), errors);
        let name = entry.optional("name").unwrap_or_default();
        let weight = entry.optional("weight");
        entry.finish();
        Entry { name, weight, path }
    })
}

/// Reads each element of the list in the field `name`; empty where it is absent.
pub(crate) fn objects<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    mut read: impl FnMut(&Value, usize, &mut Vec<FieldError>) -> T,
) -> Vec<T> {
    match fields.raw(name) {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| read(item, index, fields.errors()))
                .collect()
        }
        Some(_) => {
            fields.reject(name, Stage::Decode, "must be a list");
            Vec::new()
        }
    }
}

/// kube-scheduler's defaults: no entry means cpu and memory, no weight (or 0) means 1.
pub(crate) fn with_defaults(mut entries: Vec<Entry>) -> Vec<Entry> {
    if entries.is_empty() {
        entries = DEFAULT_RESOURCES.map(Entry::default_of).into();
    }
    for entry in &mut entries {
        entry.weight = entry
            .weight
            .filter(|weight| *weight != 0)
            .or(Some(DEFAULT_WEIGHT));
    }
    entries
}

/// The entries as a scorer takes them.
pub(crate) fn weighted(entries: &[Entry]) -> Vec<WeightedResource> {
    let entries = entries.iter();
    entries
        .map(|entry| WeightedResource {
            resource: Resource::named(&entry.name),
            weight: entry.weight.unwrap_or(DEFAULT_WEIGHT),
        })
        .collect()
}

/// cpu and memory with the same weight: what scorers look at by default.
pub(crate) fn cpu_and_memory() -> Vec<WeightedResource> {
    weighted(&with_defaults(Vec::new()))
}

/// The entries as JSON.
pub(crate) fn to_json(entries: &[Entry]) -> Value {
    let entries = entries.iter();
    entries
        .map(|entry| json!({"name": entry.name, "weight": entry.weight}))
        .collect()
}

// === impl Entry ===

impl Entry {
    fn default_of(name: &str) -> Self {
        let path = FieldPath::default();
        Self {
            name: name.to_owned(),
            weight: None,
            path,
        }
    }

    /// A mistake in the field `name` of this entry.
    pub(crate) fn error(&self, name: &str, stage: Stage, problem: String) -> FieldError {
        FieldError::new(stage, self.path.field(name), problem)
    }
}
