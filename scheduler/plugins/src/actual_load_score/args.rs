//! `ActualLoadScoreArgs`: reading, defaults, rules.
//!
//! | field | default | |
//! | --- | --- | --- |
//! | `loadWeight` | 0.7 | 0..1: how much load counts beside requests; 0 turns load off |
//! | `strategy` | `spread` | the only one of this version |
//! | `resources` | cpu, memory, network with weight 1 | weights 0..100; one that is not named has weight 0 |
//! | `spanFloor` | 0.20 | above 0, to 1: loads this far apart get the whole range of scores |
//! | `tieBand` | 0.02 | 0..1: loads this near to the lowest are equally good |

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
    /// In parts of capacity, above 0.
    pub span_floor: f64,
    /// In parts of capacity.
    pub tie_band: f64,
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let load_weight = number(&mut fields, "loadWeight", LOAD_WEIGHT, 0.0..=1.0);
    let weights = weights(&mut fields);
    let span_floor = number(
        &mut fields,
        "spanFloor",
        SPAN_FLOOR,
        f64::MIN_POSITIVE..=1.0,
    );
    let tie_band = number(&mut fields, "tieBand", TIE_BAND, 0.0..=1.0);
    check_strategy(&mut fields);
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
        span_floor,
        tie_band,
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

fn check_strategy(fields: &mut Fields<'_>) {
    let strategy: Option<String> = fields.optional("strategy");
    let problem = match strategy.as_deref() {
        None | Some(SPREAD) => return,
        Some(PACK) => format!("`{PACK}` is not part of this version: use `{SPREAD}`"),
        Some(other) => format!("`{other}` is no strategy: use `{SPREAD}`"),
    };
    fields.reject("strategy", Stage::Validate, problem);
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
        json!({
            "loadWeight": self.load_weight,
            "strategy": SPREAD,
            "resources": [entry("cpu", cpu), entry("memory", memory), entry("network", network)],
            "spanFloor": self.span_floor,
            "tieBand": self.tie_band,
        })
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
            span_floor: SPAN_FLOOR,
            tie_band: TIE_BAND,
        }
    }
}
