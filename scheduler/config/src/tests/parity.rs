//! The files of `tests/fixtures/config` against what kube-scheduler 1.37.2 makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::plugins;

/// Files that are there at least: a wrong path must not pass as no difference.
const FILES_MIN: usize = 65;
/// Files whose mistakes only the plugins themselves can find.
const ABOUT_ARGS: [&str; 10] = ["30", "31", "32", "34", "35", "36", "37", "38", "42", "45"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/config");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    files.sort();
    files
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// `stage field` of every error that kube-scheduler reports.
fn expected_errors(expected: &Value) -> Vec<String> {
    let errors = expected["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|e| format!("{} {}", text(&e["stage"]), text(&e["field"])))
        .collect()
}

/// Without args: the stand-ins of this crate's tests have none. `plimsoll check` is compared
/// whole, with the real plugins.
fn without_args(mut effective: Value) -> Value {
    for profile in effective["profiles"].as_array_mut().unwrap() {
        profile.as_object_mut().unwrap().remove("pluginConfig");
    }
    effective
}

/// The files there named do not exist.
fn no_file(path: &str) -> Result<Vec<u8>, String> {
    Err(format!("open {path}: no such file or directory"))
}

#[test]
fn files_are_accepted_and_refused_as_by_kube_scheduler() {
    let files = files();
    assert!(files.len() >= FILES_MIN, "{} files", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if ABOUT_ARGS.iter().any(|number| name.starts_with(number)) {
            continue;
        }
        let yaml = fs::read_to_string(&path).unwrap();
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        let expected: Value = serde_json::from_str(&json).unwrap();
        match crate::load_with_files(&yaml, &plugins::registry(), &no_file).config {
            Ok(config) => {
                assert_eq!(expected_errors(&expected), Vec::<String>::new(), "{name}");
                let effective = without_args(crate::effective(&config));
                let expected = without_args(expected["effective"].clone());
                assert_eq!(effective, expected, "{name}");
            }
            Err(errors) => {
                let errors = crate::as_kube_scheduler(&errors).into_iter();
                let stage = |error| format!("{error:?}").to_lowercase();
                let mut seen: Vec<_> = errors
                    .map(|e| format!("{} {}", stage(e.stage), e.path.as_str()))
                    .collect();
                seen.sort();
                assert_eq!(seen, expected_errors(&expected), "{name}");
            }
        }
    }
}
