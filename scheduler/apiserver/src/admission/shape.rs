//! Refuses JSON that is no Kubernetes object: what a typed decoder would not take.

use serde_json::Value;

use crate::{json, resources::Resource, status::Status};

/// Checks what every step afterwards relies on: nesting is bounded, metadata, spec and status are
/// objects, labels and annotations are texts.
pub(crate) fn check_shape(resource: &Resource, value: &Value) -> Result<(), Status> {
    let Some(map) = value.as_object() else {
        return Err(misfit(resource, "", "object", value));
    };
    if json::deeper_than(value, json::MAX_DEPTH) {
        let message = format!("the object nests deeper than {} levels", json::MAX_DEPTH);
        return Err(Status::bad_request(message));
    }
    for section in ["metadata", "spec", "status"] {
        if let Some(inner) = map.get(section)
            && !inner.is_object()
            && !inner.is_null()
        {
            return Err(misfit(resource, section, "object", inner));
        }
    }
    let metadata = map.get("metadata").unwrap_or(&Value::Null);
    for texts in [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
    ] {
        match metadata.get(texts) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(other) => {
                return Err(misfit(
                    resource,
                    &format!("metadata.{texts}"),
                    "string",
                    other,
                ));
            }
        }
    }
    for maps in ["labels", "annotations"] {
        check_texts(resource, &format!("metadata.{maps}"), metadata.get(maps))?;
    }
    Ok(())
}

fn check_texts(resource: &Resource, field: &str, value: Option<&Value>) -> Result<(), Status> {
    match value {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(map)) => match map.values().find(|it| !it.is_string()) {
            Some(other) => Err(misfit(resource, field, "string", other)),
            None => Ok(()),
        },
        Some(other) => Err(misfit(resource, field, "map", other)),
    }
}

fn misfit(resource: &Resource, field: &str, wanted: &str, found: &Value) -> Status {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let (kind, version) = (resource.kind, resource.version);
    Status::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: json: cannot unmarshal {found} into Go struct field {kind}.{field} of type {wanted}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_with_the_right_parts_passes() {
        let pods = Resource::named("pods").unwrap();
        let cases = [
            (
                json!({"metadata": {"name": "a", "labels": {"k": "v"}}, "spec": null}),
                true,
            ),
            (json!({}), true),
            (json!([]), false),
            (json!({"spec": "x"}), false),
            (json!({"metadata": {"name": 1}}), false),
            (json!({"metadata": {"labels": {"k": 1}}}), false),
            (json!({"metadata": {"annotations": []}}), false),
        ];
        for (value, passes) in cases {
            assert_eq!(check_shape(pods, &value).is_ok(), passes, "{value}");
        }
    }
}
