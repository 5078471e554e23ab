//! What happens to an object on its way into the store: shape, identity, defaults, validation.
//!
//! Takes an object as a client sent it and gives it as kube-apiserver would store it, or the refusal.
//! Validation covers names and what a scheduler reads; see `check`.

mod check;
mod container;
mod defaults;
mod metadata;
mod pod;
mod priority;
mod qos;
mod shape;
mod tolerations;

use jiff::Timestamp;
use serde_json::Value;

pub(crate) use metadata::check_address;
pub(crate) use shape::{check_shape, decode};

use crate::{
    json,
    resources::{Quirk, Resource, Subresource},
    schema,
    status::{Cause, Status},
    store::{Origin, Part, State, Target, Write},
};

/// What a new object gets besides what its sender says.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) uid: String,
    pub(crate) now: Timestamp,
    pub(crate) origin: Origin,
    /// Whether the object brings the owners of its fields.
    pub(crate) owned: bool,
}

/// Completes and checks a new object of a stored resource.
pub(crate) fn create(
    state: &State,
    resource: &'static Resource,
    value: &mut Value,
    arrival: Arrival,
) -> Result<(), Status> {
    if arrival.origin == Origin::Client && resource.has(Quirk::ResetsStatus) {
        json::fields(value).remove("status");
    }
    let origin = arrival.origin;
    metadata::create(resource, value, arrival)?;
    check_namespace(state, resource, value)?;
    defaults::fill(resource, value);
    if is_pod(resource) {
        priority::resolve(state, resource, value, origin)?;
        pod::fill(value);
    }
    refuse(resource, value, check::create(resource, value))?;
    complete(resource, value);
    Ok(())
}

/// Gives an object the fields that a typed server always writes.
fn complete(resource: &Resource, value: &mut Value) {
    if let Some(of) = schema::type_of(resource) {
        schema::fill(of, value);
    }
}

/// Completes and checks the wanted state of an object that exists.
pub(crate) fn update(
    resource: &'static Resource,
    old: &Value,
    new: &mut Value,
    write: Write,
) -> Result<(), Status> {
    metadata::update(resource, old, new, write)?;
    if write.part == Part::Main {
        defaults::fill(resource, new);
        if is_pod(resource) {
            priority::keep(old, new);
            pod::fill(new);
        }
    }
    let status = |of: &Value| of.get("status").cloned();
    match write.part {
        Part::Status => {
            let wanted = status(new);
            let owners = json::at(new, &["metadata", "managedFields"]).cloned();
            new.clone_from(old);
            json::put(json::fields(new), "status", wanted);
            json::put(json::section(new, "metadata"), "managedFields", owners);
        }
        Part::Main if resource.subresources.contains(&Subresource::Status) => {
            json::put(json::fields(new), "status", status(old));
        }
        Part::Main | Part::Whole => {}
    }
    metadata::count_generation(resource, old, new);
    complete(resource, new);
    if write.part == Part::Main {
        refuse(resource, new, check::update(resource, old, new))?;
    }
    Ok(())
}

fn is_pod(resource: &Resource) -> bool {
    resource.kind == "Pod"
}

fn refuse(resource: &Resource, value: &Value, causes: Vec<Cause>) -> Result<(), Status> {
    if causes.is_empty() {
        return Ok(());
    }
    let name = json::text(value, &["metadata", "name"]).unwrap_or("");
    Err(Status::invalid(&resource.qualified_kind(), name, causes))
}

/// Refuses new objects of a namespace that is missing or on its way out.
fn check_namespace(
    state: &State,
    resource: &'static Resource,
    value: &Value,
) -> Result<(), Status> {
    let Some(namespaces) = Resource::named("namespaces").filter(|_| resource.namespaced) else {
        return Ok(());
    };
    let namespace = json::text(value, &["metadata", "namespace"]).unwrap_or("");
    let home = state.get(Target::new(namespaces, "", namespace))?;
    if json::text(&home.value(), &["metadata", "deletionTimestamp"]).is_none() {
        return Ok(());
    }
    let name = json::text(value, &["metadata", "name"]).unwrap_or("");
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    Err(Status::forbidden(resource, name, &why))
}
