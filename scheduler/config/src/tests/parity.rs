//! The files of `tests/fixtures/config` against what kube-scheduler 1.37.2 makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::plugins;
use crate::v1::profile::GROUP_POINTS;

/// Files that are there at least: a wrong path must not pass as no difference.
const FILES_MIN: usize = 50;

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

/// Without the points for pod groups, whose plugins this build does not run, and without
/// args, which the plugins' own tests compare.
fn comparable(mut effective: Value) -> Value {
    for profile in effective["profiles"].as_array_mut().unwrap() {
        let profile: &mut Map<String, Value> = profile.as_object_mut().unwrap();
        profile.remove("pluginConfig");
        let plugins = profile["plugins"].as_object_mut().unwrap();
        plugins.retain(|point, _| !GROUP_POINTS.contains(&point.as_str()));
    }
    effective
}

#[test]
fn files_are_accepted_and_refused_as_by_kube_scheduler() {
    let files = files();
    assert!(files.len() >= FILES_MIN, "{} files", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let yaml = fs::read_to_string(&path).unwrap();
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        let expected: Value = serde_json::from_str(&json).unwrap();
        match crate::load(&yaml, &plugins::registry()) {
            Ok(config) => {
                assert_eq!(expected_errors(&expected), Vec::<String>::new(), "{name}");
                let effective = comparable(crate::effective(&config));
                assert_eq!(
                    effective,
                    comparable(expected["effective"].clone()),
                    "{name}"
                );
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
