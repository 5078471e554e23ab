//! `NodeResourcesFitArgs`: reading, defaults, rules, and the args as JSON.
//!
//! Mistakes of value are of stage `Profile`: kube-scheduler finds them when it builds the
//! plugin, in these words.

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use plimsoll_objects::qualified_name;
use serde_json::{Value, json};

use super::fits::Ignored;
use super::strategy::Strategy;
use crate::allocation::WeightedResource;
use crate::resource_list::{self, Entry};
use crate::shape::{Shape, ShapePoint, points};

/// Largest weight of a resource.
const WEIGHT_MAX: i64 = 100;

const LEAST: &str = "LeastAllocated";
const MOST: &str = "MostAllocated";
const RATIO: &str = "RequestedToCapacityRatio";

/// What the plugin is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FitArgs {
    /// What Filter does not look at.
    pub ignored: Ignored,
    /// How nodes are scored.
    pub strategy: Strategy,
    /// By which resources.
    pub resources: Vec<WeightedResource>,
}

/// `scoringStrategy` as it was read.
struct Scoring {
    kind: String,
    entries: Vec<Entry>,
    points: Option<Vec<ShapePoint>>,
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let names = list(&mut fields, "ignoredResources", |_| None);
    let groups = list(&mut fields, "ignoredResourceGroups", |group| {
        group
            .contains('/')
            .then_some("resource group name can't contain '/'")
    });
    let scoring = scoring(&mut fields);
    fields.finish();

    let effective = effective(&names, &groups, &scoring);
    let typed = FitArgs {
        ignored: Ignored {
            names: names.into_iter().collect(),
            groups: groups.into_iter().collect(),
        },
        resources: resource_list::weighted(&scoring.entries),
        strategy: scoring.strategy(),
    };
    Args::new(typed, effective)
}

/// A list of names; `rule` says what else is wrong with one.
fn list(
    fields: &mut Fields<'_>,
    name: &'static str,
    rule: fn(&str) -> Option<&'static str>,
) -> Vec<String> {
    let path = fields.path(name);
    let list = resource_list::objects(fields, name, |item, index, errors| match item {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        _ => {
            let problem = "must be a string";
            errors.push(FieldError::new(Stage::Decode, path.index(index), problem));
            String::new()
        }
    });
    for (index, text) in list.iter().enumerate() {
        let path = fields.path(name).index(index);
        let found = rule(text).map(str::to_owned).into_iter();
        for problem in found.chain(qualified_name::mistakes(text)) {
            let problem = format!("Invalid value: \"{text}\": {problem}");
            fields
                .errors()
                .push(FieldError::new(Stage::Profile, path.clone(), problem));
        }
    }
    list
}

fn scoring(fields: &mut Fields<'_>) -> Scoring {
    let path = fields.path("scoringStrategy");
    let Some(value) = fields.raw("scoringStrategy") else {
        return Scoring::default();
    };
    let mut fields = Fields::new(value, path, fields.errors());
    let kind: String = fields.optional("type").unwrap_or_default();
    let entries = resource_list::with_defaults(resource_list::read(&mut fields));
    check_weights(&entries, &mut fields);
    let points = ratio(&mut fields, kind == RATIO);
    if ![LEAST, MOST, RATIO].contains(&kind.as_str()) {
        let problem = format!(
            "Unsupported value: \"{kind}\": supported values: \"{LEAST}\", \"{MOST}\", \"{RATIO}\""
        );
        fields.reject("type", Stage::Profile, problem);
    }
    fields.finish();
    Scoring {
        kind,
        entries,
        points,
    }
}

fn check_weights(entries: &[Entry], fields: &mut Fields<'_>) {
    for entry in entries {
        if let Some(weight) = entry
            .weight
            .filter(|weight| !(1..=WEIGHT_MAX).contains(weight))
        {
            let problem = format!(
                "Invalid value: {weight}: resource weight of {} not in valid range (0, 100]",
                entry.name
            );
            fields
                .errors()
                .push(entry.error("weight", Stage::Profile, problem));
        }
    }
}

/// The points of `requestedToCapacityRatio`, which must be there if it is `wanted` and only
/// then.
fn ratio(fields: &mut Fields<'_>, wanted: bool) -> Option<Vec<ShapePoint>> {
    const FIELD: &str = "requestedToCapacityRatio";
    let path = fields.path(FIELD);
    let value = fields.raw(FIELD);
    let problem = match (value, wanted) {
        (None, false) => return None,
        (None, true) => "Required value: must be specified when type is RequestedToCapacityRatio",
        (Some(_), false) => "Forbidden: must be nil when type is not RequestedToCapacityRatio",
        (Some(value), true) => {
            let mut fields = Fields::new(value, path, fields.errors());
            let points = shape(&mut fields);
            fields.finish();
            return Some(points);
        }
    };
    fields.reject(FIELD, Stage::Profile, problem);
    None
}

fn shape(fields: &mut Fields<'_>) -> Vec<ShapePoint> {
    let points = points::read(fields, "shape", Stage::Profile);
    if points.is_empty() {
        let problem = "Required value: at least one point must be specified";
        fields.reject("shape", Stage::Profile, problem);
    }
    points
}

fn effective(names: &[String], groups: &[String], scoring: &Scoring) -> Value {
    let mut strategy = json!({
        "type": scoring.kind,
        "resources": resource_list::to_json(&scoring.entries),
    });
    if let Some(points) = &scoring.points {
        strategy["requestedToCapacityRatio"] = json!({"shape": points::to_json(points)});
    }
    let mut args = json!({"scoringStrategy": strategy});
    if !names.is_empty() {
        args["ignoredResources"] = names.into();
    }
    if !groups.is_empty() {
        args["ignoredResourceGroups"] = groups.into();
    }
    args
}

// === impl Scoring ===

impl Scoring {
    fn strategy(self) -> Strategy {
        match (self.kind.as_str(), self.points) {
            (MOST, _) => Strategy::MostAllocated,
            (RATIO, Some(points)) => Strategy::RequestedToCapacityRatio(Shape::new(points)),
            _ => Strategy::LeastAllocated,
        }
    }
}

impl Default for Scoring {
    fn default() -> Self {
        Self {
            kind: LEAST.to_owned(),
            entries: resource_list::with_defaults(Vec::new()),
            points: None,
        }
    }
}

// === impl FitArgs ===

impl Default for FitArgs {
    fn default() -> Self {
        Self {
            ignored: Ignored::default(),
            strategy: Strategy::default(),
            resources: resource_list::cpu_and_memory(),
        }
    }
}
