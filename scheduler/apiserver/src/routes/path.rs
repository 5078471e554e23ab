//! Reads the path of a request: which resource, namespace, object and part it names.

use serde_json::Value;

use super::{discovery, openapi, review::Review};
use crate::{
    resources::{Resource, Subresource},
    status::Status,
};

/// What a path names.
#[derive(Debug)]
pub(crate) enum Route {
    /// A fixed text: the health endpoints.
    Text(&'static str),
    /// A document about the API itself.
    Document(Value),
    /// Bytes that are no JSON, with their media type.
    Bytes(&'static str, Vec<u8>),
    /// A question of a client about itself.
    Review(&'static Review),
    /// A collection, an object or a part of one.
    Place(Place),
}

/// A place in the API.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) resource: &'static Resource,
    /// The namespace, empty for all namespaces and for resources of the cluster.
    pub(crate) namespace: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<Subresource>,
}

impl Place {
    /// Gives the resource as faults and statistics name it.
    pub(crate) fn label(&self) -> String {
        let resource = self.resource.qualified();
        match self.subresource {
            Some(part) => format!("{resource}/{}", part.name()),
            None => resource,
        }
    }

    /// Gives the namespace, or nothing for all.
    pub(crate) fn scope(&self) -> Option<&str> {
        Some(self.namespace.as_str()).filter(|it| !it.is_empty())
    }
}

/// Reads a path.
pub(crate) fn parse(path: &str) -> Result<Route, Status> {
    let segments: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    let document = |document: Option<Value>| {
        document
            .map(Route::Document)
            .ok_or_else(Status::no_such_resource)
    };
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => Ok(Route::Text("ok")),
        ["version"] => document(Some(discovery::version())),
        ["openapi", "v2"] => Ok(Route::Bytes(openapi::V2, openapi::least())),
        ["openapi", "v3"] => document(Some(openapi::index())),
        ["openapi", "v3", "api", version] => document(openapi::document("", version)),
        ["openapi", "v3", "apis", group, version] => document(openapi::document(group, version)),
        ["api"] => document(Some(discovery::core_versions())),
        ["apis"] => document(Some(discovery::groups())),
        ["apis", group] => document(discovery::group(group)),
        ["api", version] => document(discovery::resources("", version)),
        ["apis", group, version] => document(discovery::resources(group, version)),
        ["apis", group, version, plural] if Review::at(group, version, plural).is_some() => {
            let review = Review::at(group, version, plural);
            review
                .map(Route::Review)
                .ok_or_else(Status::no_such_resource)
        }
        ["api", version, rest @ ..] => place("", version, rest),
        ["apis", group, version, rest @ ..] => place(group, version, rest),
        _ => Err(Status::no_such_resource()),
    }
}

fn place(group: &str, version: &str, rest: &[&str]) -> Result<Route, Status> {
    let find = |plural: &str| Resource::at(group, version, plural);
    if let ["namespaces", namespace, plural, rest @ ..] = rest
        && let Some(resource) = find(plural).filter(|it| it.namespaced)
    {
        return inside(resource, namespace, rest);
    }
    match rest {
        [plural] => inside(find(plural).ok_or_else(Status::no_such_resource)?, "", &[]),
        [plural, rest @ ..] => {
            let resource = find(plural).filter(|it| !it.namespaced);
            inside(resource.ok_or_else(Status::no_such_resource)?, "", rest)
        }
        [] => Err(Status::no_such_resource()),
    }
}

fn inside(resource: &'static Resource, namespace: &str, rest: &[&str]) -> Result<Route, Status> {
    let (name, subresource) = match rest {
        [] => (None, None),
        [name] => (Some(*name), None),
        [name, part] => {
            let part = resource.subresources.iter().find(|it| it.name() == *part);
            (
                Some(*name),
                Some(*part.ok_or_else(Status::no_such_resource)?),
            )
        }
        _ => return Err(Status::no_such_resource()),
    };
    Ok(Route::Place(Place {
        resource,
        namespace: namespace.to_owned(),
        name: name.map(str::to_owned),
        subresource,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<String> {
        match parse(path).ok()? {
            Route::Text(text) => Some(text.to_owned()),
            Route::Bytes(kind, _) => Some(kind.to_owned()),
            Route::Review(review) => Some(review.kind.to_owned()),
            Route::Document(document) => Some(document["kind"].as_str().unwrap_or("-").to_owned()),
            Route::Place(place) => {
                let name = place.name.as_deref().unwrap_or("*");
                Some(format!("{} {}/{name}", place.label(), place.namespace))
            }
        }
    }

    #[test]
    fn a_path_names_one_place() {
        for (path, expected) in [
            ("/api/v1/pods", Some("pods /*")),
            ("/api/v1/namespaces/n/pods", Some("pods n/*")),
            ("/api/v1/namespaces/n/pods/a", Some("pods n/a")),
            (
                "/api/v1/namespaces/n/pods/a/binding",
                Some("pods/binding n/a"),
            ),
            ("/api/v1/namespaces", Some("namespaces /*")),
            ("/api/v1/namespaces/n", Some("namespaces /n")),
            ("/api/v1/namespaces/n/status", Some("namespaces/status /n")),
            ("/api/v1/nodes/a/status", Some("nodes/status /a")),
            (
                "/apis/apps/v1/namespaces/n/deployments/d",
                Some("deployments.apps n/d"),
            ),
            (
                "/apis/coordination.k8s.io/v1/leases/",
                Some("leases.coordination.k8s.io /*"),
            ),
            ("/readyz", Some("ok")),
            ("/livez/ping", Some("ok")),
            ("/api", Some("APIVersions")),
            ("/apis", Some("APIGroupList")),
            ("/apis/apps", Some("APIGroup")),
            ("/apis/apps/v1", Some("APIResourceList")),
            ("/api/v1", Some("APIResourceList")),
            ("/version", Some("-")),
            ("/api/v1/pods/a", None),
            ("/api/v1/namespaces/n/nodes", None),
            ("/api/v1/namespaces/n/pods/a/scale", None),
            (
                "/apis/apps/v1/namespaces/n/deployments/d/scale",
                Some("deployments.apps/scale n/d"),
            ),
            (
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                Some("SelfSubjectAccessReview"),
            ),
            ("/api/v1/namespaces/n/pods/a/binding/x", None),
            ("/api/v2", None),
            ("/apis/x/v1/pods", None),
            ("/metrics", None),
            ("/", None),
        ] {
            assert_eq!(read(path).as_deref(), expected, "{path}");
        }
    }
}
