//! One profile: which plugin runs at which point, in which order, with which args.
//!
//! Takes a profile of the file and the plugins of the binary, gives lists per point.
//! Mirrors the merge of `apis/config/v1/default_plugins.go` and the expansion of
//! `framework/runtime/framework.go` of Kubernetes 1.37. Mistakes are kept in the order in
//! which kube-scheduler would meet them.

mod args;
mod expand;
mod merge;
mod unknown;
mod warn;

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_framework::{Args, FieldError, FieldPath, PluginSpec, Point, Registry};

use self::expand::Expansion;
use self::merge::Entry;
use crate::scheduler_config::{NodesToScore, Warning};
use crate::v1;

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
    let enabled = enabled(profile, &multi);
    let args = args::decode(source, &enabled, findings);
    let expansion = Expansion::new(registry, &profile.plugins, &multi, path.field("plugins"));
    let points = expansion.run(&mut findings.errors);
    let own = profile.percentage_of_nodes_to_score;
    Profile {
        scheduler_name: Arc::from(profile.scheduler_name.as_deref().unwrap_or("")),
        percentage_of_nodes_to_score: NodesToScore::from_file(own.or(source.percentage)),
        percentage_is_own: own.is_some(),
        points,
        args,
    }
}

/// The names that stand in any list of enabled plugins.
fn enabled<'p>(profile: &'p v1::profile::Profile, multi: &'p [Entry]) -> BTreeSet<&'p str> {
    let at_points = profile
        .plugins
        .points
        .iter()
        .flat_map(|(_, set)| &set.enabled);
    let at_points = at_points.map(|plugin| plugin.name.as_str());
    multi
        .iter()
        .map(|entry| entry.name.as_str())
        .chain(at_points)
        .collect()
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

    fn set(&mut self, point: Point, list: Vec<EnabledPlugin>) {
        if let Some(at) = position(point) {
            self.lists[at] = list;
        }
    }
}

fn position(point: Point) -> Option<usize> {
    Point::ALL.iter().position(|own| *own == point)
}
