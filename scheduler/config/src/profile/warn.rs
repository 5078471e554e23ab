//! What a profile may say but hardly means.

use plimsoll_framework::{FieldPath, Point, Registry};

use super::args::FIT_ARGS;
use super::merge::ALL;
use super::{Source, unknown};
use crate::defaults::REMOVED_PLUGINS;
use crate::scheduler_config::Warning;
use crate::v1::profile::{GROUP_POINTS, MULTI_POINT, PluginSet};

/// Keeps every warning about `source`.
pub(super) fn profile(source: Source<'_>, warnings: &mut Vec<Warning>) {
    for (point, set) in source.profile.plugins.sets() {
        let path = source.path.field("plugins").field(point);
        disabled(set, &path, source.registry, warnings);
        weights(set, point, &path, warnings);
        if GROUP_POINTS.contains(&point) && !set.enabled.is_empty() {
            let text = "plugins for pod groups are not run by this build".to_owned();
            warnings.push(Warning { path, text });
        } else {
            names_only(set, &path, source.inert, warnings);
        }
    }
    for (j, config) in source.profile.plugin_config.iter().enumerate() {
        let refused = REMOVED_PLUGINS.contains(&config.name.as_str()) || config.name == FIT_ARGS;
        if source.registry.get(&config.name).is_none() && !refused {
            let path = source.path.field("pluginConfig").index(j);
            let problem = unknown::describe(&config.name, source.registry);
            warnings.push(Warning {
                path,
                text: format!("these args are not read: {problem}"),
            });
        }
    }
}

/// Plugins of kube-scheduler's gated features may be named; here they do nothing.
fn names_only(set: &PluginSet, path: &FieldPath, inert: &[&str], warnings: &mut Vec<Warning>) {
    for (i, plugin) in set.enabled.iter().enumerate() {
        let name = plugin.name.as_str();
        if inert.contains(&name) {
            let path = path.field("enabled").index(i);
            let text = format!(
                "`{name}` does nothing here: it belongs to a feature that kube-scheduler has \
                 switched off by default and this build does not have"
            );
            warnings.push(Warning { path, text });
        }
    }
}

/// Disabling what does not exist changes nothing; most often it is a misspelt name.
fn disabled(set: &PluginSet, path: &FieldPath, registry: &Registry, warnings: &mut Vec<Warning>) {
    for (i, plugin) in set.disabled.iter().enumerate() {
        let name = plugin.name.as_str();
        if name != ALL && registry.get(name).is_none() && !unknown::is_upstream(name) {
            let path = path.field("disabled").index(i);
            let problem = unknown::describe(name, registry);
            warnings.push(Warning {
                path,
                text: format!("nothing is disabled: {problem}"),
            });
        }
    }
}

fn weights(set: &PluginSet, point: &str, path: &FieldPath, warnings: &mut Vec<Warning>) {
    let weighted = [MULTI_POINT, Point::Score.as_str(), GROUP_POINTS[1]].contains(&point);
    for (i, plugin) in set.enabled.iter().enumerate() {
        let name = &plugin.name;
        let text = if plugin.weight != 0 && !weighted {
            format!("the weight of `{name}` has no effect here: set it at `score`")
        } else if plugin.weight < 0 {
            format!("the weight of `{name}` is negative: what it likes best counts worst")
        } else {
            continue;
        };
        let path = path.field("enabled").index(i).field("weight");
        warnings.push(Warning { path, text });
    }
}
