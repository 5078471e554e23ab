//! YAML documents as Helm prints them: takes text, gives objects by kind and name.

use anyhow::Context;
use serde_json::Value;

/// Kubernetes objects of one text.
#[derive(Debug)]
pub(super) struct Documents(Vec<Value>);

// === impl Documents ===

impl Documents {
    /// Reads all documents of a text; empty ones are left out.
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let documents: Vec<Value> = serde_saphyr::from_multiple(text)?;
        let is_object = |document: &Value| document.is_object();
        Ok(Self(documents.into_iter().filter(is_object).collect()))
    }

    /// The only object of a kind whose name ends so.
    pub(super) fn get(&self, kind: &str, name: &str) -> anyhow::Result<&Value> {
        self.find(kind, name)
            .with_context(|| format!("no {kind} *{name}"))
    }

    /// The same; `None` if there is none.
    pub(super) fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        self.0.iter().find(|object| {
            let full = object["metadata"]["name"].as_str().unwrap_or_default();
            object["kind"] == kind && full.ends_with(name)
        })
    }

    /// Kind and name of every object.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.0
            .iter()
            .map(|object| (text(&object["kind"]), text(&object["metadata"]["name"])))
            .collect()
    }
}
