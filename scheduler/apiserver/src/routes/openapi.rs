//! What `kubectl` asks of `OpenAPI`: before it writes, whether PATCH of a kind takes `fieldValidation`
//! (then it lets the server check objects), and for `kubectl explain`, the fields of each kind.
//!
//! Differs: fields have no descriptions.

use serde_json::{Map, Value, json};

use crate::{
    resources::Resource,
    schema::{self, Kind, Scalar, Type, types},
};

/// The media type of the second version's document.
pub(super) const V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// `/openapi/v2`: the least document that there is, in protobuf: `kubectl` asks for it before it says
/// that it does not know a kind.
pub(super) fn least() -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| {
        let mut out = vec![number << 3 | 2, bytes.len() as u8];
        out.extend_from_slice(bytes);
        out
    };
    let info = [field(1, b"Kubernetes"), field(2, b"unversioned")].concat();
    [field(1, b"2.0"), field(2, &info), field(8, b"")].concat()
}

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
    let mut schemas = Map::new();
    for resource in Resource::all()
        .iter()
        .filter(|it| it.group == group && it.version == version)
    {
        if let Some(of) = schema::type_of(resource) {
            describe(of, &mut schemas);
            schemas[of.name]["x-kubernetes-group-version-kind"] = json!([kind(resource)]);
        }
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
        "components": {"schemas": schemas},
    });
    (!paths.is_empty()).then_some(document)
}

fn patch(resource: &Resource) -> Value {
    json!({
        "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind(resource),
    })
}

fn kind(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

/// Adds the schema of a type, and of those that its fields have.
fn describe(of: &'static Type, schemas: &mut Map<String, Value>) {
    if schemas.contains_key(of.name) {
        return;
    }
    schemas.insert(of.name.to_owned(), Value::Null);
    let mut properties = Map::new();
    for field in of.fields() {
        properties.insert(field.name.to_owned(), value(&field.kind, schemas));
    }
    schemas.insert(
        of.name.to_owned(),
        json!({"type": "object", "properties": properties}),
    );
}

fn value(kind: &Kind, schemas: &mut Map<String, Value>) -> Value {
    match kind {
        Kind::Struct(at) => {
            let of = types().at(*at);
            describe(of, schemas);
            json!({"allOf": [{"$ref": format!("#/components/schemas/{}", of.name)}]})
        }
        Kind::List(item) => json!({"type": "array", "items": value(item, schemas)}),
        Kind::Map(item) => {
            json!({"type": "object", "additionalProperties": value(item, schemas)})
        }
        Kind::Plain(scalar) => match scalar {
            Scalar::Text | Scalar::Quantity | Scalar::IntOrText => json!({"type": "string"}),
            Scalar::Bytes => json!({"type": "string", "format": "byte"}),
            Scalar::Time | Scalar::MicroTime => json!({"type": "string", "format": "date-time"}),
            Scalar::Flag => json!({"type": "boolean"}),
            Scalar::Int32 => json!({"type": "integer", "format": "int32"}),
            Scalar::Int64 => json!({"type": "integer", "format": "int64"}),
            Scalar::Float => json!({"type": "number", "format": "double"}),
            Scalar::Raw | Scalar::Fields => json!({"type": "object"}),
        },
    }
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

    #[test]
    fn the_fields_of_a_kind_are_described() {
        let core = document("", "v1").unwrap();
        let schemas = &core["components"]["schemas"];
        assert_eq!(
            schemas["Container"]["properties"]["image"],
            json!({"type": "string"})
        );
        assert_eq!(
            schemas["Pod"]["x-kubernetes-group-version-kind"][0]["kind"],
            "Pod"
        );
        assert_eq!(
            schemas["PodSpec"]["properties"]["containers"]["items"]["allOf"][0]["$ref"],
            "#/components/schemas/Container"
        );
    }
}
