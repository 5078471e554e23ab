//! How much a score that the file adds counts beside the others.
//!
//! Takes the lists of a profile, warns where a plugin that was put in to be heard has
//! little to say.

use plimsoll_framework::Point;

use super::expand::Place;
use super::{EnabledPlugin, Source, merge};
use crate::scheduler_config::Warning;
use crate::v1::profile::MULTI_POINT;

/// Below this part of all weights a plugin cannot outweigh the rest together, nor any few
/// of them: it only breaks ties.
const SHARE_MIN: f64 = 0.25;
/// Others that are named; the rest is counted.
const NAMED_MAX: usize = 4;

/// Keeps a warning for every plugin of the file whose weight is lost among the others.
/// Default plugins have the weights that kube-scheduler gives them; nobody put them in.
pub(super) fn warn(
    source: Source<'_>,
    lists: &[(Place, Vec<EnabledPlugin>)],
    warnings: &mut Vec<Warning>,
) {
    let scores = lists
        .iter()
        .find(|(place, _)| *place == Place::At(Point::Score));
    let Some((_, scores)) = scores else { return };
    // A negative weight has a warning of its own, and no share.
    if scores.iter().any(|plugin| plugin.weight < 0) {
        return;
    }
    let total: f64 = scores.iter().map(|plugin| plugin.weight as f64).sum();
    for plugin in scores {
        let share = plugin.weight as f64 / total;
        if merge::default_name(plugin.spec.name).is_none() && share < SHARE_MIN {
            let rest = total - plugin.weight as f64;
            let text = text(plugin, scores, (share, rest));
            warnings.push(Warning {
                path: path(source, plugin.spec.name),
                text,
            });
        }
    }
}

fn text(plugin: &EnabledPlugin, scores: &[EnabledPlugin], (share, rest): (f64, f64)) -> String {
    let EnabledPlugin { spec, weight } = plugin;
    let mut others: Vec<&EnabledPlugin> = scores
        .iter()
        .filter(|other| other.spec.name != spec.name)
        .collect();
    others.sort_by_key(|other| std::cmp::Reverse(other.weight));
    let named = others.iter().take(NAMED_MAX);
    let mut list: Vec<String> = named
        .map(|other| format!("{} {}", other.spec.name, other.weight))
        .collect();
    if let Some(more @ 1..) = others.len().checked_sub(NAMED_MAX) {
        list.push(format!("{more} more"));
    }
    format!(
        "`{}` is {:.0} % of the score: its weight {weight} is diluted by {}; a weight of {rest} \
         would make it half",
        spec.name,
        share * 100.0,
        list.join(", "),
    )
}

/// The entry that brought the plugin in.
fn path(source: Source<'_>, name: &str) -> plimsoll_framework::FieldPath {
    let plugins = source.path.field("plugins");
    for set in [Point::Score.as_str(), MULTI_POINT] {
        let enabled = &source.profile.plugins.set(set).enabled;
        if let Some(i) = enabled.iter().position(|plugin| plugin.name == name) {
            return plugins.field(set).field("enabled").index(i);
        }
    }
    plugins
}
