//! `metadata.managedFields`: owners and their fields, in and out of the form of `FieldsV1`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::paths::{Path, Step};
use crate::{clock, json};

/// Marks that a field belongs to the set beside what is inside it.
const SELF: &str = ".";

/// How an owner came to its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// An owner of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) api_version: String,
    pub(super) time: Value,
    pub(super) fields: BTreeSet<Path>,
}

impl Owner {
    /// Gives an owner of nothing, of now and of the version that an object is of.
    pub(super) fn of(object: &Value) -> Self {
        Self {
            manager: String::new(),
            operation: Operation::Apply,
            api_version: json::text(object, &["apiVersion"]).unwrap_or("").to_owned(),
            time: clock::stamp(clock::now()),
            fields: BTreeSet::new(),
        }
    }

    /// Names the owner as a conflict does.
    pub(super) fn name(&self) -> String {
        match self.operation {
            Operation::Apply => format!("{:?}", self.manager),
            Operation::Update => format!("{:?} using {}", self.manager, self.api_version),
        }
    }

    fn read(entry: &Value) -> Option<Self> {
        let text = |field| json::text(entry, &[field]).map(str::to_owned);
        let mut fields = BTreeSet::new();
        unfold(entry.get("fieldsV1")?, &mut Vec::new(), &mut fields);
        Some(Self {
            manager: text("manager").unwrap_or_default(),
            operation: match text("operation")?.as_str() {
                "Apply" => Operation::Apply,
                _ => Operation::Update,
            },
            api_version: text("apiVersion").unwrap_or_default(),
            time: entry.get("time").cloned().unwrap_or(Value::Null),
            fields,
        })
    }

    fn write(&self) -> Value {
        let operation = match self.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        let mut tree = Map::new();
        for path in &self.fields {
            fold(&mut tree, path);
        }
        json!({
            "manager": self.manager,
            "operation": operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": tree,
        })
    }
}

/// Reads the owners of an object's fields.
pub(super) fn read(object: &Value) -> Vec<Owner> {
    let entries = json::list(object, &["metadata", "managedFields"]).iter();
    entries.filter_map(Owner::read).collect()
}

/// Writes the owners that own something.
pub(super) fn write(object: &mut Value, owners: Vec<Owner>) {
    let entries: Vec<Value> = owners
        .into_iter()
        .filter(|owner| !owner.fields.is_empty())
        .map(|owner| owner.write())
        .collect();
    json::section(object, "metadata").insert("managedFields".to_owned(), Value::Array(entries));
}

fn fold(tree: &mut Map<String, Value>, path: &[Step]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let name = match first {
        Step::Field(name) => format!("f:{name}"),
        Step::Key(keys) => format!("k:{keys}"),
        Step::Value(value) => format!("v:{value}"),
    };
    let inner = json::child(tree, &name);
    match (rest.is_empty(), first) {
        // An item of a list is owned beside its fields.
        (true, Step::Key(_)) => {
            inner.insert(SELF.to_owned(), json!({}));
        }
        (true, _) => {}
        (false, _) => fold(inner, rest),
    }
}

fn unfold(tree: &Value, path: &mut Path, paths: &mut BTreeSet<Path>) {
    for (name, inner) in tree.as_object().into_iter().flatten() {
        let step = match name.split_once(':') {
            Some(("f", name)) => Step::Field(name.to_owned()),
            Some(("k", keys)) => Step::Key(keys.to_owned()),
            Some(("v", value)) => Step::Value(value.to_owned()),
            _ => {
                if name == SELF {
                    paths.insert(path.clone());
                }
                continue;
            }
        };
        path.push(step);
        if inner.as_object().is_none_or(Map::is_empty) {
            paths.insert(path.clone());
        }
        unfold(inner, path, paths);
        path.pop();
    }
}
