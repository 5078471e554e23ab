//! All stages in a row.

use plimsoll_framework::{FieldError, FieldPath, Registry, Stage};
use serde_json::json;

use crate::defaults::{self, Defaulted};
use crate::profile::{self, Findings, Source};
use crate::scheduler_config::SchedulerConfig;
use crate::{v1, validate, yaml};

/// Loads a file.
///
/// # Errors
/// Every mistake in the file, by stage and then in the order of the file.
pub fn load(text: &str, registry: &Registry) -> Result<SchedulerConfig, Vec<FieldError>> {
    let mut findings = Findings::default();
    let file = yaml::parse(text, &mut findings.errors);
    let file = file.and_then(|file| v1::read(&file, &mut findings.errors));
    let config = file.map(|file| build(&defaults::fill(file), registry, &mut findings));
    finish(config, findings)
}

/// The configuration that an empty file would mean.
///
/// # Errors
/// The registry lacks what no scheduler can do without: an order of the queue, a binder.
pub fn default_config(registry: &Registry) -> Result<SchedulerConfig, Vec<FieldError>> {
    let empty = json!({"apiVersion": v1::API_VERSION, "kind": v1::KIND});
    load(&empty.to_string(), registry)
}

/// The errors that kube-scheduler would report of these: it stops at the first stage that
/// finds any, and at the first mistake in putting a profile together.
pub fn as_kube_scheduler(errors: &[FieldError]) -> Vec<&FieldError> {
    let first = errors.iter().map(|error| error.stage).min();
    let errors = errors.iter().filter(|error| Some(error.stage) == first);
    if first != Some(Stage::Profile) {
        return errors.collect();
    }
    let mut kept: Vec<&FieldError> = Vec::new();
    for error in errors {
        let same_profile = |other: &&&FieldError| profile_of(other) == profile_of(error);
        match kept.iter().find(same_profile) {
            Some(earlier) if !(is_args(earlier) && is_args(error)) => {}
            _ => kept.push(error),
        }
    }
    kept
}

/// `profiles[i]`, or the whole path outside profiles.
fn profile_of(error: &FieldError) -> &str {
    let path = error.path.as_str();
    path.split_once('.').map_or(path, |(profile, _)| profile)
}

fn is_args(error: &FieldError) -> bool {
    error.path.as_str().contains(".pluginConfig")
}

fn build(file: &Defaulted, registry: &Registry, findings: &mut Findings) -> SchedulerConfig {
    validate::check(file, &mut findings.errors);
    let mut config = SchedulerConfig::new(file);
    let managed = file
        .extenders
        .iter()
        .flat_map(|extender| &extender.managed_resources);
    let ignored = managed.filter(|resource| resource.ignored_by_scheduler == Some(true));
    let ignored: Vec<&str> = ignored.map(|resource| resource.name.as_str()).collect();
    for (i, profile) in file.profiles.iter().enumerate() {
        let source = Source {
            registry,
            profile,
            path: &FieldPath::new("profiles").index(i),
            percentage: file.percentage_of_nodes_to_score,
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
fn without_echoes(errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut kept: Vec<FieldError> = Vec::new();
    for error in errors {
        let echo = |earlier: &FieldError| earlier.stage < error.stage && earlier.path == error.path;
        if !kept.iter().any(echo) {
            kept.push(error);
        }
    }
    kept
}
