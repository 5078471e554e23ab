//! Holds the arrows between crates: exactly these edges, no more, no fewer.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use plimsoll_tests::project_root;

/// Crate and all it depends on. `ARCHITECTURE.md` draws the same.
const EDGES: [(&str, &[&str]); 15] = [
    ("kernel", &[]),
    ("proto", &[]),
    ("objects", &[]),
    ("apiserver", &[]),
    ("framework", &["objects"]),
    ("config", &["framework", "objects"]),
    ("extender", &["config"]),
    ("load", &["framework", "kernel", "objects"]),
    ("plugins", &["framework", "objects"]),
    ("core", &["config", "framework", "load", "objects"]),
    ("ingest", &["kernel", "load", "proto"]),
    (
        "cluster",
        &["config", "core", "extender", "framework", "objects"],
    ),
    ("agent", &["kernel", "proto"]),
    (
        "scheduler",
        &[
            "cluster",
            "config",
            "core",
            "framework",
            "ingest",
            "plugins",
        ],
    ),
    (
        "cli",
        &[
            "agent",
            "apiserver",
            "config",
            "core",
            "framework",
            "objects",
            "plugins",
            "scheduler",
        ],
    ),
];

/// Crates that do no IO, spawn nothing and read no clock: none of these is below them.
const PURE: [&str; 8] = [
    "kernel",
    "objects",
    "framework",
    "load",
    "config",
    "extender",
    "core",
    "plugins",
];
const IMPURE_DEPENDENCIES: [&str; 8] = [
    "tokio",
    "tonic",
    "kube",
    "k8s-openapi",
    "axum",
    "hyper",
    "dashmap",
    "parking_lot",
];

/// An edge that is not followed: the parser behind `cel` locks its own tables, and does nothing
/// else that is in the list.
const EXCEPTION: (&str, &str) = ("antlr4rust", "parking_lot");

/// The only crates that may see Kubernetes' client and generated types.
const KUBERNETES: [&str; 2] = ["kube", "k8s-openapi"];

#[test]
fn every_edge_between_crates_is_one_that_is_drawn() {
    let packages = packages();
    for (name, drawn) in EDGES {
        let package = packages
            .get(name)
            .unwrap_or_else(|| panic!("no crate {name}"));
        let actual: BTreeSet<&str> = own_dependencies(package).collect();
        let drawn: BTreeSet<&str> = drawn.iter().copied().collect();
        assert_eq!(
            actual, drawn,
            "{name} depends on the left, drawn is the right"
        );
    }
}

#[test]
fn every_crate_is_drawn() {
    let drawn: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    let packages = packages();
    let actual: BTreeSet<&str> = packages
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "tests")
        .collect();
    assert_eq!(actual, drawn);
}

#[test]
fn the_pure_crates_have_nothing_that_does_io_anywhere_below_them() {
    let metadata = MetadataCommand::new()
        .manifest_path(project_root().join("Cargo.toml"))
        .exec()
        .expect("cargo metadata runs");
    let resolve = metadata
        .resolve
        .as_ref()
        .expect("cargo resolves the workspace");
    for name in PURE {
        let root = metadata
            .packages
            .iter()
            .find(|package| short_name(&package.name) == name)
            .unwrap_or_else(|| panic!("no crate {name}"));
        let mut below = BTreeSet::new();
        let mut open = vec![&root.id];
        while let Some(id) = open.pop() {
            let node = resolve
                .nodes
                .iter()
                .find(|node| node.id == *id)
                .expect("a resolved crate");
            let normal = node.deps.iter().filter(|dependency| {
                dependency
                    .dep_kinds
                    .iter()
                    .any(|kind| kind.kind == DependencyKind::Normal)
            });
            let from = metadata[id].name.as_str();
            let followed = normal
                .map(|dependency| &dependency.pkg)
                .filter(|to| (from, metadata[to].name.as_str()) != EXCEPTION);
            open.extend(followed.filter(|id| below.insert(*id)));
        }
        for id in below {
            let dependency = metadata[id].name.as_str();
            assert!(
                !IMPURE_DEPENDENCIES.contains(&dependency),
                "{name} is pure and has {dependency} below it"
            );
        }
    }
}

#[test]
fn only_the_cluster_crate_has_a_kubernetes_client() {
    for (name, package) in &packages() {
        for dependency in normal_dependencies(package) {
            let allowed = name == "cluster" || !KUBERNETES.contains(&dependency);
            assert!(allowed, "{name} depends on {dependency}: only cluster may");
        }
    }
}

fn packages() -> BTreeMap<String, Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(project_root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata runs");
    metadata
        .packages
        .into_iter()
        .map(|package| (short_name(&package.name), package))
        .collect()
}

fn own_dependencies(package: &Package) -> impl Iterator<Item = &str> {
    normal_dependencies(package)
        .filter(|name| *name == "plimsoll" || name.starts_with("plimsoll-"))
        .map(|name| name.strip_prefix("plimsoll-").unwrap_or("cli"))
}

fn normal_dependencies(package: &Package) -> impl Iterator<Item = &str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
}

fn short_name(name: &str) -> String {
    name.strip_prefix("plimsoll-").unwrap_or("cli").to_owned()
}
