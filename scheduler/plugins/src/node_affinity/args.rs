//! `NodeAffinityArgs`: reading and rules of `addedAffinity`.
//!
//! A selector that cannot be parsed is a mistake of the file, in kube-scheduler's words.

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use plimsoll_objects::selector::{self, Mistake, NodeSelectorTerm, PreferredTerm, RawRequirement};
use plimsoll_objects::{NodeAffinity, NodeSelector};
use serde_json::{Value, json};

use crate::resource_list::objects;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// One requirement as the file has it.
struct Read {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
}

/// Reads the args.
pub(super) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let path = fields.path("addedAffinity");
    let raw = fields.raw("addedAffinity");
    let added = raw.map(|raw| affinity(raw, path, fields.errors()));
    fields.finish();
    let effective = raw.map_or_else(|| json!({}), |raw| json!({"addedAffinity": raw}));
    Args::new(added.unwrap_or_default(), effective)
}

fn affinity(raw: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> NodeAffinity {
    let mut fields = Fields::new(raw, path, errors);
    let at = fields.path(REQUIRED);
    let required = fields.raw(REQUIRED);
    let required = required.map(|raw| node_selector(raw, &at, fields.errors()));
    let at = fields.path(PREFERRED);
    let terms = objects(&mut fields, PREFERRED, |item, index, errors| {
        preferred_term(item, at.index(index), errors)
    });
    let mistakes = selector::preferred_mistakes(&terms);
    keep(&mistakes, &at, fields.errors());
    fields.finish();
    NodeAffinity {
        required,
        // An empty list is as good as none here.
        preferred: (!terms.is_empty()).then(|| terms.into()),
    }
}

fn node_selector(raw: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> NodeSelector {
    let mut fields = Fields::new(raw, path.clone(), errors);
    let at = fields.path("nodeSelectorTerms");
    let terms = objects(&mut fields, "nodeSelectorTerms", |item, index, errors| {
        term(item, at.index(index), errors)
    });
    fields.finish();
    let selector = NodeSelector {
        terms: terms.into(),
    };
    keep(&selector.mistakes(), path, errors);
    selector
}

fn preferred_term(raw: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> PreferredTerm {
    let mut fields = Fields::new(raw, path, errors);
    let weight = fields.optional("weight").unwrap_or(0);
    let at = fields.path("preference");
    let preference = fields.raw("preference");
    let preference = preference.map(|raw| term(raw, at, fields.errors()));
    fields.finish();
    PreferredTerm {
        weight,
        preference: preference.unwrap_or_default(),
    }
}

fn term(raw: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> NodeSelectorTerm {
    let mut fields = Fields::new(raw, path, errors);
    let [labels, names] =
        ["matchExpressions", "matchFields"].map(|name| requirements(&mut fields, name));
    fields.finish();
    NodeSelectorTerm::new(&as_raw(&labels), &as_raw(&names))
}

fn requirements(fields: &mut Fields<'_>, name: &'static str) -> Vec<Read> {
    let path = fields.path(name);
    objects(fields, name, |item, index, errors| {
        let mut fields = Fields::new(item, path.index(index), errors);
        let read = Read {
            key: fields.optional("key").unwrap_or_default(),
            operator: fields.optional("operator").unwrap_or_default(),
            values: fields.optional("values"),
        };
        fields.finish();
        read
    })
}

fn as_raw(read: &[Read]) -> Vec<RawRequirement<'_>> {
    read.iter().map(Read::as_raw).collect()
}

impl Read {
    fn as_raw(&self) -> RawRequirement<'_> {
        let values = self.values.as_ref();
        RawRequirement {
            key: &self.key,
            operator: &self.operator,
            values: values.map(|values| values.iter().map(String::as_str).collect()),
        }
    }
}

fn keep(mistakes: &[Mistake], path: &FieldPath, errors: &mut Vec<FieldError>) {
    for mistake in mistakes {
        let full = mistake.under(path.as_str());
        let path = FieldPath::new(&full.path);
        errors.push(FieldError::new(Stage::Validate, path, full.problem));
    }
}
