//! `pluginConfig` -> args of every plugin that is enabled.
//!
//! Takes raw JSON, hands it to the plugin's own reader, gives typed args. Mistakes carry
//! the path `profiles[i].pluginConfig[j].args`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;
use plimsoll_framework::{Args, FieldError, FieldPath, PluginSpec, Stage};
use serde_json::Value;

use super::{Findings, Source, upstream};
use crate::names::nearest;
use crate::reader::{UNKNOWN_FIELD, readable};
use crate::v1;
use crate::v1::profile::{GROUP_POINTS, PluginConfig};

/// The plugin that leaves resources to extenders.
const FIT: &str = "NodeResourcesFit";
/// The field of its args in which they stand.
const IGNORED_RESOURCES: &str = "ignoredResources";
/// A name for which kube-scheduler expects typed args although no plugin has it: people
/// write it for `NodeResourcesFit`.
pub(super) const FIT_ARGS: &str = "NodeResourcesFitArgs";

/// Fields of the args of all plugins, for a hint.
const ARGS_FIELDS: [&str; 16] = [
    "addedAffinity",
    "bindTimeoutSeconds",
    "bindingTimeout",
    "defaultConstraints",
    "defaultingType",
    "filterTimeout",
    "hardPodAffinityWeight",
    "ignorePreferredTermsOfExistingPods",
    "ignoredResourceGroups",
    "ignoredResources",
    "loadWeight",
    "minCandidateNodesAbsolute",
    "minCandidateNodesPercentage",
    "packTarget",
    "scoringStrategy",
    "thresholds",
];

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
        for error in errors
            .iter_mut()
            .filter(|error| error.stage == Stage::Decode)
        {
            clearer(error, &path);
        }
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
    all.retain(|name, _| enabled.contains(name));
    all.sort_keys();
    all
}

/// A mistake of reading as this crate words it, with the field that was probably meant.
fn clearer(error: &mut FieldError, args: &FieldPath) {
    error.problem = readable(&error.problem);
    let prefix = format!("{args}.");
    let Some(name) = error.path.as_str().strip_prefix(&prefix) else {
        return;
    };
    if error.problem == UNKNOWN_FIELD
        && let Some(meant) = nearest(name, ARGS_FIELDS)
    {
        error.problem = format!("{UNKNOWN_FIELD} (did you mean `{meant}`?)");
    }
}

/// Args of the file; `None` where they are those of something else.
fn configured(
    spec: &PluginSpec,
    config: &PluginConfig,
    path: &FieldPath,
    ignored_resources: &[&str],
    errors: &mut Vec<FieldError>,
) -> Option<Args> {
    // Args that nobody reads may say they are of any kind.
    if upstream::reads_args(spec.name) != Some(false) {
        check_version(&config.args, path, errors);
        check_kind(spec, &config.args, path, errors)?;
    }
    let raw = with_ignored(spec.name, &config.args, ignored_resources);
    Some((spec.decode_args)(&raw, path, errors))
}

/// Args may carry `apiVersion` and `kind`; then these must be right. Args of an old version
/// are looked at all the same, for the file is to be mended in one go.
fn check_version(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let version = args.get("apiVersion");
    let version = version.map(|value| value.as_str().unwrap_or_default());
    if let Some(version) = version.filter(|version| *version != v1::API_VERSION) {
        let problem = v1::old::args_version(version);
        let path = path.field("apiVersion");
        errors.push(FieldError::new(Stage::Decode, path, problem));
    }
}

fn check_kind(
    spec: &PluginSpec,
    args: &Value,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Option<()> {
    let expected = format!("{}Args", spec.name);
    let given = args.get("kind");
    let given = given.map(|value| value.as_str().unwrap_or_default());
    let Some(given) = given.filter(|given| *given != expected) else {
        return Some(());
    };
    let name = spec.name;
    let problem = format!("`{given}` are not the args of {name}: must be {expected}");
    let path = path.field("kind");
    errors.push(FieldError::new(Stage::Decode, path, problem));
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

/// kube-scheduler gives default args to the plugins `defaulted` alone, and then cannot make
/// another one without an entry of its own.
pub(super) fn check_given(source: Source<'_>, defaulted: &BTreeSet<&str>, findings: &mut Findings) {
    let group = GROUP_POINTS[2];
    for plugin in &source.profile.plugins.set(group).enabled {
        let name = plugin.name.as_str();
        let mut configs = source.profile.plugin_config.iter();
        let given = defaulted.contains(name) || configs.any(|config| config.name == name);
        if upstream::reads_args(name) == Some(true) && !given {
            let path = source.path.field("pluginConfig");
            let problem = format!(
                "`{name}` is enabled at `{group}` alone, where it has no default args: add an \
                 entry for it, or enable it at another point too"
            );
            findings
                .errors
                .push(FieldError::new(Stage::Profile, path, problem));
        }
    }
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
