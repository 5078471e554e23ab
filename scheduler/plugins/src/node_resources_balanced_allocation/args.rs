//! `NodeResourcesBalancedAllocationArgs`: reading, defaults, rules.

use std::collections::BTreeSet;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

use crate::allocation::WeightedResource;
use crate::resource_list;

/// The only weight that is allowed: the deviation knows none.
const WEIGHT: i64 = 1;

/// What the plugin is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BalancedArgs {
    /// The resources to even out.
    pub resources: Vec<WeightedResource>,
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let entries = resource_list::with_defaults(resource_list::read(&mut fields));
    let mut seen = BTreeSet::new();
    for entry in &entries {
        if !seen.insert(entry.name.as_str()) {
            let problem = format!("Duplicate value: \"{}\"", entry.name);
            fields
                .errors()
                .push(entry.error("name", Stage::Validate, problem));
        }
        if let Some(weight) = entry.weight.filter(|weight| *weight != WEIGHT) {
            let problem = format!("Invalid value: {weight}: must be {WEIGHT}");
            fields
                .errors()
                .push(entry.error("weight", Stage::Validate, problem));
        }
    }
    fields.finish();
    let effective = json!({"resources": resource_list::to_json(&entries)});
    Args::new(
        BalancedArgs {
            resources: resource_list::weighted(&entries),
        },
        effective,
    )
}

impl Default for BalancedArgs {
    fn default() -> Self {
        Self {
            resources: resource_list::cpu_and_memory(),
        }
    }
}
