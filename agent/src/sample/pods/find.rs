//! Finds the pods of a cgroup tree: takes the mount, gives the folder of each pod with the
//! files to read, and the folders whose change means that pods came or went. Walks folders,
//! so never on the tick; enters no pod, except one that seems to have ended (v1).

use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::name::{is_class, is_kubepods, pod_uid};
use crate::clock::time_since;
use crate::sample::cgroup::Version;

/// A kubelet's pods lie this deep at most: `kubelet.slice/kubelet-kubepods.slice` is 2.
const LEVELS: u32 = 3;
/// Groups of a runtime below a container are few; below this nothing is looked for.
const LEVELS_BELOW_POD: u32 = 4;

/// What a walk for pods knows before.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodWalk {
    /// The kubepods folders of the walk before: enough while all of them are there.
    pub(crate) known: Vec<Kubepods>,
    /// Pods that may have ended, where only a look into all their groups can tell (v1).
    pub(crate) suspects: Vec<Arc<str>>,
    /// A pod not seen before cannot be older than this.
    pub(crate) newcomers_age: Option<Duration>,
}

/// The pods of a node.
#[derive(Debug, Default)]
pub(crate) struct PodTree {
    pub(crate) kubepods: Vec<Kubepods>,
    /// Folders in which pods come and go.
    pub(crate) folders: Vec<Watched>,
    /// By uid, each once.
    pub(crate) pods: Vec<Found>,
    pub(crate) newcomers_age: Option<Duration>,
}

/// A folder of a kubelet's pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kubepods {
    version: Version,
    /// Root of the hierarchy that counts CPU.
    hierarchy: PathBuf,
    /// The folder, below it.
    path: PathBuf,
}

/// A folder and how it looked before it was read.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    look: Option<Look>,
}

/// What changes when a group is made or removed: the kernel counts groups as links, and
/// keeps the time where the folder was ever handed to another user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    links: u64,
    changed: (i64, i64),
}

/// A pod's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) uid: Arc<str>,
    pub(crate) files: PodFiles,
    /// Tells a folder from a later one of the same name.
    pub(crate) inode: u64,
    /// At least this old, by the wall clock.
    pub(crate) age: Option<Duration>,
    /// False if a suspect has no process left.
    pub(crate) is_populated: bool,
}

/// What to read of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodFiles {
    pub(crate) version: Version,
    /// `cpu.stat` (v2) or `cpuacct.usage` (v1).
    pub(crate) cpu: PathBuf,
    /// `memory.current` (v2) or `memory.usage_in_bytes` (v1).
    pub(crate) memory: PathBuf,
    pub(crate) memory_stat: PathBuf,
    pub(crate) memory_version: Version,
    /// `cgroup.events`, v2 only.
    pub(crate) events: Option<PathBuf>,
}

// === impl PodTree ===

impl PodTree {
    /// Looks below the cgroup mount `root`.
    pub(crate) fn find(root: &Path, walk: PodWalk) -> Self {
        let mut kubepods = walk.known;
        if kubepods.is_empty() || !kubepods.iter().all(|found| found.path.is_dir()) {
            kubepods = find_kubepods(root);
        }
        let mut tree = Self {
            kubepods,
            newcomers_age: walk.newcomers_age,
            ..Self::default()
        };
        for found in &tree.kubepods {
            let memory = MemoryRoot::find(root, found);
            let mut walker = Walker {
                memory: &memory,
                kubepods: found,
                suspects: &walk.suspects,
                folders: &mut tree.folders,
                pods: &mut tree.pods,
            };
            walker.walk(&found.path, true);
        }
        tree.pods.sort_by(|a, b| a.uid.cmp(&b.uid));
        tree.pods.dedup_by(|later, kept| later.uid == kept.uid);
        tree
    }
}

/// The folders of all kubelets in the first hierarchy that has one. CPU of v1 comes first,
/// as for the node itself.
fn find_kubepods(root: &Path) -> Vec<Kubepods> {
    let v1 = ["cpuacct", "cpu,cpuacct"].map(|name| (Version::V1, root.join(name)));
    let v2 = [root.to_owned(), root.join("unified")].map(|path| (Version::V2, path));
    for (version, hierarchy) in v1.into_iter().chain(v2) {
        let is_there = version == Version::V1 || hierarchy.join("cgroup.controllers").exists();
        let mut found = Vec::new();
        if is_there {
            collect(&hierarchy, LEVELS, &mut found);
        }
        if !found.is_empty() {
            let of = |path| Kubepods {
                version,
                hierarchy: hierarchy.clone(),
                path,
            };
            return found.into_iter().map(of).collect();
        }
    }
    Vec::new()
}

fn collect(folder: &Path, levels: u32, found: &mut Vec<PathBuf>) {
    if levels == 0 {
        return;
    }
    for (name, _) in folders(folder) {
        let path = folder.join(&name);
        if is_kubepods(&name) {
            found.push(path);
        } else {
            collect(&path, levels - 1, found);
        }
    }
}

/// Where the memory of the pods is counted.
struct MemoryRoot {
    version: Version,
    path: PathBuf,
}

impl MemoryRoot {
    fn find(root: &Path, kubepods: &Kubepods) -> Self {
        let memory = root.join("memory");
        let of_v1 = kubepods.version == Version::V1;
        if of_v1 && memory.join("memory.usage_in_bytes").exists() {
            let (version, path) = (Version::V1, memory);
            return Self { version, path };
        }
        Self {
            version: Version::V2,
            path: if of_v1 {
                root.join("unified")
            } else {
                kubepods.hierarchy.clone()
            },
        }
    }
}

struct Walker<'a> {
    memory: &'a MemoryRoot,
    kubepods: &'a Kubepods,
    suspects: &'a [Arc<str>],
    folders: &'a mut Vec<Watched>,
    pods: &'a mut Vec<Found>,
}

impl Walker<'_> {
    fn walk(&mut self, folder: &Path, has_classes: bool) {
        // Before the folder is read: what comes between is then seen as a change.
        self.folders.push(Watched::of(folder));
        let above = folder.file_name().and_then(|name| name.to_str());
        let above = above.unwrap_or_default();
        for (name, inode) in folders(folder) {
            let path = folder.join(&name);
            if has_classes && is_class(&name, above) {
                self.walk(&path, false);
            } else if let Some(uid) = pod_uid(&name, above) {
                let found = self.found(uid.into(), &path, inode);
                self.pods.push(found);
            }
        }
    }

    fn found(&self, uid: Arc<str>, path: &Path, inode: u64) -> Found {
        let version = self.kubepods.version;
        let below = path.strip_prefix(&self.kubepods.hierarchy).unwrap_or(path);
        let memory = self.memory.path.join(below);
        let (cpu, events) = match version {
            Version::V1 => ("cpuacct.usage", None),
            Version::V2 => ("cpu.stat", Some(path.join("cgroup.events"))),
        };
        let current = match self.memory.version {
            Version::V1 => "memory.usage_in_bytes",
            Version::V2 => "memory.current",
        };
        let is_suspect = version == Version::V1 && self.suspects.contains(&uid);
        Found {
            files: PodFiles {
                version,
                cpu: path.join(cpu),
                memory: memory.join(current),
                memory_stat: memory.join("memory.stat"),
                memory_version: self.memory.version,
                events,
            },
            inode,
            age: age(path),
            is_populated: !is_suspect || has_process(path, LEVELS_BELOW_POD),
            uid,
        }
    }
}

impl Watched {
    fn of(folder: &Path) -> Self {
        Self {
            look: Look::of(folder),
            path: folder.to_owned(),
        }
    }

    /// True once something came or went; one system call.
    pub(crate) fn has_changed(&self) -> bool {
        Look::of(&self.path) != self.look
    }
}

impl Look {
    fn of(folder: &Path) -> Option<Self> {
        let metadata = fs::metadata(folder).ok()?;
        Some(Self {
            links: metadata.nlink(),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }
}

/// Names and inodes of the folders in `folder`; links are not followed. Empty if it is not
/// readable.
fn folders(folder: &Path) -> Vec<(String, u64)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.ino())))
        .collect()
}

/// The kernel dates a group when it is first looked at, and may forget the date: so this is
/// a lower bound, the larger for the earliest date that is kept.
fn age(folder: &Path) -> Option<Duration> {
    let metadata = fs::metadata(folder).ok()?;
    let dates = [metadata.modified(), metadata.created()];
    dates.into_iter().flatten().filter_map(time_since).max()
}

fn has_process(folder: &Path, levels: u32) -> bool {
    // What cannot be read may hold one.
    let own = fs::read(folder.join("cgroup.procs")).is_ok_and(|text| text.is_empty());
    !own || (levels > 0
        && folders(folder)
            .iter()
            .any(|(name, _)| has_process(&folder.join(name), levels - 1)))
}

#[cfg(test)]
mod tests;
