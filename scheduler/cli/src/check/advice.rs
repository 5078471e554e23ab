//! What only somebody who knows the plugins can say: settings that work against each other,
//! and what this build does not do.

mod fight;

use plimsoll_config::{Extender, NodesToScore, Profile, SchedulerConfig, Warning};
use plimsoll_framework::{FieldPath, Point};

/// Name of the score by measured load.
const LOAD_SCORE: &str = "ActualLoadScore";
/// Name of the limit of measured load.
const LOAD_FILTER: &str = "ActualLoadFilter";

/// Every such warning.
pub(super) fn about(config: &SchedulerConfig) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let extenders = config.extenders.iter().enumerate();
    warnings.extend(extenders.filter_map(|(i, extender)| holds_everybody(extender, i)));
    if !config.missing_defaults.is_empty() {
        let names = config.missing_defaults.join(", ");
        let text = format!(
            "default plugins of kube-scheduler that this build does not have: {names}; pods \
             that need their verdicts must not be given to it"
        );
        warnings.push(warning(FieldPath::default(), text));
    }
    for (i, profile) in config.profiles.iter().enumerate() {
        let path = FieldPath::new("profiles").index(i);
        warnings.extend(part_of_the_nodes(profile, &path));
        warnings.extend(fight::about(profile, &path));
    }
    warnings
}

/// An extender that every pod has to pass, also its own.
fn holds_everybody(extender: &Extender, index: usize) -> Option<Warning> {
    let stops = extender.filter_verb.is_some() || extender.bind_verb.is_some();
    let all = extender.managed_resources.is_empty();
    (stops && all && !extender.ignorable).then(|| {
        let text = "while this extender is down no pod is placed, not even its own replacement: \
                    set `ignorable: true`, name its `managedResources`, or run its pods by \
                    another scheduler";
        warning(FieldPath::new("extenders").index(index), text)
    })
}

/// Load is compared among the nodes that were looked at, and no others.
fn part_of_the_nodes(profile: &Profile, path: &FieldPath) -> Option<Warning> {
    let says = match profile.percentage_of_nodes_to_score {
        NodesToScore::All | NodesToScore::Percent(100) => return None,
        NodesToScore::Adaptive => "0 looks at a part of a large cluster",
        NodesToScore::Percent(_) => "it looks at a part of the nodes",
    };
    let path = if profile.percentage_is_own {
        path.field("percentageOfNodesToScore")
    } else {
        FieldPath::new("percentageOfNodesToScore")
    };
    runs(profile, Point::Score, LOAD_SCORE).then(|| {
        let text = format!(
            "{says}, so `{LOAD_SCORE}` may never see the least loaded node: leave the field out, \
             all nodes are cheap here"
        );
        warning(path, text)
    })
}

/// Whether a plugin runs at `point`.
fn runs(profile: &Profile, point: Point, name: &str) -> bool {
    let mut plugins = profile.points.at(point).iter();
    plugins.any(|plugin| plugin.spec.name == name)
}

fn warning(path: FieldPath, text: impl Into<String>) -> Warning {
    let text = text.into();
    Warning { path, text }
}
