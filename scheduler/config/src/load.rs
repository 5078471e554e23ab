//! All stages in a row.

use std::collections::BTreeMap;

use plimsoll_framework::{FieldError, FieldPath, Registry, Stage};
use serde_json::json;

use crate::defaults::{self, Defaulted};
use crate::extender::tls::{self, ReadFile};
use crate::profile::{self, Findings, Source, selection, upstream};
use crate::scheduler_config::{SchedulerConfig, Warning};
use crate::{v1, validate, yaml};

/// What is made of a file.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration, or every mistake by stage and then in the order of the file.
    pub config: Result<SchedulerConfig, Vec<FieldError>>,
    /// What is allowed but hardly meant.
    pub warnings: Vec<Warning>,
}

/// Loads a file. Files that it names are not looked at.
///
/// # Errors
/// Every mistake in the file, by stage and then in the order of the file.
pub fn load(text: &str, registry: &Registry) -> Result<SchedulerConfig, Vec<FieldError>> {
    let mut findings = Findings::default();
    let config = read(text, registry, None, &mut findings);
    finish(config, findings)
}

/// Loads a file, and looks into the certificates and keys that it names: `read_file` gives
/// what is at a path, or why it cannot be read. For people: also warns where there are
/// mistakes.
pub fn load_with_files(text: &str, registry: &Registry, read_file: ReadFile<'_>) -> Loaded {
    let mut findings = Findings::default();
    let config = read(text, registry, Some(read_file), &mut findings);
    let warnings = findings.warnings.clone();
    Loaded {
        config: finish(config, findings),
        warnings,
    }
}

fn read(
    text: &str,
    registry: &Registry,
    read_file: Option<ReadFile<'_>>,
    findings: &mut Findings,
) -> Option<SchedulerConfig> {
    let file = yaml::parse(text, &mut findings.errors)?;
    if yaml::has_more(text) {
        let text = "the file has more than one YAML document: only the first is read, as by \
                    kube-scheduler";
        findings.warnings.push(Warning {
            path: FieldPath::default(),
            text: text.to_owned(),
        });
    }
    let file = defaults::fill(v1::read(&file, &mut findings.errors)?);
    tls::check(&file.extenders, read_file, &mut findings.errors);
    Some(build(&file, registry, findings))
}

/// The configuration that an empty file would mean.
///
/// # Errors
/// The registry lacks what no scheduler can do without: an order of the queue, a binder.
pub fn default_config(registry: &Registry) -> Result<SchedulerConfig, Vec<FieldError>> {
    let empty = json!({"apiVersion": v1::API_VERSION, "kind": v1::KIND});
    load(&empty.to_string(), registry)
}

fn build(file: &Defaulted, registry: &Registry, findings: &mut Findings) -> SchedulerConfig {
    validate::check(file, &mut findings.errors);
    selection::warn(&file.profiles, &mut findings.warnings);
    let (registry, inert) = upstream::complete(registry);
    let mut config = SchedulerConfig::new(file);
    let managed = file
        .extenders
        .iter()
        .flat_map(|extender| &extender.managed_resources);
    let ignored = managed.filter(|resource| resource.ignored_by_scheduler == Some(true));
    let ignored: Vec<&str> = ignored.map(|resource| resource.name.as_str()).collect();
    for (i, profile) in file.profiles.iter().enumerate() {
        let source = Source {
            registry: &registry,
            profile,
            path: &FieldPath::new("profiles").index(i),
            percentage: file.percentage_of_nodes_to_score,
            inert: &inert,
            ignored_resources: &ignored,
        };
        config.profiles.push(profile::assemble(source, findings));
    }
    config
}

fn finish(
    config: Option<SchedulerConfig>,
    mut findings: Findings,
) -> Result<SchedulerConfig, Vec<FieldError>> {
    match config {
        Some(mut config) if findings.errors.is_empty() => {
            config.warnings = findings.warnings;
            config.missing_defaults = findings.missing_defaults.into_iter().collect();
            Ok(config)
        }
        _ => {
            findings.errors.sort_by_key(|error| error.stage);
            Err(without_echoes(findings.errors))
        }
    }
}

/// A field that could not be read counts as absent; that it then breaks a rule is no news.
/// The errors are in the order of their stages.
fn without_echoes(errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut told: BTreeMap<FieldPath, Stage> = BTreeMap::new();
    let mut kept = errors;
    kept.retain(|error| *told.entry(error.path.clone()).or_insert(error.stage) == error.stage);
    kept
}
