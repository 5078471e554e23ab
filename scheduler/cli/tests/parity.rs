//! `plimsoll verdict` and `plimsoll sequence` against recorded words of kube-scheduler v1.37.2.
//!
//! Takes the files of `tests/fixtures/parity`: a case, what kube-scheduler's own plugins say of
//! each pending pod, and where it places them one after another. Runs the program on each file;
//! its answers must be equal as JSON, every key of them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/parity");
const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Files of each area.
const FILES: usize = 6;
/// Files of 100 nodes and 60 pending pods, which the area `mixed` has besides.
const LARGE_FILES: usize = 3;
/// Differences that are shown; where there is one there are many.
const SHOWN: usize = 20;

/// One test per area, so that they run side by side and a difference names its area.
macro_rules! areas {
    ($($area:ident: $files:expr,)*) => {
        mod every_word_is_that_of_kube_scheduler_in {
            $(#[test]
            fn $area() {
                super::compare_area(stringify!($area), $files);
            })*
        }
    };
}

areas! {
    resources: super::FILES,
    strategies: super::FILES,
    taints: super::FILES,
    nodeaffinity: super::FILES,
    ports: super::FILES,
    spread: super::FILES,
    interpod: super::FILES,
    volumes: super::FILES,
    images: super::FILES,
    preemption: super::FILES,
    gates: super::FILES,
    dra: super::FILES,
    profiles: super::FILES,
    mixed: super::FILES + super::LARGE_FILES,
    odd: super::FILES,
}

fn compare_area(area: &str, expected: usize) {
    let files = files_of(area);
    assert_eq!(files.len(), expected, "files of {area}");
    let mut differences = Vec::new();
    for file in files {
        let golden = read(&file);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for part in ["verdict", "sequence"] {
            // With verdicts that are kept, and with every node judged anew.
            for options in [&[][..], &["--no-tables"]] {
                let answer = answer(part, &file, options);
                let path = format!("{name} {part} {}", options.concat());
                compare(&path, &golden[part], &answer, &mut differences);
            }
        }
    }
    let shown = &differences[..differences.len().min(SHOWN)];
    assert!(
        differences.is_empty(),
        "{} differences, such as {shown:#?}",
        differences.len()
    );
}

fn files_of(area: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(FIXTURES).expect("the fixtures are there");
    let paths = entries.map(|entry| entry.expect("a directory entry").path());
    let is_of_area = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.rsplit_once('-').is_some_and(|(of, _)| of == area)
    };
    let mut files: Vec<PathBuf> = paths.filter(is_of_area).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Value {
    let mut text = String::new();
    let mut file = File::open(path).expect("a readable fixture");
    let read = if path.extension() == Some(OsStr::new("gz")) {
        GzDecoder::new(file).read_to_string(&mut text)
    } else {
        file.read_to_string(&mut text)
    };
    read.expect("a fixture is text");
    serde_json::from_str(&text).expect("a fixture is JSON")
}

fn answer(part: &str, file: &Path, options: &[&str]) -> Value {
    let run = Command::new(PROGRAM)
        .arg(part)
        .arg(file)
        .args(options)
        .output();
    let run = run.expect("the program starts");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{part} {}: {errors}", file.display());
    serde_json::from_slice(&run.stdout).expect("an answer is JSON")
}

/// Keeps the path of every value that differs or is there on one side only.
fn compare(path: &str, theirs: &Value, ours: &Value, differences: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let missing = ours.keys().filter(|key| !theirs.contains_key(*key));
            for key in theirs.keys().chain(missing) {
                let (theirs, ours) = (theirs.get(key), ours.get(key));
                match (theirs, ours) {
                    (Some(theirs), Some(ours)) => {
                        compare(&format!("{path}.{key}"), theirs, ours, differences);
                    }
                    (Some(theirs), None) => {
                        differences.push(format!("{path}.{key}: expected {theirs}, is absent"));
                    }
                    (None, ours) => {
                        let ours = ours.unwrap_or(&Value::Null);
                        differences.push(format!("{path}.{key}: expected nothing, is {ours}"));
                    }
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                compare(&format!("{path}[{index}]"), theirs, ours, differences);
            }
        }
        (theirs, ours) if theirs == ours => {}
        (theirs, ours) => differences.push(format!("{path}: expected {theirs}, is {ours}")),
    }
}
