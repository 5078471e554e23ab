//! The `Table` of `meta.k8s.io/v1`: column definitions and rows.

use serde_json::{Value, json};

use super::columns::columns;
use crate::{clock, resources::Resource, store::Object};

/// Gives the table of some objects.
pub(super) fn table<'a>(
    resource: &'static Resource,
    objects: impl Iterator<Item = &'a Object>,
    metadata: &Value,
) -> Value {
    let columns = columns(resource);
    let now = clock::now();
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name,
                "type": column.kind,
                "format": if column.name == "Name" { "name" } else { "" },
                "description": column.name,
                "priority": column.priority,
            })
        })
        .collect();
    let rows: Vec<Value> = objects
        .map(|object| {
            // An alias has the columns of what it shows, and they read the stored form.
            let object = object.value();
            let cells: Vec<Value> = columns
                .iter()
                .map(|column| (column.cell)(&object, now))
                .collect();
            let head = json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": object["metadata"],
            });
            json!({"cells": cells, "object": head})
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}
