//! One version of one object: its JSON, and the few facts that lists and watches ask of it.
//!
//! The JSON is serialised once, when the version is written, and shared by every answer that shows it.
//! A parsed tree of the same object takes ten times the memory, so it is made when a write needs one.

use std::{borrow::Cow, sync::Arc};

use axum::body::Bytes;
use serde_json::{Map, Value};

use crate::{json, resources::Resource, schema};

/// One version of an object, never changed.
#[derive(Debug)]
pub struct Object {
    resource: &'static Resource,
    revision: u64,
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    labels: Box<[(Box<str>, Box<str>)]>,
    /// The values of the resource's selectable fields, in its order.
    fields: Box<[Box<str>]>,
    /// The object without `kind` and `apiVersion`, as items of a list are.
    body: Bytes,
}

impl Object {
    /// Makes a version from an object's JSON; it gets `revision` as its resource version.
    pub(crate) fn new(resource: &'static Resource, mut value: Value, revision: u64) -> Self {
        let map = json::fields(&mut value);
        map.remove("kind");
        map.remove("apiVersion");
        let version = Value::String(revision.to_string());
        json::child(map, "metadata").insert("resourceVersion".to_owned(), version);
        let meta = |key: &str| json::text(&value, &["metadata", key]).unwrap_or("").into();
        Self {
            resource,
            revision,
            namespace: meta("namespace"),
            name: meta("name"),
            uid: meta("uid"),
            labels: labels(&value),
            fields: resource
                .fields
                .iter()
                .map(|field| field.read(&value))
                .collect(),
            body: Bytes::from(value.to_string()),
        }
    }

    /// Parses the object, with its `kind` and `apiVersion`.
    pub fn value(&self) -> Value {
        self.value_as(self.resource)
    }

    /// Gives the namespace, empty for an object of the cluster.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Gives the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Gives the resource version of this version of the object.
    pub fn resource_version(&self) -> u64 {
        self.revision
    }

    /// Gives the value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(name, _)| **name == *key);
        found.map(|(_, value)| &**value)
    }

    /// Tells whether the object carries any label.
    pub(crate) fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Gives the value of the resource's selectable field of that index.
    pub(crate) fn field(&self, at: usize) -> &str {
        self.fields.get(at).map_or("", |value| value)
    }

    /// Parses the object in the form of `resource`, which is its own or an alias of it.
    pub(crate) fn value_as(&self, resource: &'static Resource) -> Value {
        let mut value: Value = serde_json::from_slice(&self.body)
            .expect("the bytes were serialised from a value of bounded depth");
        if let Some(alias) = resource.alias {
            alias.show(&mut value);
            if let Some(of) = schema::type_of(resource) {
                schema::fill(of, &mut value);
            }
        }
        with_type(resource, &mut value);
        value
    }

    /// Gives the JSON without `kind` and `apiVersion`, in the form of `resource`.
    pub(crate) fn body_as(&self, resource: &'static Resource) -> Cow<'_, [u8]> {
        if resource.alias.is_none() {
            return Cow::Borrowed(&self.body);
        }
        let mut value = self.value_as(resource);
        let map = json::fields(&mut value);
        map.remove("kind");
        map.remove("apiVersion");
        Cow::Owned(value.to_string().into_bytes())
    }

    /// Appends the whole JSON, `kind` and `apiVersion` first, in the form of `resource`.
    pub(crate) fn write_as(&self, resource: &'static Resource, out: &mut Vec<u8>) {
        out.extend_from_slice(type_prefix(resource).as_bytes());
        let body = self.body_as(resource);
        // The body is never an empty object: it has metadata. So a comma goes where its brace was.
        out.extend_from_slice(body.get(1..).unwrap_or_default());
    }

    /// Gives the length of the JSON without `kind` and `apiVersion`, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }

    /// Gives the same object under another resource version.
    pub(crate) fn at_revision(&self, revision: u64) -> Arc<Self> {
        Arc::new(Self::new(self.resource, self.value(), revision))
    }
}

/// Sets `kind` and `apiVersion` to those of the resource.
pub(crate) fn with_type(resource: &Resource, value: &mut Value) {
    let map: &mut Map<String, Value> = json::fields(value);
    map.insert("kind".to_owned(), resource.kind.into());
    map.insert("apiVersion".to_owned(), resource.api_version().into());
}

fn type_prefix(resource: &Resource) -> String {
    format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",",
        resource.kind,
        resource.api_version()
    )
}

fn labels(value: &Value) -> Box<[(Box<str>, Box<str>)]> {
    let Some(map) = json::at(value, &["metadata", "labels"]).and_then(Value::as_object) else {
        return Box::default();
    };
    map.iter()
        .filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_keeps_its_facts_and_shows_its_type_first() {
        let pods = Resource::named("pods").unwrap();
        let value = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"app": "web"}},
        });
        let object = Object::new(pods, value, 7);
        assert_eq!(
            (object.namespace(), object.name(), object.uid()),
            ("n", "a", "u")
        );
        assert_eq!(
            (object.label("app"), object.label("b")),
            (Some("web"), None)
        );
        let mut text = Vec::new();
        object.write_as(pods, &mut text);
        assert!(text.starts_with(br#"{"kind":"Pod","apiVersion":"v1","metadata":{"#));
        assert_eq!(
            serde_json::from_slice::<Value>(&text).unwrap(),
            object.value()
        );
        assert_eq!(object.value()["metadata"]["resourceVersion"], "7");
        assert_eq!(
            object.at_revision(8).value()["metadata"]["resourceVersion"],
            "8"
        );
    }

    #[test]
    fn an_event_shows_itself_in_both_forms() {
        let core = Resource::named("events").unwrap();
        let alias = Resource::named("events.events.k8s.io").unwrap();
        let object = Object::new(core, json!({"metadata": {"name": "e"}, "message": "m"}), 1);
        assert_eq!(object.value_as(alias)["note"], "m");
        assert_eq!(object.value_as(alias)["apiVersion"], "events.k8s.io/v1");
        assert!(!String::from_utf8_lossy(&object.body_as(alias)).contains("apiVersion"));
    }
}
