//! Settings of one profile that pull in opposite directions.

use plimsoll_config::{Profile, Warning};
use plimsoll_framework::{Args, FieldPath, Point};
use serde_json::Value;

use super::{LOAD_FILTER, LOAD_SCORE, runs, warning};

/// Name of the score by requests.
const FIT: &str = "NodeResourcesFit";
/// Resources that both load plugins know.
const RESOURCES: [&str; 3] = ["cpu", "memory", "network"];

/// Every such pair.
pub(super) fn about(profile: &Profile, path: &FieldPath) -> Vec<Warning> {
    if !runs(profile, Point::Score, LOAD_SCORE) {
        return Vec::new();
    }
    let found = [
        line_below_target(profile, path),
        requests_the_other_way(profile, path),
        no_load(profile, path),
    ];
    found.into_iter().flatten().collect()
}

/// Nodes are filled to a target, but turned down before they reach it.
fn line_below_target(profile: &Profile, path: &FieldPath) -> Option<Warning> {
    let score = effective(profile, LOAD_SCORE)?;
    let target = score.get("packTarget")?.as_f64()?;
    if !runs(profile, Point::Filter, LOAD_FILTER) {
        return None;
    }
    let filter = effective(profile, LOAD_FILTER)?;
    let below = RESOURCES.into_iter().filter_map(|resource| {
        let line = filter.get("thresholds")?.get(resource)?.as_f64()?;
        let fights = line <= target && weight(score, resource) > 0.0;
        fights.then(|| format!("{resource} {line}"))
    });
    let below: Vec<String> = below.collect();
    if below.is_empty() {
        return None;
    }
    let turned_down = match filter.get("mode").and_then(Value::as_str) {
        Some("hard") => "rejects them",
        _ => "avoids them",
    };
    let text = format!(
        "`{LOAD_SCORE}` fills nodes to a load of {target} (packTarget), but `{LOAD_FILTER}` \
         {turned_down} at {}: set the thresholds above the target",
        below.join(", ")
    );
    Some(warning(at(profile, path, LOAD_FILTER, "thresholds"), text))
}

/// One packs by load while the other spreads by requests, or the other way round.
fn requests_the_other_way(profile: &Profile, path: &FieldPath) -> Option<Warning> {
    let strategy = effective(profile, LOAD_SCORE)?.get("strategy")?.as_str()?;
    if !runs(profile, Point::Score, FIT) {
        return None;
    }
    let fit = effective(profile, FIT)?;
    let kind = fit.get("scoringStrategy")?.get("type")?.as_str()?;
    let (does, undoes, mend) = match (strategy, kind) {
        ("pack", "LeastAllocated") => ("packs nodes", "spreads", "MostAllocated"),
        ("spread", "MostAllocated") => ("spreads load", "packs", "LeastAllocated"),
        _ => return None,
    };
    let text = format!(
        "`{LOAD_SCORE}` {does} by measured load while `{FIT}` {undoes} by requests ({kind}): set \
         its `scoringStrategy.type` to {mend}, or disable it at `score`"
    );
    Some(warning(at(profile, path, LOAD_SCORE, "strategy"), text))
}

/// The score by load was told not to look at load.
fn no_load(profile: &Profile, path: &FieldPath) -> Option<Warning> {
    let load = effective(profile, LOAD_SCORE)?
        .get("loadWeight")?
        .as_f64()?;
    (load == 0.0).then(|| {
        let text = format!(
            "with loadWeight 0 `{LOAD_SCORE}` scores by requests alone, as `{FIT}` does already"
        );
        warning(at(profile, path, LOAD_SCORE, "loadWeight"), text)
    })
}

/// The field of a plugin's args: where the file has them, else the profile.
fn at(profile: &Profile, path: &FieldPath, plugin: &str, field: &str) -> FieldPath {
    let args = profile.args_paths.get(plugin);
    args.map_or_else(|| path.clone(), |args| args.field(field))
}

fn effective<'p>(profile: &'p Profile, plugin: &str) -> Option<&'p Value> {
    profile.args.get(plugin).map(Args::effective)
}

/// The weight of a resource in the load.
fn weight(score: &Value, resource: &str) -> f64 {
    let list = score.get("resources").and_then(Value::as_array);
    let mut entries = list.into_iter().flatten();
    let entry = entries.find(|entry| entry.get("name").and_then(Value::as_str) == Some(resource));
    let weight = entry.and_then(|entry| entry.get("weight")?.as_f64());
    weight.unwrap_or(0.0)
}
