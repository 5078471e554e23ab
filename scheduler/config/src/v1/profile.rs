//! `profiles[]`: plugin sets per point, and args as raw JSON.

use plimsoll_framework::{FieldError, FieldPath, Point};
use serde_json::Value;

use super::PROFILE_FIELDS;
use crate::reader::Object;

/// Points at which only plugins for pod groups run. Files may name them; this version has
/// no such plugins.
pub(crate) const GROUP_POINTS: [&str; 3] =
    ["placementGenerate", "placementScore", "podGroupPostFilter"];
/// The set that stands for all points.
pub(crate) const MULTI_POINT: &str = "multiPoint";

/// One profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    pub(crate) scheduler_name: Option<String>,
    pub(crate) percentage_of_nodes_to_score: Option<i32>,
    pub(crate) plugins: Plugins,
    pub(crate) plugin_config: Vec<PluginConfig>,
}

/// `plugins`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plugins {
    pub(crate) multi_point: PluginSet,
    /// One set per point, in the order of [`Point::ALL`].
    pub(crate) points: Vec<(Point, PluginSet)>,
    /// One set per name in [`GROUP_POINTS`].
    pub(crate) group_points: Vec<(&'static str, PluginSet)>,
}

/// The plugins that a file adds to a point, and the defaults that it takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PluginSet {
    pub(crate) enabled: Vec<Plugin>,
    pub(crate) disabled: Vec<Plugin>,
}

/// One entry of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    /// 0 where the file gives none, which means the same.
    pub(crate) weight: i32,
}

/// One entry of `pluginConfig`.
#[derive(Debug, Clone, Default)]
pub(crate) struct PluginConfig {
    pub(crate) name: String,
    /// `null` where the file gives none.
    pub(crate) args: Value,
}

// === impl Profile ===

impl Profile {
    /// Reads an entry of `profiles`.
    pub(super) fn read(value: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut object = Object::open(value, path, PROFILE_FIELDS, errors);
        Self {
            scheduler_name: object.scalar("schedulerName"),
            percentage_of_nodes_to_score: object.scalar("percentageOfNodesToScore"),
            plugins: Plugins::read(&mut object),
            plugin_config: object.list("pluginConfig", PluginConfig::read),
        }
    }
}

// === impl Plugins ===

impl Plugins {
    fn read(profile: &mut Object<'_, '_>) -> Self {
        let points = Point::ALL.map(Point::as_str);
        let known: Vec<_> = [MULTI_POINT]
            .into_iter()
            .chain(points)
            .chain(GROUP_POINTS)
            .collect();
        let mut object = profile.object("plugins", &known);
        Self {
            multi_point: PluginSet::read(&mut object, MULTI_POINT),
            points: Point::ALL
                .map(|point| (point, PluginSet::read(&mut object, point.as_str())))
                .into(),
            group_points: GROUP_POINTS
                .map(|name| (name, PluginSet::read(&mut object, name)))
                .into(),
        }
    }

    /// The set with this name in the file; empty where there is none.
    pub(crate) fn set(&self, name: &str) -> &PluginSet {
        static NONE: PluginSet = PluginSet {
            enabled: Vec::new(),
            disabled: Vec::new(),
        };
        let mut sets = self.sets();
        sets.find(|(own, _)| *own == name)
            .map_or(&NONE, |(_, set)| set)
    }

    /// All sets with their names in the file, `multiPoint` first.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&'static str, &PluginSet)> {
        let points = self.points.iter().map(|(point, set)| (point.as_str(), set));
        let group_points = self.group_points.iter().map(|(name, set)| (*name, set));
        [(MULTI_POINT, &self.multi_point)]
            .into_iter()
            .chain(points)
            .chain(group_points)
    }
}

// === impl PluginSet ===

impl PluginSet {
    fn read(plugins: &mut Object<'_, '_>, name: &str) -> Self {
        let mut object = plugins.object(name, &["enabled", "disabled"]);
        Self {
            enabled: object.list("enabled", Plugin::read),
            disabled: object.list("disabled", Plugin::read),
        }
    }
}

// === impl Plugin ===

impl Plugin {
    fn read(value: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut object = Object::open(value, path, &["name", "weight"], errors);
        Self {
            name: object.scalar("name").unwrap_or_default(),
            weight: object.scalar("weight").unwrap_or(0),
        }
    }
}

// === impl PluginConfig ===

impl PluginConfig {
    fn read(value: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut object = Object::open(value, path, &["name", "args"], errors);
        Self {
            name: object.scalar("name").unwrap_or_default(),
            args: object.value("args").cloned().unwrap_or(Value::Null),
        }
    }
}
