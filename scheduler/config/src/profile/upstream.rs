//! What this build and kube-scheduler do not have in common: points for pod groups, points
//! of this build alone, plugins of features that are off.
//!
//! A file may name all that kube-scheduler has, and the effective configuration lists it;
//! what runs is another matter, decided here too.

use std::borrow::Cow;

use plimsoll_framework::{Args, Depends, Hooks, PluginSpec, Point, Registry};

use crate::defaults::GATED_PLUGINS;
use crate::v1::profile::GROUP_POINTS;

/// Which plugins kube-scheduler runs at the points for pod groups.
const GROUP_PLUGINS: [(&str, &str); 5] = [
    ("TopologyPlacementGenerator", GROUP_POINTS[0]),
    ("NodeResourcesFit", GROUP_POINTS[1]),
    ("PodGroupPodsCount", GROUP_POINTS[1]),
    ("DefaultPreemption", GROUP_POINTS[2]),
    ("DynamicResources", GROUP_POINTS[2]),
];
/// Points that a plugin has in this build alone: files cannot name them, and nobody is
/// shown them. `Differs:` see the plugin.
const OWN_POINTS: [(&str, Point); 1] = [("ImageLocality", Point::PreScore)];
/// Plugins whose args have a kind in kube-scheduler; it never reads those of its others.
const WITH_ARGS: [&str; 8] = [
    "DefaultPreemption",
    "DynamicResources",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "PodTopologySpread",
    "VolumeBinding",
];

/// `registry` with a stand-in for each plugin of a feature that is off, where it has none
/// of its own: in kube-scheduler such plugins may be enabled and then let every pod pass.
/// And the names of the stand-ins, which must not run.
pub(crate) fn complete(registry: &Registry) -> (Cow<'_, Registry>, Vec<&'static str>) {
    let mut complete = Cow::Borrowed(registry);
    let mut inert = Vec::new();
    for (name, points) in GATED_PLUGINS {
        if let Ok(larger) = complete.as_ref().clone().with(stand_in(name, points)) {
            complete = Cow::Owned(larger);
            inert.push(name);
        }
    }
    (complete, inert)
}

fn stand_in(name: &'static str, points: &'static [Point]) -> PluginSpec {
    PluginSpec {
        name,
        points,
        depends: Depends::Anything,
        decode_args: |raw, _, _| Args::new((), raw.clone()),
        build: |_| Hooks::default(),
    }
}

/// Whether a plugin runs at `place`, a point or a point for pod groups.
pub(super) fn serves(spec: &PluginSpec, place: &str) -> bool {
    let group = GROUP_PLUGINS.contains(&(spec.name, place));
    group || spec.points.iter().any(|point| point.as_str() == place)
}

/// Whether a plugin has `place` in this build alone.
pub(super) fn is_own(plugin: &str, place: &str) -> bool {
    let mut own = OWN_POINTS.iter();
    own.any(|(name, point)| *name == plugin && point.as_str() == place)
}

/// Every place that a file may name a plugin at, `multiPoint` apart.
pub(super) fn places(spec: &PluginSpec) -> impl Iterator<Item = &'static str> {
    let points = Point::ALL.into_iter().map(Point::as_str);
    let all = points.chain(GROUP_POINTS);
    all.filter(|place| serves(spec, place) && !is_own(spec.name, place))
}

/// Whether kube-scheduler looks at the args of its plugin `name`; `None`: it has no such
/// plugin.
pub(super) fn reads_args(name: &str) -> Option<bool> {
    super::unknown::is_upstream(name).then(|| WITH_ARGS.contains(&name))
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::Registry;

    use super::complete;

    #[test]
    fn a_plugin_that_a_build_has_is_not_replaced() {
        let none = Registry::default();
        let (registry, inert) = complete(&none);
        assert_eq!((registry.iter().count(), inert.len()), (4, 4));
        let own = registry.into_owned();
        let (again, inert) = complete(&own);
        assert_eq!((again.iter().count(), inert.len()), (4, 0));
    }
}
