//! `plimsoll check --json` against what kube-scheduler 1.37.2 makes of the same files: whole,
//! args included.

use std::fs;

use serde_json::Value;

use super::{findings, folder};

/// All files: none may be left out, and a wrong path must not pass as no difference.
const FILES: usize = 65;

/// `stage field` of every error.
fn errors(report: &Value) -> Vec<String> {
    let errors = report["errors"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut errors: Vec<_> = errors
        .map(|error| text(&error["stage"]) + " " + &text(&error["field"]))
        .collect();
    errors.sort();
    errors
}

#[test]
fn this_build_has_all_default_plugins() {
    let config = plimsoll_config::default_config(&plimsoll_plugins::registry()).unwrap();
    assert_eq!(config.missing_defaults, Vec::<&str>::new());
}

#[test]
fn every_file_is_seen_as_kube_scheduler_sees_it() {
    let mut compared = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let yaml = fs::read_to_string(&path).unwrap();
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        let expected: Value = serde_json::from_str(&json).unwrap();
        let name = path.display();
        let seen = findings(&yaml).to_json();
        assert_eq!(seen["ok"], expected["ok"], "{name}");
        assert_eq!(errors(&seen), errors(&expected), "{name}");
        assert_eq!(seen["effective"], expected["effective"], "{name}");
        compared += 1;
    }
    assert_eq!(compared, FILES);
}
