//! The trees of the field: v1, v2, hybrid, systemd and cgroupfs layouts, containers, kind.

use super::{CgroupTree, Scope, Version};
use crate::sample::fixture::Tree;

const ROOT: &str = "sys/fs/cgroup";

fn found(files: &[(&str, &str)]) -> Option<CgroupTree> {
    let tree = Tree::new();
    for (path, text) in files {
        tree.write(&format!("{ROOT}/{path}"), text);
    }
    CgroupTree::find(&tree.root().cgroup())
}

fn names(tree: &CgroupTree) -> Vec<&str> {
    tree.files.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn a_v2_machine_is_the_sum_of_its_top_groups() {
    let tree = found(&[
        ("cgroup.controllers", "cpu memory\n"),
        ("cpu.stat", "usage_usec 1\n"),
        ("kubepods.slice/cpu.stat", "usage_usec 1\n"),
        (
            "kubepods.slice/kubepods-burstable.slice/cpu.stat",
            "usage_usec 1\n",
        ),
        ("system.slice/cpu.stat", "usage_usec 1\n"),
        ("init.scope/cpu.stat", "usage_usec 1\n"),
    ])
    .unwrap();
    assert_eq!((tree.version, tree.scope), (Version::V2, Scope::Machine));
    assert_eq!(
        names(&tree),
        ["init.scope", "kubepods.slice", "system.slice"]
    );
}

#[test]
fn a_hybrid_machine_takes_its_cpu_from_v1() {
    let tree = found(&[
        ("cpuacct/cpuacct.usage", "1\n"),
        ("cpuacct/release_agent", "\n"),
        ("unified/system.slice/cpu.stat", "usage_usec 1\n"),
    ])
    .unwrap();
    assert_eq!((tree.version, tree.scope), (Version::V1, Scope::Machine));
    assert!(tree.files[0].1.ends_with("cpuacct/cpuacct.usage"));
}

#[test]
fn v1_controllers_that_share_a_folder_are_found() {
    let tree = found(&[
        ("cpu,cpuacct/cpuacct.usage", "1\n"),
        ("cpu,cpuacct/cgroup.sane_behavior", "0\n"),
    ]);
    assert_eq!(tree.unwrap().scope, Scope::Machine);
}

#[test]
fn a_v1_container_has_the_quota_of_its_root() {
    let tree = found(&[
        ("cpuacct/cpuacct.usage", "1\n"),
        ("cpu/cpu.cfs_quota_us", "250000\n"),
        ("cpu/cpu.cfs_period_us", "100000\n"),
    ]);
    let scope = Scope::Container {
        quota_cpus: Some(2.5),
        holds_pods: false,
    };
    assert_eq!(tree.unwrap().scope, scope);
}

#[test]
fn a_container_without_a_quota_has_none() {
    let v1 = found(&[
        ("cpuacct/cpuacct.usage", "1\n"),
        ("cpu/cpu.cfs_quota_us", "-1\n"),
        ("cpu/cpu.cfs_period_us", "100000\n"),
    ]);
    let v2 = found(&[("cpu.stat", "usage_usec 1\n"), ("cpu.max", "max 100000\n")]);
    for tree in [v1, v2] {
        let scope = Scope::Container {
            quota_cpus: None,
            holds_pods: false,
        };
        assert_eq!(tree.unwrap().scope, scope);
    }
}

#[test]
fn a_kind_node_is_a_container_that_holds_pods() {
    for folder in ["kubepods", "kubelet.slice", "kubelet"] {
        let tree = found(&[
            ("cpu.stat", "usage_usec 1\n"),
            ("cgroup.type", "domain\n"),
            ("system.slice/cpu.stat", "usage_usec 1\n"),
            (&format!("{folder}/cpu.stat"), "usage_usec 1\n"),
        ])
        .unwrap();
        let scope = Scope::Container {
            quota_cpus: None,
            holds_pods: true,
        };
        assert_eq!((tree.scope, names(&tree)), (scope, vec!["/"]), "{folder}");
    }
}

#[test]
fn where_nothing_is_readable_there_is_no_tree() {
    assert_eq!(found(&[]), None);
    assert_eq!(found(&[("cgroup.controllers", "cpu\n")]), None);
    assert_eq!(found(&[("cpu.max", "max 100000\n")]), None);
}
