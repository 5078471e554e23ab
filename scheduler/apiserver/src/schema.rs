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

#[cfg(test)]
mod tests;
