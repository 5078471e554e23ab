//! `pluginConfig` -> args of every plugin that is enabled.
//!
//! Takes raw JSON, hands it to the plugin's own reader, gives typed args. Mistakes carry
//! the path `profiles[i].pluginConfig[j].args`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;
use plimsoll_framework::{Args, FieldError, FieldPath, PluginSpec, Stage};
use serde_json::Value;

use super::{Findings, Source};
use crate::v1;
use crate::v1::profile::PluginConfig;

/// The plugin that leaves resources to extenders.
const FIT: &str = "NodeResourcesFit";
/// The field of its args in which they stand.
const IGNORED_RESOURCES: &str = "ignoredResources";
/// A name for which kube-scheduler expects typed args although no plugin has it: people
/// write it for `NodeResourcesFit`.
const FIT_ARGS: &str = "NodeResourcesFitArgs";

/// Args by plugin name: those of the file for plugins that it configures, defaults for all
/// others in `enabled`.
pub(super) fn decode(
    source: Source<'_>,
    enabled: &BTreeSet<&str>,
    findings: &mut Findings,
) -> IndexMap<&'static str, Args> {
    let list = source.path.field("pluginConfig");
    let mut all = IndexMap::new();
    for (j, config) in source.profile.plugin_config.iter().enumerate() {
        let path = list.index(j).field("args");
        if config.name == FIT_ARGS {
            let problem = format!("these are args of `{FIT}`: write that name");
            findings
                .errors
                .push(FieldError::new(Stage::Validate, path, problem));
            continue;
        }
        let Some(spec) = source.registry.get(&config.name) else {
            continue;
        };
        let mut errors = Vec::new();
        let args = configured(spec, config, &path, source.ignored_resources, &mut errors);
        let in_use = enabled.contains(spec.name);
        // A plugin that is not made does not look at its args a second time.
        errors.retain(|error| in_use || error.stage != Stage::Profile);
        findings.errors.append(&mut errors);
        if let Some(args) = args {
            all.entry(spec.name).or_insert(args);
        }
    }
    for spec in source
        .registry
        .iter()
        .filter(|spec| enabled.contains(spec.name))
    {
        if !all.contains_key(spec.name) {
            let raw = with_ignored(spec.name, &Value::Null, source.ignored_resources);
            all.insert(
                spec.name,
                (spec.decode_args)(&raw, &list, &mut findings.errors),
            );
        }
    }
    check_ignored(source, &all, findings);
    all.sort_keys();
    all
}

/// Args of the file; `None` where they are those of something else.
fn configured(
    spec: &PluginSpec,
    config: &PluginConfig,
    path: &FieldPath,
    ignored_resources: &[&str],
    errors: &mut Vec<FieldError>,
) -> Option<Args> {
    check_type(spec, &config.args, path, errors)?;
    let raw = with_ignored(spec.name, &config.args, ignored_resources);
    Some((spec.decode_args)(&raw, path, errors))
}

/// Args may carry `apiVersion` and `kind`; then these must be right.
fn check_type(
    spec: &PluginSpec,
    args: &Value,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Option<()> {
    let text = |name: &str| {
        args.get(name)
            .map(|value| value.as_str().unwrap_or_default())
    };
    let kind = format!("{}Args", spec.name);
    let (field, problem) = match (text("apiVersion"), text("kind")) {
        (Some(version), _) if version != v1::API_VERSION => {
            ("apiVersion", v1::wrong_version(version))
        }
        (_, Some(given)) if given != kind => (
            "kind",
            format!(
                "`{given}` are not the args of {}: must be {kind}",
                spec.name
            ),
        ),
        _ => return Some(()),
    };
    errors.push(FieldError::new(Stage::Decode, path.field(field), problem));
    None
}

/// The raw args, with the resources that extenders look after in place of
/// `ignoredResources` (`scheduler.buildExtenders` overwrites them).
fn with_ignored<'v>(plugin: &str, raw: &'v Value, ignored: &[&str]) -> Cow<'v, Value> {
    if plugin != FIT || ignored.is_empty() || !(raw.is_object() || raw.is_null()) {
        return Cow::Borrowed(raw);
    }
    let mut args = raw.as_object().cloned().unwrap_or_default();
    args.insert(IGNORED_RESOURCES.to_owned(), ignored.into());
    Cow::Owned(Value::Object(args))
}

/// Somebody must be told which resources to ignore.
fn check_ignored(source: Source<'_>, all: &IndexMap<&str, Args>, findings: &mut Findings) {
    if !source.ignored_resources.is_empty() && !all.contains_key(FIT) {
        let path = source.path.as_str();
        let problem = format!("resources are ignoredByScheduler, but {path} has no {FIT} to do so");
        let field = FieldPath::new("extenders");
        findings
            .errors
            .push(FieldError::new(Stage::Profile, field, problem));
    }
}
