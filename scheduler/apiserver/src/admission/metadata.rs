//! The `metadata` of an object: what the server sets, what it keeps, what it refuses to change
//! (`k8s.io/apiserver/pkg/registry/rest/{create,update}.go`).

use serde_json::{Value, json};

use super::Arrival;
use crate::{
    clock, json,
    resources::{Quirk, Resource},
    status::{Cause, Status},
    store::{Origin, Write, with_type},
};

/// What a client cannot set on a new object.
const SERVER_ONLY: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
];

/// What an update by a client cannot change.
const FIXED: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
];

/// The label by which selectors find a namespace by its name.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Refuses an object whose name or namespace is not that of its address; fills in what it leaves out.
pub(crate) fn check_address(
    value: &mut Value,
    namespace: &str,
    name: Option<&str>,
) -> Result<(), Status> {
    let metadata = json::section(value, "metadata");
    if !namespace.is_empty() {
        json::set_default(metadata, "namespace", namespace);
        if metadata["namespace"] == "" {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        if metadata["namespace"] != namespace {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Status::bad_request(message));
        }
    }
    let Some(name) = name else {
        return Ok(());
    };
    json::set_default(metadata, "name", name);
    match metadata.get("name").and_then(Value::as_str) {
        Some(own) if own == name => Ok(()),
        own => Err(Status::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({name})",
            own.unwrap_or("")
        ))),
    }
}

/// Gives a new object its identity.
pub(super) fn create(
    resource: &Resource,
    value: &mut Value,
    arrival: Arrival,
) -> Result<(), Status> {
    let client = arrival.origin == Origin::Client;
    if client && json::text(value, &["metadata", "resourceVersion"]).is_some() {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Status::bad_request(message));
    }
    with_type(resource, value);
    let metadata = json::section(value, "metadata");
    metadata.remove("resourceVersion");
    if client {
        for field in SERVER_ONLY {
            metadata.remove(field);
        }
    }
    if client && !arrival.owned {
        metadata.remove("managedFields");
    }
    if !resource.namespaced {
        metadata.remove("namespace");
    }
    json::set_default(metadata, "uid", arrival.uid);
    json::set_default(metadata, "creationTimestamp", clock::stamp(arrival.now));
    if resource.has(Quirk::Generation) {
        json::set_default(metadata, "generation", 1);
    }
    if resource.kind == "Namespace" {
        let name = metadata.get("name").cloned();
        json::put(json::child(metadata, "labels"), NAMESPACE_LABEL, name);
        json::set_default(
            json::section(value, "spec"),
            "finalizers",
            json!(["kubernetes"]),
        );
    }
    Ok(())
}

/// Checks that an update is about the stored object, and carries over what it may not change.
pub(super) fn update(
    resource: &Resource,
    old: &Value,
    new: &mut Value,
    write: Write,
) -> Result<(), Status> {
    let origin = write.origin;
    with_type(resource, new);
    let meta = |of: &Value, field: &str| {
        json::text(of, &["metadata", field])
            .unwrap_or("")
            .to_owned()
    };
    let name = meta(old, "name");
    check_address(new, &meta(old, "namespace"), Some(&name))?;
    let conflict = |why: &str| Err(Status::conflict(&resource.qualified(), &name, why));
    let (uid, stored_uid) = (meta(new, "uid"), meta(old, "uid"));
    if !uid.is_empty() && uid != stored_uid {
        return conflict(&format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {stored_uid}"
        ));
    }
    let version = meta(new, "resourceVersion");
    if version.is_empty() && origin == Origin::Client && resource.has(Quirk::ConditionalUpdate) {
        let cause = Cause::invalid(
            "metadata.resourceVersion",
            "0x0",
            "must be specified for an update",
        );
        return Err(Status::invalid(
            &resource.qualified_kind(),
            &name,
            vec![cause],
        ));
    }
    if !version.is_empty() && version != meta(old, "resourceVersion") {
        return conflict(
            "the object has been modified; please apply your changes to the latest version and try again",
        );
    }
    let kept = |field: &str| json::at(old, &["metadata", field]).cloned();
    let metadata = json::section(new, "metadata");
    json::put(metadata, "resourceVersion", kept("resourceVersion"));
    for field in FIXED {
        if origin == Origin::Client || !metadata.contains_key(field) {
            json::put(metadata, field, kept(field));
        }
    }
    if !write.owned {
        json::put(metadata, "managedFields", kept("managedFields"));
    }
    if !resource.namespaced {
        metadata.remove("namespace");
    }
    Ok(())
}

/// Counts a change of spec.
pub(super) fn count_generation(resource: &Resource, old: &Value, new: &mut Value) {
    if !resource.has(Quirk::Generation) || old.get("spec") == new.get("spec") {
        return;
    }
    let before = json::at(old, &["metadata", "generation"]).and_then(Value::as_i64);
    let next = json!(before.unwrap_or(0).saturating_add(1));
    json::section(new, "metadata").insert("generation".to_owned(), next);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_client() -> Write {
        Write::by(Origin::Client, crate::store::Part::Main)
    }

    fn pods() -> &'static Resource {
        Resource::named("pods").unwrap()
    }

    #[test]
    fn an_address_that_the_object_contradicts_is_refused() {
        let cases = [
            (json!({}), true),
            (json!({"metadata": {"name": "a", "namespace": "n"}}), true),
            (json!({"metadata": {"name": "a", "namespace": ""}}), true),
            (json!({"metadata": {"name": "b"}}), false),
            (json!({"metadata": {"namespace": "m"}}), false),
        ];
        for (mut value, passes) in cases {
            assert_eq!(
                check_address(&mut value, "n", Some("a")).is_ok(),
                passes,
                "{value}"
            );
        }
    }

    #[test]
    fn an_update_keeps_what_the_server_set_and_refuses_another_identity() {
        let old = json!({"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5",
            "creationTimestamp": "t"}});
        let code =
            |mut new: Value| update(pods(), &old, &mut new, by_client()).map_err(|it| it.code);
        assert_eq!(code(json!({"metadata": {"uid": "v"}})), Err(409));
        assert_eq!(
            code(json!({"metadata": {"resourceVersion": "4"}})),
            Err(409)
        );
        assert_eq!(code(json!({"metadata": {"resourceVersion": "5"}})), Ok(()));
        let mut new = json!({"metadata": {"creationTimestamp": "x", "deletionTimestamp": "y"}});
        update(pods(), &old, &mut new, by_client()).unwrap();
        assert_eq!(new["metadata"], old["metadata"]);
    }

    #[test]
    fn a_lease_is_updated_only_from_a_stated_version() {
        let leases = Resource::named("leases").unwrap();
        let old = json!({"metadata": {"name": "a", "namespace": "n", "resourceVersion": "5"}});
        let mut new = json!({"metadata": {"name": "a"}});
        assert_eq!(
            update(leases, &old, &mut new, by_client())
                .unwrap_err()
                .code,
            422
        );
    }
}
