//! What users asked of an API server: takes the audit log of kube-apiserver, gives rights and
//! bindings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_tests::controlplane::{Program, new_folder};
use serde_json::{Value, json};

use super::USER;

/// The schedulers' requests, without their bodies, as soon as they are answered.
#[derive(Debug)]
pub(crate) struct Audit {
    folder: PathBuf,
}

/// A binding that was asked for.
#[derive(Debug)]
pub(crate) struct Binding {
    /// The user.
    pub(crate) by: String,
    /// The answer.
    pub(crate) code: u64,
}

/// API group (empty is core), resource with its subresource after a slash, verb.
pub(crate) type Right = (String, String, String);

// === impl Audit ===

impl Audit {
    /// An audit still without a server: its flags are of the server that is to be watched.
    pub(crate) fn new() -> anyhow::Result<Self> {
        Self::of(&[USER])
    }

    /// The same, of these users' requests.
    pub(crate) fn of(users: &[&str]) -> anyhow::Result<Self> {
        let this = Self {
            folder: new_folder("audit")?,
        };
        let policy = json!({
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata", "users": users}, {"level": "None"}],
        });
        fs::write(this.policy(), policy.to_string())?;
        Ok(this)
    }

    /// What makes an API server write it; each line is in the log before its answer is sent.
    pub(crate) fn flags(&self) -> Vec<(Program, String)> {
        let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let flags = [
            flag("audit-policy-file", &self.policy()),
            flag("audit-log-path", &self.log()),
        ];
        flags.map(|flag| (Program::ApiServer, flag)).into()
    }

    /// The bindings that were asked for so far, in the order in which they came.
    pub(crate) fn bindings(&self) -> anyhow::Result<Vec<Binding>> {
        let mut entries = self.entries()?;
        entries.retain(|entry| {
            entry["objectRef"]["subresource"] == "binding" && entry["stage"] == "ResponseComplete"
        });
        entries.sort_by_key(|entry| entry["requestReceivedTimestamp"].to_string());
        let bindings = entries.iter().map(|entry| Binding {
            by: entry["user"]["username"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            code: entry["responseStatus"]["code"].as_u64().unwrap_or_default(),
        });
        Ok(bindings.collect())
    }

    fn entries(&self) -> anyhow::Result<Vec<Value>> {
        let text = fs::read_to_string(self.log()).context("there is no audit log")?;
        // The last line may be half there.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .map(|line| Ok(serde_json::from_str(line)?))
            .collect()
    }

    /// What was asked for so far.
    pub(crate) fn asked(&self) -> anyhow::Result<BTreeSet<Right>> {
        let mut asked = BTreeSet::new();
        for entry in self.entries()? {
            let object = &entry["objectRef"];
            let word = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
            let resource = match word("subresource") {
                none if none.is_empty() => word("resource"),
                part => format!("{}/{part}", word("resource")),
            };
            // Discovery and health are of no resource.
            if !resource.is_empty() {
                let verb = entry["verb"].as_str().unwrap_or_default().to_owned();
                asked.insert((word("apiGroup"), resource, verb));
            }
        }
        Ok(asked)
    }

    /// Removes the log.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        Ok(fs::remove_dir_all(&self.folder)?)
    }

    fn policy(&self) -> PathBuf {
        self.folder.join("policy.json")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }
}
