//! Finds the CPU counters of a cgroup tree: takes the mount, gives the files whose sum is
//! the CPU time of the tree, and whose tree it is. Walks one folder, so never on the tick.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sample::parse::{number, single_number, words};

/// Which counters a tree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// `cpuacct.usage` in nanoseconds; the root holds kernel threads too. Also where only
    /// the other controllers are v2 (hybrid).
    V1,
    /// `cpu.stat` in microseconds. The root's is made from timer ticks, so the groups below
    /// it are added up; they do not hold kernel threads.
    V2,
}

/// Whose tree it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scope {
    /// The machine's: its root has no limits.
    Machine,
    /// A container's: its root is a group below the real one.
    Container {
        /// CPUs by the quota of the root, if it has one.
        quota_cpus: Option<f64>,
        /// The tree has groups of a kubelet (`kubepods*`, `kubelet*`): the container is a
        /// node (kind, LXC).
        holds_pods: bool,
    },
}

/// A cgroup tree and the files whose sum is its CPU time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CgroupTree {
    pub(crate) version: Version,
    pub(crate) scope: Scope,
    /// Name (stable over walks) and path of each counter.
    pub(crate) files: Vec<(String, PathBuf)>,
}

impl CgroupTree {
    /// Looks below the cgroup mount `root`; `None` if nothing is readable there.
    pub(crate) fn find(root: &Path) -> Option<Self> {
        ["cpuacct", "cpu,cpuacct"]
            .iter()
            .find_map(|controller| Self::v1(root, &root.join(controller)))
            .or_else(|| Self::v2(root))
    }

    fn v1(root: &Path, controller: &Path) -> Option<Self> {
        let usage = controller.join("cpuacct.usage");
        fs::metadata(&usage).ok()?;
        // Files that only the root of a hierarchy has.
        let is_root = exists(&controller.join("cgroup.sane_behavior"))
            || exists(&controller.join("release_agent"));
        let scope = if is_root {
            Scope::Machine
        } else {
            let quota = ["cpu", "cpu,cpuacct"]
                .iter()
                .find_map(|cpu| quota_v1(&root.join(cpu)));
            container(quota, &folders(controller))
        };
        Some(Self {
            version: Version::V1,
            scope,
            files: vec![("/".to_owned(), usage)],
        })
    }

    fn v2(root: &Path) -> Option<Self> {
        let own = root.join("cpu.stat");
        let folders = folders(root);
        // Files that every group but the root has.
        let is_container = ["cpu.max", "cgroup.type", "cgroup.events"]
            .iter()
            .any(|name| exists(&root.join(name)));
        if is_container {
            fs::metadata(&own).ok()?;
            return Some(Self {
                version: Version::V2,
                scope: container(quota_v2(root), &folders),
                files: vec![("/".to_owned(), own)],
            });
        }
        let files: Vec<_> = folders
            .into_iter()
            .map(|name| (root.join(&name).join("cpu.stat"), name))
            .filter(|(path, _)| exists(path))
            .map(|(path, name)| (name, path))
            .collect();
        (!files.is_empty()).then_some(Self {
            version: Version::V2,
            scope: Scope::Machine,
            files,
        })
    }
}

/// `folders` are the groups directly below the container's root.
fn container(quota_cpus: Option<f64>, folders: &[String]) -> Scope {
    Scope::Container {
        quota_cpus,
        holds_pods: folders.iter().any(|name| name.starts_with("kube")),
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The names of the folders of `root` itself, in order; empty if it is not readable.
fn folders(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

/// `cpu.max`: `500000 100000`, or `max 100000` without a quota.
fn quota_v2(root: &Path) -> Option<f64> {
    let text = fs::read(root.join("cpu.max")).ok()?;
    let mut fields = words(&text);
    ratio(number(fields.next()?)?, number(fields.next()?)?)
}

fn quota_v1(cpu: &Path) -> Option<f64> {
    // Without a quota the file says -1, which is no number here.
    let quota = single_number(&fs::read(cpu.join("cpu.cfs_quota_us")).ok()?)?;
    let period = single_number(&fs::read(cpu.join("cpu.cfs_period_us")).ok()?)?;
    ratio(quota, period)
}

fn ratio(quota: u64, period: u64) -> Option<f64> {
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests;
