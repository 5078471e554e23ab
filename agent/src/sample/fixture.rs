//! A small `/proc` and `/sys` on disk for unit tests: takes paths and texts, gives the roots.
//! Each tree has a folder of its own, removed at the end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::root::HostRoot;

static TREES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Tree(PathBuf);

impl Tree {
    pub(crate) fn new() -> Self {
        let number = TREES.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-agent-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// With each `(path, text)` as a file.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn root(&self) -> HostRoot {
        HostRoot::below(&self.0)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// Removes a file or a folder.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.0.join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// A physical interface that is up.
    pub(crate) fn nic(&self, name: &str, received: u64, sent: u64, megabits: &str) {
        let folder = format!("sys/class/net/{name}");
        self.write(&format!("{folder}/device/vendor"), "0x8086\n");
        self.write(&format!("{folder}/operstate"), "up\n");
        self.write(&format!("{folder}/speed"), &format!("{megabits}\n"));
        self.traffic(name, received, sent);
    }

    /// The counters of an interface.
    pub(crate) fn traffic(&self, name: &str, received: u64, sent: u64) {
        let folder = format!("sys/class/net/{name}/statistics");
        self.write(&format!("{folder}/rx_bytes"), &format!("{received}\n"));
        self.write(&format!("{folder}/tx_bytes"), &format!("{sent}\n"));
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // A tree that cannot be removed is no reason to fail a test.
        drop(fs::remove_dir_all(&self.0));
    }
}
