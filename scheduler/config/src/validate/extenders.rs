//! Rules for `extenders`.

use std::collections::BTreeSet;

use plimsoll_framework::{FieldError, FieldPath, Stage};
use plimsoll_objects::resource_name::is_extended;

use crate::v1::extender::Extender;

/// Checks all extenders.
pub(super) fn check(extenders: &[Extender], errors: &mut Vec<FieldError>) {
    let list = FieldPath::new("extenders");
    let mut invalid = |path: FieldPath, problem: String| {
        errors.push(FieldError::new(Stage::Validate, path, problem));
    };
    let mut managed = BTreeSet::new();
    for (i, extender) in extenders.iter().enumerate() {
        let path = list.index(i);
        let weight = extender.weight.unwrap_or(0);
        if has(extender.prioritize_verb.as_ref()) && weight <= 0 {
            let problem = format!("must be greater than 0 beside prioritizeVerb, is {weight}");
            invalid(path.field("weight"), problem);
        }
        for (j, resource) in extender.managed_resources.iter().enumerate() {
            let path = path.field("managedResources").index(j).field("name");
            let name = resource.name.as_str();
            if !is_extended(name) {
                let problem = format!("`{name}` is no extended resource, such as example.com/gpu");
                invalid(path.clone(), problem);
            }
            if !managed.insert(name) {
                invalid(path, format!("`{name}` is managed by an extender already"));
            }
        }
    }
    let binders = extenders
        .iter()
        .filter(|extender| has(extender.bind_verb.as_ref()))
        .count();
    if binders > 1 {
        invalid(list, format!("only one extender can bind, not {binders}"));
    }
}

fn has(verb: Option<&String>) -> bool {
    verb.is_some_and(|verb| !verb.is_empty())
}
