//! Reads the list: `*.yaml` beside this file, each a list of entries.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use plimsoll_tests::project_root;
use serde_json::Value;

/// An entry of the list.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    /// What commands with `-f -` read; `{ns}` in it is the entry's namespace.
    pub(super) input: String,
    /// What is followed while the steps run.
    pub(super) watch: Option<Watch>,
    pub(super) steps: Vec<Step>,
}

/// One command.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) command: String,
    /// The name under which later steps find this one's output, as `{name}`.
    pub(super) keep: Option<String>,
    /// Whether the lines come in no certain order.
    pub(super) sorted: bool,
    /// Why the servers answer differently.
    pub(super) differs: Option<String>,
}

/// A command that is left running.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) step: Step,
    /// How many lines it has told when the steps may begin.
    pub(super) first: usize,
    /// How many lines it has told in the end.
    pub(super) lines: usize,
    /// What is done before it starts.
    pub(super) before: Vec<Step>,
}

impl Case {
    /// The steps that have an answer, in the order of the answers.
    pub(super) fn answered(&self) -> impl Iterator<Item = &Step> {
        let watch = self.watch.iter();
        let before = watch.clone().flat_map(|watch| &watch.before);
        let steps = before.chain(&self.steps);
        steps
            .filter(|step| step.keep.is_none())
            .chain(watch.map(|watch| &watch.step))
    }
}

/// The folder of the list.
pub(super) fn folder() -> PathBuf {
    project_root().join("tests/e2e/kubectl")
}

/// Reads all entries, file by file.
pub(super) fn cases() -> anyhow::Result<Vec<Case>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == "yaml"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let entries: Vec<Value> = serde_saphyr::from_str(&fs::read_to_string(&file)?)
            .with_context(|| format!("{} is no list", file.display()))?;
        for entry in &entries {
            cases.push(case(entry).with_context(|| format!("{}: {entry}", file.display()))?);
        }
    }
    Ok(cases)
}

fn case(entry: &Value) -> anyhow::Result<Case> {
    let known = ["name", "input", "run", "watch", "first", "lines", "before"];
    let fields = entry.as_object().context("an entry is a map")?;
    let odd = fields.keys().find(|key| !known.contains(&key.as_str()));
    ensure!(odd.is_none(), "an entry has no field {odd:?}");
    let number = |field: &str| {
        let number = entry[field]
            .as_u64()
            .and_then(|it| usize::try_from(it).ok());
        number.with_context(|| format!("a watch says {field}"))
    };
    let watch = match &entry["watch"] {
        Value::Null => None,
        watch => Some(Watch {
            step: step(watch)?,
            first: number("first")?,
            lines: number("lines")?,
            before: steps(&entry["before"])?,
        }),
    };
    Ok(Case {
        name: text(entry, "name").context("an entry has a name")?,
        input: text(entry, "input").unwrap_or_default(),
        watch,
        steps: steps(&entry["run"])?,
    })
}

fn steps(list: &Value) -> anyhow::Result<Vec<Step>> {
    let list = list.as_array().context("commands stand in a list")?;
    list.iter().map(step).collect()
}

fn step(value: &Value) -> anyhow::Result<Step> {
    let command = match value {
        Value::String(command) => Some(command.clone()),
        map => text(map, "run"),
    };
    Ok(Step {
        command: command.with_context(|| format!("no command: {value}"))?,
        keep: text(value, "keep"),
        sorted: value.get("sorted") == Some(&Value::Bool(true)),
        differs: text(value, "differs"),
    })
}

fn text(map: &Value, field: &str) -> Option<String> {
    map.get(field)?.as_str().map(ToOwned::to_owned)
}
