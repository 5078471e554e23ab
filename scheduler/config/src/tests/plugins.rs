//! Stand-ins for the plugins of kube-scheduler 1.37: their names and points, no hooks.

use plimsoll_framework::{
    Args, Depends, FieldError, FieldPath, Hooks, PluginSpec, Point, Registry, Stage,
};
use serde_json::Value;

use Point::{
    Bind, Filter, Permit, PostBind, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore,
    QueueSort, Reserve, Score,
};

/// Names and points, in the order of the documentation rather than of the defaults.
const PLUGINS: [(&str, &[Point]); 26] = [
    ("DefaultBinder", &[Bind]),
    ("DefaultPreemption", &[PreEnqueue, PostFilter]),
    ("DeferredPodScheduling", &[PreFilter, Filter, Permit]),
    (
        "DynamicResources",
        &[
            PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind,
        ],
    ),
    ("GangScheduling", &[PreEnqueue, Permit]),
    ("ImageLocality", &[Score]),
    ("InterPodAffinity", &[PreFilter, Filter, PreScore, Score]),
    ("NodeAffinity", &[PreFilter, Filter, PreScore, Score]),
    ("NodeDeclaredFeatures", &[PreFilter, Filter]),
    ("NodeName", &[PreFilter, Filter]),
    ("NodePorts", &[PreFilter, Filter]),
    ("NodeResourcesBalancedAllocation", &[PreScore, Score]),
    ("NodeResourcesFit", &[PreFilter, Filter, PreScore, Score]),
    ("NodeUnschedulable", &[PreFilter, Filter]),
    ("NodeVolumeLimits", &[PreFilter, Filter]),
    ("PodGroupPodsCount", &[]),
    ("PodTopologySpread", &[PreFilter, Filter, PreScore, Score]),
    ("PrioritySort", &[QueueSort]),
    ("SchedulingGates", &[PreEnqueue]),
    ("TaintToleration", &[PreFilter, Filter, PreScore, Score]),
    ("TopologyPlacementGenerator", &[]),
    (
        "VolumeBinding",
        &[PreFilter, Filter, PreScore, Score, Reserve, PreBind],
    ),
    ("VolumeRestrictions", &[PreFilter, Filter]),
    ("VolumeZone", &[PreFilter, Filter]),
    ("LoadAware", &[Score, PostBind]),
    ("WindowTransfer", &[Filter, Score]),
];

/// All of them.
pub(super) fn registry() -> Registry {
    without(&[])
}

/// All of them, and a point of this build alone.
pub(super) fn with_own_point() -> Registry {
    let own = PluginSpec {
        points: &[PreScore, Score],
        ..registry().get("ImageLocality").unwrap().clone()
    };
    without(&["ImageLocality"]).with(own).unwrap()
}

/// All but those.
pub(super) fn without(left_out: &[&str]) -> Registry {
    let kept = PLUGINS
        .into_iter()
        .filter(|(name, _)| !left_out.contains(name));
    Registry::new(kept.map(|(name, points)| PluginSpec {
        name,
        points,
        depends: Depends::Anything,
        decode_args: match name {
            "NodeResourcesFit" => fit_args,
            "InterPodAffinity" => weight_args,
            _ => any_args,
        },
        build: |_| Hooks::default(),
    }))
    .unwrap()
}

fn any_args(raw: &Value, _: &FieldPath, _: &mut Vec<FieldError>) -> Args {
    Args::new((), raw.clone())
}

/// Checked when the plugin is made, as in kube-scheduler.
fn fit_args(raw: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let strategy = &raw["scoringStrategy"]["type"];
    if strategy
        .as_str()
        .is_some_and(|strategy| strategy == "Wrong")
    {
        let path = path.field("scoringStrategy").field("type");
        errors.push(FieldError::new(Stage::Profile, path, "unknown strategy"));
    }
    Args::new((), raw.clone())
}

/// Checked with the file.
fn weight_args(raw: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let weight = &raw["hardPodAffinityWeight"];
    if weight
        .as_i64()
        .is_some_and(|weight| !(0..=100).contains(&weight))
    {
        let path = path.field("hardPodAffinityWeight");
        errors.push(FieldError::new(Stage::Validate, path, "must be 0 to 100"));
    }
    Args::new((), raw.clone())
}
