//! The project as files: takes nothing, gives every Rust source with its text.

use std::fs;
use std::path::{Path, PathBuf};

/// One Rust source of the project.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path from the project's root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Folders that hold no sources of ours.
const SKIPPED: [&str; 3] = ["target", ".git", "golden"];

/// The project's root folder.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust source of the project, sorted by path.
///
/// # Panics
/// The project's own folder cannot be read.
pub fn rust_sources() -> Vec<Source> {
    let root = project_root();
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("a folder of the project can be read");
    for entry in entries {
        let path = entry.expect("an entry of the project can be read").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                collect(root, &path, sources);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source of the project is text");
            let relative = path.strip_prefix(root).expect("below the root");
            let path = relative.to_string_lossy().replace('\\', "/");
            sources.push(Source { path, text });
        }
    }
}
