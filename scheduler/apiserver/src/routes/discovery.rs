//! Documents about the API itself: versions, groups, resources. All are read off the table.

use serde_json::{Value, json};

use super::review::{self, REVIEWS};
use crate::{
    resources::{Quirk, Resource, Subresource},
    verb::Verb,
};

/// The Kubernetes version whose API this server speaks.
const VERSION: (&str, &str, &str) = ("1", "37", "v1.37.2+plimsoll");

/// The oldest minor version that a client or a node may be of, as kube-apiserver says.
const OLDEST_COMPATIBLE_MINOR: &str = "36";

/// `/version`.
pub(super) fn version() -> Value {
    let (major, minor, git) = VERSION;
    json!({
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": OLDEST_COMPATIBLE_MINOR,
        "gitVersion": git,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// Names the processor as Go does.
const fn architecture() -> &'static str {
    match std::env::consts::ARCH.as_bytes() {
        b"x86_64" => "amd64",
        b"aarch64" => "arm64",
        _ => std::env::consts::ARCH,
    }
}

/// `/api`.
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`.
pub(super) fn groups() -> Value {
    let mut names: Vec<&str> = Vec::new();
    for resource in Resource::all() {
        if !resource.group.is_empty() && !names.contains(&resource.group) {
            names.push(resource.group);
        }
    }
    for review in REVIEWS {
        if !names.contains(&review.group) {
            names.push(review.group);
        }
    }
    let groups: Vec<Value> = names.into_iter().filter_map(describe_group).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/<group>`.
pub(super) fn group(name: &str) -> Option<Value> {
    let mut group = describe_group(name)?;
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    Some(group)
}

/// `/api/v1` and `/apis/<group>/<version>`.
pub(super) fn resources(group: &str, version: &str) -> Option<Value> {
    let mut resources = Vec::new();
    let all = Resource::all().iter();
    for resource in all.filter(|it| it.group == group && it.version == version) {
        resources.push(describe(resource));
        let parts = resource.subresources.iter();
        resources.extend(parts.map(|part| describe_part(resource, *part)));
    }
    let reviews = REVIEWS.iter();
    for review in reviews.filter(|it| it.group == group && version == review::VERSION) {
        resources.push(json!({
            "name": review.plural,
            "singularName": review.kind.to_lowercase(),
            "namespaced": false,
            "kind": review.kind,
            "verbs": ["create"],
        }));
    }
    resources.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    let list = json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") },
        "resources": resources,
    });
    (!resources.is_empty()).then_some(list)
}

fn describe_group(name: &str) -> Option<Value> {
    let mut resources = Resource::all().iter();
    let mut reviews = REVIEWS.iter();
    let resource = resources.find(|it| !name.is_empty() && it.group == name);
    let version = match resource {
        Some(resource) => resource.version,
        None => reviews
            .find(|it| it.group == name)
            .map(|_| review::VERSION)?,
    };
    let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
    Some(json!({"name": name, "versions": [version], "preferredVersion": version}))
}

fn describe(resource: &Resource) -> Value {
    let mut document = json!({
        "name": resource.plural,
        "singularName": resource.kind.to_lowercase(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": Verb::ALL.map(Verb::name),
    });
    if !resource.short_names.is_empty() {
        document["shortNames"] = json!(resource.short_names);
    }
    if resource.has(Quirk::InAll) {
        document["categories"] = json!(["all"]);
    }
    document
}

fn describe_part(resource: &Resource, part: Subresource) -> Value {
    let mut document = json!({
        "name": format!("{}/{}", resource.plural, part.name()),
        "singularName": "",
        "namespaced": resource.namespaced,
    });
    let (kind, verbs): (&str, &[&str]) = match part {
        Subresource::Status => (resource.kind, &["get", "patch", "update"]),
        Subresource::Binding => ("Binding", &["create"]),
        Subresource::Eviction => ("Eviction", &["create"]),
        Subresource::Scale => ("Scale", &["get", "patch", "update"]),
    };
    document["kind"] = json!(kind);
    document["verbs"] = json!(verbs);
    let home = match part {
        Subresource::Eviction => Some("policy"),
        Subresource::Scale => Some("autoscaling"),
        Subresource::Status | Subresource::Binding => None,
    };
    if let Some(group) = home {
        document["group"] = json!(group);
        document["version"] = json!("v1");
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_lists_its_resources_and_their_parts() {
        let list = resources("policy", "v1").unwrap();
        assert_eq!(list["groupVersion"], "policy/v1");
        let names: Vec<&str> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(
            names,
            ["poddisruptionbudgets", "poddisruptionbudgets/status"]
        );
        assert!(resources("policy", "v2").is_none());
    }

    #[test]
    fn every_group_of_the_table_is_listed_once() {
        let list = groups();
        let names: Vec<&str> = list["groups"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(
            names,
            [
                "apps",
                "events.k8s.io",
                "coordination.k8s.io",
                "policy",
                "storage.k8s.io",
                "scheduling.k8s.io",
                "authorization.k8s.io",
                "authentication.k8s.io"
            ]
        );
        assert!(group("").is_none());
    }
}
