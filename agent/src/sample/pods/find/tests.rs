//! Which folders are pods, in each layout; what a look at folders tells.

use super::*;
use crate::sample::fixture::Tree;

const UID: &str = "1c0a6f2e-7b1d-4e0a-9d55-0f6f0f5f3a11";
const SLICE_UID: &str = "1c0a6f2e_7b1d_4e0a_9d55_0f6f0f5f3a11";
const HASH: &str = "3f2a9c7d1e4b5a6978c0d1e2f3a4b5c6";

fn find(tree: &Tree) -> PodTree {
    PodTree::find(&tree.root().cgroup(), PodWalk::default())
}

/// Uid and CPU file of each pod.
fn pods(tree: &Tree) -> Vec<(String, String)> {
    let root = tree.root().cgroup();
    let short = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    let found = find(tree).pods.into_iter();
    found
        .map(|pod| (pod.uid.to_string(), short(&pod.files.cpu)))
        .collect()
}

fn file(tree: &Tree, path: &str) {
    tree.write(&format!("sys/fs/cgroup/{path}"), "0\n");
}

#[test]
fn pods_of_the_systemd_driver_lie_in_slices_of_their_class() {
    let tree = Tree::new();
    file(&tree, "cgroup.controllers");
    let burstable = format!(
        "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{SLICE_UID}.slice/cpu.stat"
    );
    let guaranteed = format!("kubepods.slice/kubepods-pod{HASH}.slice/cpu.stat");
    file(&tree, &burstable);
    file(&tree, &guaranteed);
    file(&tree, "system.slice/kubelet.service/cpu.stat");
    let expected = [(UID, &burstable), (HASH, &guaranteed)];
    let expected = expected.map(|(uid, path)| (uid.to_owned(), path.clone()));
    assert_eq!(pods(&tree), expected);
}

#[test]
fn a_prefix_of_a_nested_kubelet_is_found_down_to_the_third_level() {
    for (above, is_found) in [
        ("kubelet/kubepods", true),
        ("a/b/kubepods", true),
        ("a/b/c/kubepods", false),
        ("kubepods/besteffort/pod1/kubepods", false),
    ] {
        let tree = Tree::new();
        file(&tree, "cgroup.controllers");
        let path = format!("{above}/burstable/pod{UID}/cpu.stat");
        file(&tree, &path);
        let found = pods(&tree).contains(&(UID.to_owned(), path));
        assert_eq!(found, is_found, "{above}");
    }
}

#[test]
fn the_groups_of_containers_are_no_pods() {
    let tree = Tree::new();
    file(&tree, "cgroup.controllers");
    file(&tree, &format!("kubepods/pod{UID}/pod7/cpu.stat"));
    file(&tree, &format!("kubepods/pod{UID}/cpu.stat"));
    file(&tree, "kubepods/burstable/cri-containerd-1/cpu.stat");
    assert_eq!(pods(&tree).len(), 1);
}

#[test]
fn on_v1_cpu_and_memory_have_hierarchies_of_their_own() {
    let tree = Tree::new();
    file(&tree, "memory/memory.usage_in_bytes");
    file(
        &tree,
        &format!("cpu,cpuacct/kubepods/pod{UID}/cpuacct.usage"),
    );
    let found = find(&tree).pods.remove(0);
    assert_eq!(found.files.memory_version, Version::V1);
    let root = tree.root().cgroup();
    let expected = root.join(format!("memory/kubepods/pod{UID}/memory.usage_in_bytes"));
    assert_eq!(found.files.memory, expected);
    assert_eq!(found.files.events, None);
}

#[test]
fn where_only_v1_memory_is_missing_that_of_the_unified_hierarchy_is_read() {
    let tree = Tree::new();
    file(&tree, &format!("cpuacct/kubepods/pod{UID}/cpuacct.usage"));
    let found = find(&tree).pods.remove(0);
    let root = tree.root().cgroup();
    let expected = root.join(format!("unified/kubepods/pod{UID}/memory.current"));
    assert_eq!(found.files.memory, expected);
    assert_eq!(found.files.memory_version, Version::V2);
}

#[test]
fn a_known_folder_is_not_searched_for_again_until_it_is_gone() {
    let tree = Tree::new();
    file(&tree, "cgroup.controllers");
    file(&tree, "kubepods/pod1/cpu.stat");
    let known = find(&tree).kubepods;
    file(&tree, "kubepods.slice/kubepods-pod2.slice/cpu.stat");
    let walk = |known: &[Kubepods]| {
        let known = known.to_vec();
        let walk = PodWalk {
            known,
            ..PodWalk::default()
        };
        PodTree::find(&tree.root().cgroup(), walk)
    };
    assert_eq!(walk(&known).pods.len(), 1);
    assert_eq!(walk(&[]).pods.len(), 2);
    tree.remove("sys/fs/cgroup/kubepods");
    assert_eq!(&*walk(&known).pods[0].uid, "2");
}

#[test]
fn a_pod_that_comes_or_goes_changes_the_folder_above() {
    let tree = Tree::new();
    file(&tree, "cgroup.controllers");
    file(&tree, "kubepods/burstable/pod1/cpu.stat");
    let found = find(&tree);
    assert_eq!(found.folders.len(), 2);
    let changed = || found.folders.iter().filter(|folder| folder.has_changed());
    assert_eq!(changed().count(), 0);
    file(&tree, "kubepods/burstable/pod2/cpu.stat");
    assert_eq!(changed().count(), 1);
    let found = find(&tree);
    tree.remove("sys/fs/cgroup/kubepods/burstable/pod1");
    assert_eq!(
        found
            .folders
            .iter()
            .filter(|folder| folder.has_changed())
            .count(),
        1
    );
}

#[test]
fn of_a_suspect_on_v1_all_groups_are_asked_for_processes() {
    let tree = Tree::new();
    file(&tree, "cpuacct/kubepods/pod1/cpuacct.usage");
    let procs = |path: &str, text: &str| {
        tree.write(
            &format!("sys/fs/cgroup/cpuacct/kubepods/pod1/{path}cgroup.procs"),
            text,
        );
    };
    let is_populated = |suspects: &[&str]| {
        let walk = PodWalk {
            suspects: suspects.iter().map(|uid| Arc::from(*uid)).collect(),
            ..PodWalk::default()
        };
        PodTree::find(&tree.root().cgroup(), walk).pods[0].is_populated
    };
    procs("", "");
    procs("sandbox/", "");
    procs("app/", "17\n");
    assert!(is_populated(&["1"]));
    procs("app/", "");
    assert!(!is_populated(&["1"]));
    assert!(is_populated(&[]), "who is no suspect is not looked into");
    tree.remove("sys/fs/cgroup/cpuacct/kubepods/pod1/app/cgroup.procs");
    assert!(is_populated(&["1"]), "what cannot be read may hold one");
}

#[test]
fn without_a_cgroup_mount_there_are_no_pods() {
    let found = find(&Tree::new());
    assert!(found.pods.is_empty() && found.folders.is_empty());
}
