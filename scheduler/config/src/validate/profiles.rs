//! Rules for `profiles`: names, removed plugins, one queue order for all.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde_json::Value;

use crate::defaults::REMOVED_PLUGINS;
use crate::v1::profile::{GROUP_POINTS, MULTI_POINT, PluginConfig, Profile};

/// Points for pod groups at which removed plugins are refused by name, as at all others.
const CHECKED_GROUP_POINT: &str = GROUP_POINTS[2];

/// The point at which all profiles must agree.
const QUEUE_SORT: &str = "queueSort";

/// Checks all profiles.
pub(super) fn check(profiles: &[Profile], errors: &mut Vec<FieldError>) {
    let mut names = BTreeMap::new();
    for (i, profile) in profiles.iter().enumerate() {
        let path = FieldPath::new("profiles").index(i);
        check_name(profile, &path, errors);
        super::percentage(
            profile.percentage_of_nodes_to_score,
            path.field("percentageOfNodesToScore"),
            errors,
        );
        removed_plugins(profile, &path, errors);
        repeated_args(&profile.plugin_config, &path, errors);
        let name = profile.scheduler_name.as_deref().unwrap_or("");
        let first = *names.entry(name).or_insert(i);
        if first != i {
            let problem = format!("`{name}` is the name of profiles[{first}] already");
            errors.push(invalid(path.field("schedulerName"), problem));
        }
    }
    one_queue_order(profiles, errors);
}

fn check_name(profile: &Profile, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if profile.scheduler_name.as_deref().unwrap_or("").is_empty() {
        let problem = "required: only a single profile may go without a name";
        errors.push(invalid(path.field("schedulerName"), problem));
    }
}

/// In `multiPoint` such a name is just an unknown plugin.
fn removed_plugins(profile: &Profile, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let problem = |name: &str| {
        format!(
            "plugin `{name}` was removed from kube-scheduler: `NodeVolumeLimits` counts the \
             volumes of CSI drivers"
        )
    };
    for (point, set) in profile.plugins.sets() {
        let group = GROUP_POINTS.contains(&point) && point != CHECKED_GROUP_POINT;
        if point == MULTI_POINT || group {
            continue;
        }
        for (i, plugin) in set.enabled.iter().enumerate() {
            if REMOVED_PLUGINS.contains(&plugin.name.as_str()) {
                let path = path.field("plugins").field(point).field("enabled").index(i);
                errors.push(invalid(path, problem(&plugin.name)));
            }
        }
    }
    for (j, config) in profile.plugin_config.iter().enumerate() {
        if REMOVED_PLUGINS.contains(&config.name.as_str()) {
            let path = path.field("pluginConfig").index(j);
            errors.push(invalid(path, problem(&config.name)));
        }
    }
}

fn repeated_args(configs: &[PluginConfig], path: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut seen = BTreeSet::new();
    for (j, config) in configs.iter().enumerate() {
        if !seen.insert(config.name.as_str()) {
            let problem = format!("`{}` has an entry already", config.name);
            errors.push(invalid(path.field("pluginConfig").index(j), problem));
        }
    }
}

/// All profiles share one queue, so all must sort it in the same way: same plugins (written
/// the same way), same args.
fn one_queue_order(profiles: &[Profile], errors: &mut Vec<FieldError>) {
    let Some((first, others)) = profiles.split_first() else {
        return;
    };
    let sort = first.plugins.set(QUEUE_SORT);
    let path = |i| FieldPath::new("profiles").index(i);
    if sort.enabled.len() > 1 {
        // The field is spelt as kube-scheduler spells it.
        let path = path(0).field("plugins").field("queueSort").field("Enabled");
        let problem = format!(
            "only one plugin can sort the queue, not {}",
            sort.enabled.len()
        );
        errors.push(invalid(path, problem));
    }
    let sorter = sort.enabled.first().map(|plugin| plugin.name.as_str());
    let args = sorter.and_then(|name| args_of(first, name));
    for (i, profile) in others.iter().enumerate() {
        let path = path(i + 1);
        if profile.plugins.set(QUEUE_SORT) != sort {
            let problem = "must be the same for all profiles: they share one queue";
            errors.push(invalid(path.field("plugins").field("queueSort"), problem));
        }
        let own = sorter.and_then(|name| args_of(profile, name));
        if own.is_some() && own != args {
            let problem =
                "args of the plugin that sorts the queue must be the same for all profiles";
            errors.push(invalid(path.field("pluginConfig").field("args"), problem));
        }
    }
}

/// The args of `plugin`; the last entry counts.
fn args_of<'p>(profile: &'p Profile, plugin: &str) -> Option<&'p Value> {
    let mut entries = profile.plugin_config.iter().rev();
    entries
        .find(|config| config.name == plugin)
        .map(|config| &config.args)
}

fn invalid(path: FieldPath, problem: impl Into<String>) -> FieldError {
    FieldError::new(Stage::Validate, path, problem)
}
