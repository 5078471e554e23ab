//! How a client sees objects: in the form of the resource it asked for, as objects or as table rows.
//!
//! Takes stored objects and appends JSON. `kubectl get` asks for tables, so that the server decides what
//! the columns are; all other clients ask for objects.

mod age;
mod columns;
mod table;

use crate::{resources::Resource, store::Object};

/// What a client asked to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) resource: &'static Resource,
    table: bool,
}

impl View {
    /// Reads the `Accept` header.
    pub(crate) fn of(resource: &'static Resource, accept: &str) -> Self {
        let is_table = |kind: &str| {
            let has = |wanted| kind.split(';').any(|part| part.trim() == wanted);
            has("application/json") && has("as=Table") && has("g=meta.k8s.io") && has("v=v1")
        };
        let table = accept.split(',').any(is_table);
        Self { resource, table }
    }

    /// Appends one object, or the table of its row.
    pub(crate) fn write(self, object: &Object, out: &mut Vec<u8>) {
        if self.table {
            let row = std::iter::once(object);
            let metadata =
                serde_json::json!({"resourceVersion": object.resource_version().to_string()});
            out.extend_from_slice(
                table::table(self.resource, row, &metadata)
                    .to_string()
                    .as_bytes(),
            );
        } else {
            object.write_as(self.resource, out);
        }
    }

    /// Appends a list with its metadata.
    pub(crate) fn write_list<'a>(
        self,
        objects: impl Iterator<Item = &'a Object> + Clone,
        metadata: &serde_json::Value,
        out: &mut Vec<u8>,
    ) {
        if self.table {
            let table = table::table(self.resource, objects, metadata);
            out.extend_from_slice(table.to_string().as_bytes());
            return;
        }
        let head = format!(
            "{{\"kind\":\"{}List\",\"apiVersion\":\"{}\",\"metadata\":{metadata},\"items\":[",
            self.resource.kind,
            self.resource.api_version(),
        );
        out.extend_from_slice(head.as_bytes());
        out.reserve(objects.clone().map(|it| it.size() + 1).sum::<usize>() + 2);
        for (at, object) in objects.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&object.body_as(self.resource));
        }
        out.extend_from_slice(b"]}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_given_to_those_that_ask_for_it() {
        let pods = Resource::named("pods").unwrap();
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert!(View::of(pods, kubectl).table);
        assert!(!View::of(pods, "application/json, */*").table);
        assert!(!View::of(pods, "").table);
    }
}
