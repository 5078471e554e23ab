//! `ActualLoadScoreArgs`: reading, defaults, rules.
//!
//! | field | default | |
//! | --- | --- | --- |
//! | `loadWeight` | 0.7 | 0..1: how much load counts beside requests; 0 turns load off |
//! | `strategy` | `spread` | or `pack` |
//! | `resources` | cpu, memory, network with weight 1 | weights 0..100; one that is not named has weight 0 |
//! | `spanFloor` | 0.20 | above 0, to 1, `spread` only: loads this far apart get the whole range of scores |
//! | `tieBand` | 0.02 | 0..1, `spread` only: loads this near to the lowest are equally good |
//! | `packTarget` | 0.6 | above 0 and below 1, `pack` only: the load to fill nodes to |

use std::ops::RangeInclusive;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

use super::maths::Weights;
use crate::resource_list::{self, Entry};

/// Load decides, requests keep a say: they hold room for what a pod may yet use.
const LOAD_WEIGHT: f64 = 0.7;
/// Loads a fifth of a node apart differ in full: closer ones are mostly noise.
const SPAN_FLOOR: f64 = 0.20;
/// What a small pod changes: below it nodes are the same, and the draw spreads pods.
const TIE_BAND: f64 = 0.02;
/// Nodes this full have room for bursts, and many of them still go empty.
const PACK_TARGET: f64 = 0.6;
/// Weight of a resource that is named without one, and of all three by default.
const WEIGHT: i64 = 1;
/// Largest weight of a resource.
const WEIGHT_MAX: i64 = 100;

const SPREAD: &str = "spread";
const PACK: &str = "pack";
const NAMES: [&str; 3] = ["cpu", "memory", "network"];

/// What the plugin is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ActualLoadScoreArgs {
    /// 0..=1.
    pub load_weight: f64,
    /// Of each resource in the load; at least one above 0 unless `load_weight` is 0.
    pub weights: Weights,
    /// How loads become scores.
    pub strategy: Strategy,
}

/// How loads become scores. Loads are parts of capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strategy {
    /// The less loaded the better.
    Spread {
        /// Above 0.
        span_floor: f64,
        /// From 0.
        tie_band: f64,
    },
    /// The nearer to the target the better, as long as it is not exceeded.
    Pack {
        /// Above 0 and below 1.
        target: f64,
    },
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let load_weight = number(&mut fields, "loadWeight", LOAD_WEIGHT, 0.0..=1.0);
    let weights = weights(&mut fields);
    let strategy = strategy(&mut fields);
    if load_weight > 0.0
        && weights
            == (Weights {
                cpu: 0.0,
                memory: 0.0,
                network: 0.0,
            })
    {
        let problem = "must have a weight above 0; to judge by requests alone, set loadWeight to 0";
        fields.reject("resources", Stage::Validate, problem);
    }
    fields.finish();
    let args = ActualLoadScoreArgs {
        load_weight,
        weights,
        strategy,
    };
    Args::new(args, args.to_json())
}

/// A number within `range`, `default` where it is absent.
fn number(
    fields: &mut Fields<'_>,
    name: &'static str,
    default: f64,
    range: RangeInclusive<f64>,
) -> f64 {
    let value = fields.optional(name).unwrap_or(default);
    if !range.contains(&value) {
        let (low, high) = (range.start(), range.end());
        let bounds = if *low == f64::MIN_POSITIVE {
            format!("above 0 and at most {high}")
        } else {
            format!("from {low} to {high}")
        };
        fields.reject(
            name,
            Stage::Validate,
            format!("must be {bounds}, is {value}"),
        );
    }
    value
}

fn strategy(fields: &mut Fields<'_>) -> Strategy {
    let word: Option<String> = fields.optional("strategy");
    match word.as_deref() {
        None | Some(SPREAD) => {
            refuse(fields, "packTarget", PACK);
            spread(fields)
        }
        Some(PACK) => {
            refuse(fields, "spanFloor", SPREAD);
            refuse(fields, "tieBand", SPREAD);
            Strategy::Pack {
                target: pack_target(fields),
            }
        }
        Some(other) => {
            let problem = format!("`{other}` is no strategy: use `{SPREAD}` or `{PACK}`");
            fields.reject("strategy", Stage::Validate, problem);
            pack_target(fields);
            spread(fields)
        }
    }
}

fn spread(fields: &mut Fields<'_>) -> Strategy {
    Strategy::Spread {
        span_floor: number(fields, "spanFloor", SPAN_FLOOR, f64::MIN_POSITIVE..=1.0),
        tie_band: number(fields, "tieBand", TIE_BAND, 0.0..=1.0),
    }
}

/// At 0 and at 1 one of the two parts of the score would be empty.
fn pack_target(fields: &mut Fields<'_>) -> f64 {
    let target = fields.optional("packTarget").unwrap_or(PACK_TARGET);
    if !(target > 0.0 && target < 1.0) {
        let problem = format!("must be above 0 and below 1, is {target}");
        fields.reject("packTarget", Stage::Validate, problem);
    }
    target
}

/// A field that would have no effect is a mistake: it belongs to `other`.
fn refuse(fields: &mut Fields<'_>, name: &'static str, other: &str) {
    if fields.raw(name).is_some() {
        let problem = format!("counts with strategy `{other}` only");
        fields.reject(name, Stage::Validate, problem);
    }
}

fn weights(fields: &mut Fields<'_>) -> Weights {
    let entries = resource_list::read(fields);
    for (index, entry) in entries.iter().enumerate() {
        let earlier = &entries[..index];
        for (field, problem) in mistakes(entry, earlier) {
            fields
                .errors()
                .push(entry.error(field, Stage::Validate, problem));
        }
    }
    let weight = |name: &str| match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => entry.weight.unwrap_or(WEIGHT) as f64,
        None if entries.is_empty() => WEIGHT as f64,
        None => 0.0,
    };
    let [cpu, memory, network] = NAMES.map(weight);
    Weights {
        cpu,
        memory,
        network,
    }
}

fn mistakes(entry: &Entry, earlier: &[Entry]) -> Vec<(&'static str, String)> {
    let mut mistakes = Vec::new();
    if !NAMES.contains(&entry.name.as_str()) {
        let names = NAMES.join(", ");
        mistakes.push(("name", format!("`{}` is not one of {names}", entry.name)));
    } else if earlier.iter().any(|other| other.name == entry.name) {
        mistakes.push(("name", format!("`{}` is named twice", entry.name)));
    }
    if let Some(weight) = entry
        .weight
        .filter(|weight| !(0..=WEIGHT_MAX).contains(weight))
    {
        mistakes.push((
            "weight",
            format!("must be from 0 to {WEIGHT_MAX}, is {weight}"),
        ));
    }
    mistakes
}

// === impl ActualLoadScoreArgs ===

impl ActualLoadScoreArgs {
    fn to_json(self) -> Value {
        let Weights {
            cpu,
            memory,
            network,
        } = self.weights;
        let entry = |name, weight: f64| json!({"name": name, "weight": weight as i64});
        let mut args = json!({
            "loadWeight": self.load_weight,
            "resources": [entry("cpu", cpu), entry("memory", memory), entry("network", network)],
        });
        match self.strategy {
            Strategy::Spread {
                span_floor,
                tie_band,
            } => {
                args["strategy"] = SPREAD.into();
                args["spanFloor"] = span_floor.into();
                args["tieBand"] = tie_band.into();
            }
            Strategy::Pack { target } => {
                args["strategy"] = PACK.into();
                args["packTarget"] = target.into();
            }
        }
        args
    }
}

impl Default for ActualLoadScoreArgs {
    fn default() -> Self {
        let one = WEIGHT as f64;
        Self {
            load_weight: LOAD_WEIGHT,
            weights: Weights {
                cpu: one,
                memory: one,
                network: one,
            },
            strategy: Strategy::Spread {
                span_floor: SPAN_FLOOR,
                tie_band: TIE_BAND,
            },
        }
    }
}
