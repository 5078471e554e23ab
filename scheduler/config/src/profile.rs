//! One profile: which plugin runs at which point, in which order, with which args.
//!
//! Takes a profile of the file and the plugins of the binary, gives lists per point.
//! Mirrors the merge of `apis/config/v1/default_plugins.go` and the expansion of
//! `framework/runtime/framework.go` of Kubernetes 1.37. Mistakes are kept in the order in
//! which kube-scheduler would meet them.

mod args;
mod expand;
mod merge;
mod others;
pub(crate) mod selection;
mod share;
mod unknown;
pub(crate) mod upstream;
mod warn;

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_framework::{Args, FieldError, FieldPath, PluginSpec, Point, Registry};

use self::expand::{Expansion, Place};
use self::merge::Entry;
use crate::scheduler_config::{NodesToScore, Warning};
use crate::v1;
use crate::v1::profile::{GROUP_POINTS, MULTI_POINT};

/// A profile with everything decided.
#[derive(Debug, Clone)]
pub struct Profile {
    /// `schedulerName`: the pods it schedules.
    pub scheduler_name: Arc<str>,
    /// How many feasible nodes are enough: its own setting, else that of the file.
    pub percentage_of_nodes_to_score: NodesToScore,
    /// Whether that is its own setting.
    pub percentage_is_own: bool,
    /// What runs where.
    pub points: Points,
    /// Args of every plugin that is enabled anywhere, by name.
    pub args: IndexMap<&'static str, Args>,
    /// The plugins as kube-scheduler would list them: with the points for pod groups and
    /// plugins of features that are off, without points of this build alone.
    pub listing: Vec<PointListing>,
    /// Where in the file the args of a plugin stand, for those that it configures.
    pub args_paths: IndexMap<&'static str, FieldPath>,
}

/// One point and its plugins, in run order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointListing {
    /// Its name in the file.
    pub point: &'static str,
    /// The plugins; weights at points with scores.
    pub plugins: Vec<(&'static str, Option<i64>)>,
}

/// The plugins at every point, in run order.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// One list per point, in the order of [`Point::ALL`].
    lists: [Vec<EnabledPlugin>; Point::ALL.len()],
}

/// A plugin at a point.
#[derive(Debug, Clone)]
pub struct EnabledPlugin {
    /// The plugin.
    pub spec: PluginSpec,
    /// Factor for its scores; 1 at every point but score. A file may give a negative one.
    pub weight: i64,
}

/// What is found beside the result.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<FieldError>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) missing_defaults: BTreeSet<&'static str>,
}

/// A profile of the file, where it is, and what it shares with the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) profile: &'a v1::profile::Profile,
    /// `profiles[i]`.
    pub(crate) path: &'a FieldPath,
    /// `percentageOfNodesToScore` of the file.
    pub(crate) percentage: Option<i32>,
    /// Plugins of the registry that are only names.
    pub(crate) inert: &'a [&'static str],
    /// Resources that extenders look after, to be ignored by `NodeResourcesFit`.
    pub(crate) ignored_resources: &'a [&'a str],
}

/// Puts a profile together.
pub(crate) fn assemble(source: Source<'_>, findings: &mut Findings) -> Profile {
    let Source {
        profile,
        path,
        registry,
        ..
    } = source;
    let multi = merge::defaults(&profile.plugins.multi_point);
    let missing = multi.iter().filter(|entry| entry.origin.is_none());
    for name in missing.filter_map(|entry| merge::default_name(&entry.name)) {
        if registry.get(name).is_none() {
            findings.missing_defaults.insert(name);
        }
    }
    warn::profile(source, &mut findings.warnings);
    let args = args::decode(source, &enabled(profile, &multi, &[MULTI_POINT]), findings);
    let defaulted = enabled(profile, &multi, &[MULTI_POINT, GROUP_POINTS[2]]);
    args::check_given(source, &defaulted, findings);
    let expansion = Expansion::new(registry, &profile.plugins, &multi, path.field("plugins"));
    let lists = expansion.run(&mut findings.errors);
    share::warn(source, &lists, &mut findings.warnings);
    let own = profile.percentage_of_nodes_to_score;
    Profile {
        scheduler_name: Arc::from(profile.scheduler_name.as_deref().unwrap_or("")),
        percentage_of_nodes_to_score: NodesToScore::from_file(own.or(source.percentage)),
        percentage_is_own: own.is_some(),
        listing: lists.iter().filter_map(PointListing::of).collect(),
        points: Points::running(lists, source.inert),
        args,
        args_paths: args_paths(source),
    }
}

fn args_paths(source: Source<'_>) -> IndexMap<&'static str, FieldPath> {
    let configs = source.profile.plugin_config.iter().enumerate();
    let list = source.path.field("pluginConfig");
    let known = configs.filter_map(|(j, config)| {
        let spec = source.registry.get(&config.name)?;
        Some((spec.name, list.index(j).field("args")))
    });
    known.collect()
}

/// The names that stand in `multi` or in any list of enabled plugins, those of `but` apart.
fn enabled<'p>(
    profile: &'p v1::profile::Profile,
    multi: &'p [Entry],
    but: &[&str],
) -> BTreeSet<&'p str> {
    let sets = profile.plugins.sets();
    let at_points = sets.filter(|(name, _)| !but.contains(name));
    let at_points = at_points.flat_map(|(_, set)| &set.enabled);
    let at_points = at_points.map(|plugin| plugin.name.as_str());
    let multi = multi.iter().map(|entry| entry.name.as_str());
    multi.chain(at_points).collect()
}

// === impl PointListing ===

impl PointListing {
    /// `None` where nothing is listed.
    fn of((place, list): &(Place, Vec<EnabledPlugin>)) -> Option<Self> {
        let point = place.name();
        let shown = list
            .iter()
            .filter(|plugin| !upstream::is_own(plugin.spec.name, point));
        let plugins: Vec<_> = shown
            .map(|plugin| (plugin.spec.name, place.is_scored().then_some(plugin.weight)))
            .collect();
        (!plugins.is_empty()).then_some(Self { point, plugins })
    }
}

// === impl Points ===

impl Points {
    /// The plugins at `point`, in run order.
    pub fn at(&self, point: Point) -> &[EnabledPlugin] {
        position(point).map_or(&[], |at| &self.lists[at])
    }

    /// Every point with its plugins, in the order in which a pod meets them.
    pub fn iter(&self) -> impl Iterator<Item = (Point, &[EnabledPlugin])> {
        Point::ALL.into_iter().map(|point| (point, self.at(point)))
    }

    /// What runs of `lists`: nothing of pod groups, nothing that is only a name.
    fn running(lists: Vec<(Place, Vec<EnabledPlugin>)>, inert: &[&str]) -> Self {
        let mut points = Self::default();
        for (place, mut list) in lists {
            if let Place::At(point) = place
                && let Some(at) = position(point)
            {
                list.retain(|plugin| !inert.contains(&plugin.spec.name));
                points.lists[at] = list;
            }
        }
        points
    }
}

fn position(point: Point) -> Option<usize> {
    Point::ALL.iter().position(|own| *own == point)
}
