//! What an extender was asked, with the objects that it was asked about; without what differs
//! from run to run.

use std::fs;

use anyhow::bail;
use plimsoll_tests::project_root;
use serde_json::{Map, Value, json};

use crate::rig::Extender;

/// Where it is kept.
const FIXTURES: &str = "tests/fixtures/extender";
/// In place of every time.
const TIME: &str = "2026-01-01T00:00:00Z";

/// The record. In `objects` all is as the API server has it, before the first question.
#[derive(Debug)]
pub(super) struct Recorded {
    objects: Map<String, Value>,
    asked: Vec<Value>,
}

// === impl Recorded ===

impl Recorded {
    /// A record in a cluster of these nodes, given as a list.
    pub(super) fn new(mut nodes: Value) -> Self {
        let mut objects = Map::new();
        objects.insert("nodes".to_owned(), nodes["items"].take());
        let asked = Vec::new();
        Self { objects, asked }
    }

    /// Keeps a pod as it was created.
    pub(super) fn pod(&mut self, name: &str, pod: Value) {
        self.objects.insert(name.to_owned(), pod);
    }

    /// Keeps all pods that may be victims, given as a list.
    pub(super) fn victims(&mut self, mut pods: Value) {
        self.objects
            .insert("victims".to_owned(), pods["items"].take());
    }

    /// Keeps the first question of each verb about a pod, of both extenders.
    pub(super) fn bodies(&mut self, extender: &Extender, pod: &str, verbs: &[&str]) {
        for verb in verbs {
            for kind in ["names", "whole"] {
                let path = format!("/{kind}/{verb}");
                if let Some(body) = extender.first(&path, pod) {
                    self.asked.push(json!({"path": path, "body": body}));
                }
            }
        }
    }

    /// Without uids, versions and times; uids are those of the objects by name.
    pub(super) fn settled(&self) -> Value {
        let mut all = json!({"objects": self.objects, "asked": self.asked});
        let mut uids = Map::new();
        find_uids(&all["objects"], &mut uids);
        settle(&mut all, &uids);
        all
    }
}

/// `seen` is what kube-scheduler 1.37.2 did; where that is not kept yet, it is written.
pub(super) fn hold_against(name: &str, seen: &Value) -> anyhow::Result<()> {
    let path = project_root().join(FIXTURES).join(format!("{name}.json"));
    if !path.exists() {
        fs::write(&path, format!("{seen:#}\n"))?;
        bail!(
            "{} was not there and is written: read it, then run again",
            path.display()
        );
    }
    let kept = fs::read_to_string(&path)?;
    let kept: Value = serde_json::from_str(&kept)?;
    assert_eq!(*seen, kept, "{}", path.display());
    Ok(())
}

/// The same, but for who wrote which field: Plimsoll does not send that.
pub(super) fn hold_bare_against(name: &str, seen: &Value) -> anyhow::Result<()> {
    let path = project_root().join(FIXTURES).join(format!("{name}.json"));
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let mut seen = seen.clone();
    bare(&mut kept);
    bare(&mut seen);
    let pairs = |all: &Value| all["asked"].as_array().cloned().unwrap_or_default();
    for (seen, kept) in pairs(&seen).iter().zip(pairs(&kept)) {
        assert_eq!(*seen, kept);
    }
    assert_eq!(seen, kept);
    Ok(())
}

fn bare(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("managedFields");
            fields.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

/// Names for uids: `uid-of-NAME`.
fn find_uids(value: &Value, uids: &mut Map<String, Value>) {
    if let (Some(uid), Some(name)) = (
        value["metadata"]["uid"].as_str(),
        value["metadata"]["name"].as_str(),
    ) {
        uids.insert(uid.to_owned(), json!(format!("uid-of-{name}")));
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|inner| find_uids(inner, uids)),
        Value::Array(items) => items.iter().for_each(|inner| find_uids(inner, uids)),
        _ => {}
    }
}

fn settle(value: &mut Value, uids: &Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                match key.as_str() {
                    "resourceVersion" => *inner = json!("1"),
                    _ => settle(inner, uids),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| settle(inner, uids)),
        Value::String(text) if is_time(text) => *value = json!(TIME),
        Value::String(text) => {
            if let Some(name) = uids.get(text.as_str()) {
                *value = name.clone();
            }
        }
        _ => {}
    }
}

fn is_time(text: &str) -> bool {
    let form = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        19 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    text.len() == TIME.len() && text.bytes().enumerate().all(form)
}
