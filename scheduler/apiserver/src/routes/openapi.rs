//! The least of `OpenAPI` v3 that `kubectl` asks for before it writes: whether PATCH of a kind takes
//! `fieldValidation`. With that it sends objects as they are instead of checking them by a schema.
//!
//! Differs: unknown fields are never refused, whatever `fieldValidation` says.

use serde_json::{Map, Value, json};

use crate::resources::Resource;

/// `/openapi/v3`: where the document of each group and version is.
pub(super) fn index() -> Value {
    let mut paths = Map::new();
    for resource in Resource::all() {
        let base = base(resource);
        let address = json!({"serverRelativeURL": format!("/openapi/v3/{base}")});
        paths.insert(base, address);
    }
    json!({ "paths": paths })
}

/// `/openapi/v3/api/v1` and `/openapi/v3/apis/<group>/<version>`.
pub(super) fn document(group: &str, version: &str) -> Option<Value> {
    let mut paths = Map::new();
    for resource in Resource::all()
        .iter()
        .filter(|it| it.group == group && it.version == version)
    {
        let namespace = if resource.namespaced {
            "namespaces/{namespace}/"
        } else {
            ""
        };
        let path = format!(
            "/{}/{namespace}{}/{{name}}",
            base(resource),
            resource.plural
        );
        paths.insert(path, json!({"patch": patch(resource)}));
    }
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
    });
    (!paths.is_empty()).then_some(document)
}

fn patch(resource: &Resource) -> Value {
    json!({
        "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {
            "group": resource.group, "version": resource.version, "kind": resource.kind,
        },
    })
}

fn base(resource: &Resource) -> String {
    let root = if resource.group.is_empty() {
        "api"
    } else {
        "apis"
    };
    format!("{root}/{}", resource.api_version())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_that_its_patch_takes_field_validation() {
        let addresses = index();
        assert_eq!(
            addresses["paths"]["api/v1"]["serverRelativeURL"],
            "/openapi/v3/api/v1"
        );
        assert!(addresses["paths"]["apis/apps/v1"].is_object());
        let core = document("", "v1").unwrap();
        let patch = &core["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
        assert_eq!(patch["parameters"][0]["name"], "fieldValidation");
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Pod");
        assert!(core["paths"]["/api/v1/nodes/{name}"].is_object());
        assert!(document("none", "v1").is_none());
    }
}
