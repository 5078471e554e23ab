//! The types of the Kubernetes API as data: which fields a kind has, of which types, and how they merge.
//!
//! Takes an object as a client sent it and gives it as a typed server reads it (unknown fields dropped,
//! wrong types refused, quantities in their canonical form), and as such a server writes it (fields that
//! are always there). The same table reads the protobuf bodies that typed clients send.

mod fill;
mod read;
mod table;
mod text;
mod wire;

pub(crate) use fill::fill;
pub(crate) use read::{Strictness, read};
pub(crate) use table::{Field, Kind, ListType, Merge, Scalar, Type, types};
pub(crate) use text::{go_kind, go_text};
pub(crate) use wire::message;

use serde_json::Value;

use crate::resources::Resource;

/// Gives the type of a resource's objects.
pub(crate) fn type_of(resource: &Resource) -> Option<&'static Type> {
    of_kind(resource.group, resource.kind)
}

/// Gives a type by API group and kind.
pub(crate) fn of_kind(group: &str, kind: &str) -> Option<&'static Type> {
    // Two types are called Event; that of events.k8s.io carries its package's name in the table.
    let name = if group == "events.k8s.io" && kind == "Event" {
        "events.Event"
    } else {
        kind
    };
    types().named(name)
}

/// Reads an object as a strict server does. Gives every field that its kind does not have, such as
/// `unknown field "spec.x"`; a kind that this server does not know has all fields.
///
/// # Errors
/// A value is of the wrong type; says so in the words of Go's decoder.
pub fn unknown_fields(
    api_version: &str,
    kind: &str,
    object: &Value,
) -> Result<Vec<String>, String> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    // A type without metadata is a part of others; a kind may be called the same.
    let known = of_kind(group, kind).filter(|of| of.field("metadata").is_some());
    match known {
        Some(of) => read(of, &mut object.clone()),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
