//! Where the machine is read: the mounted `/proc` and `/sys`, as parameters, so that a
//! recorded tree is read by the same code as the real one.

use std::path::{Path, PathBuf};

/// The two trees that a node is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRoot {
    /// The `/proc` of the node, or the agent's own.
    pub proc: PathBuf,
    /// The `/sys` of the node, with the cgroup mount below it.
    pub sys: PathBuf,
}

impl HostRoot {
    /// The folders `proc` and `sys` below `root`.
    pub fn below(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            sys: root.join("sys"),
        }
    }

    /// The trees of the two that are no folders, most often by a slip of the pen: what is in
    /// them is not measured.
    pub fn missing(&self) -> impl Iterator<Item = &Path> {
        [&*self.proc, &*self.sys]
            .into_iter()
            .filter(|tree| !tree.is_dir())
    }

    pub(crate) fn cgroup(&self) -> PathBuf {
        self.sys.join("fs/cgroup")
    }

    pub(crate) fn net_class(&self) -> PathBuf {
        self.sys.join("class/net")
    }
}

impl Default for HostRoot {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}
