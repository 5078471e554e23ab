//! Reads a case: the file, unpacked, and its parts.
//!
//! Takes a path, gives lists of objects as JSON; a golden file gives the case inside it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use flate2::read::GzDecoder;
use serde_json::{Map, Value};

/// The name that stands for standard input.
const STDIN: &str = "-";

/// A cluster with the pods to judge.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Case {
    /// `KubeSchedulerConfiguration`; may lack `apiVersion` and `kind`.
    pub(super) config: Map<String, Value>,
    pub(super) objects: Vec<Value>,
    /// Pods that wait and were promised a node.
    pub(super) nominated: Vec<Value>,
    pub(super) pending: Vec<Value>,
}

/// Reads a file, or standard input for the name `-`.
///
/// # Errors
/// It cannot be read, or is no case; names the file and the place.
pub(super) fn read(path: &Path) -> anyhow::Result<Case> {
    let place = || path.display().to_string();
    let bytes = bytes_of(path).with_context(place)?;
    parse(&bytes).with_context(place)
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new(STDIN) {
        io::stdin().lock().read_to_end(&mut bytes)?;
    } else if path.extension() == Some(OsStr::new("gz")) {
        GzDecoder::new(fs::File::open(path)?).read_to_end(&mut bytes)?;
    } else {
        bytes = fs::read(path)?;
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> anyhow::Result<Case> {
    let mut fields = match serde_json::from_slice(bytes).context("not JSON")? {
        Value::Object(fields) => fields,
        other => bail!("a case is an object, not {}", kind_of(&other)),
    };
    if let Some(inner) = fields.remove("case") {
        match inner {
            Value::Object(inner) => fields = inner,
            other => bail!("case: a case is an object, not {}", kind_of(&other)),
        }
    }
    let mut case = Case::default();
    for (name, value) in fields {
        match name.as_str() {
            "description" => {}
            "config" => case.config = config(value)?,
            "objects" => case.objects = list(&name, value)?,
            "nominated" => case.nominated = list(&name, value)?,
            "pending" => case.pending = list(&name, value)?,
            _ => bail!(
                "unknown field \"{name}\": a case has description, config, objects, nominated \
                 and pending"
            ),
        }
    }
    Ok(case)
}

fn config(value: Value) -> anyhow::Result<Map<String, Value>> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields),
        other => bail!("config: expected an object, found {}", kind_of(&other)),
    }
}

fn list(name: &str, value: Value) -> anyhow::Result<Vec<Value>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items),
        other => bail!("{name}: expected a list, found {}", kind_of(&other)),
    }
}

/// What a value is, in words: the value itself may be megabytes.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, parse};

    fn mistake(text: &str) -> String {
        let problem = parse(text.as_bytes()).expect_err("no case");
        format!("{problem:#}")
    }

    #[test]
    fn a_golden_file_gives_the_case_inside_it() {
        let bare = parse(br#"{"objects":[{"kind":"Node"}],"pending":[1],"nominated":null}"#);
        let golden = parse(br#"{"case":{"objects":[{"kind":"Node"}],"pending":[1]},"verdict":7}"#);
        assert_eq!(bare.expect("a case"), golden.expect("a case"));
        assert_eq!(parse(b"{}").expect("a case"), Case::default());
    }

    #[test]
    fn mistakes_name_their_place() {
        assert!(
            mistake("{").starts_with("not JSON: EOF"),
            "{}",
            mistake("{")
        );
        assert_eq!(mistake("7"), "a case is an object, not a number");
        assert_eq!(
            mistake(r#"{"case":[]}"#),
            "case: a case is an object, not a list"
        );
        assert_eq!(
            mistake(r#"{"config":1}"#),
            "config: expected an object, found a number"
        );
        assert_eq!(
            mistake(r#"{"pending":{}}"#),
            "pending: expected a list, found an object"
        );
        assert!(mistake(r#"{"pendng":[]}"#).starts_with("unknown field \"pendng\": a case has"));
    }
}
