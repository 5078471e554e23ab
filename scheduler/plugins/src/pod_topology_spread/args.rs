//! `PodTopologySpreadArgs`: reading, defaults, rules, in kube-scheduler's words.
//!
//! Default constraints have no selector: the plugin takes that of the pod's services and
//! owners.

use std::sync::Arc;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use plimsoll_objects::qualified_name;
use serde_json::{Value, json};

use crate::resource_list::objects;

const TYPE: &str = "defaultingType";
const CONSTRAINTS: &str = "defaultConstraints";
const SYSTEM: &str = "System";
const LIST: &str = "List";
const DO_NOT_SCHEDULE: &str = "DoNotSchedule";
const SCHEDULE_ANYWAY: &str = "ScheduleAnyway";

/// The constraints of pods that have none of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PodTopologySpreadArgs {
    /// kube-scheduler's: hosts with skew 3 and zones with skew 5, preferred.
    #[default]
    System,
    /// Those of the file.
    List(Vec<DefaultConstraint>),
}

/// A constraint of the file. The API server's rules for constraints of pods hold for the
/// first three fields only; the others are as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DefaultConstraint {
    /// Above 0.
    pub(crate) max_skew: i32,
    /// A label of nodes.
    pub(crate) topology_key: Arc<str>,
    /// `DoNotSchedule` or `ScheduleAnyway`.
    pub(crate) when_unsatisfiable: Box<str>,
    /// `minDomains`.
    pub(crate) min_domains: Option<i32>,
    /// `nodeAffinityPolicy`: `Honor` or `Ignore`.
    pub(crate) node_affinity_policy: Option<Box<str>>,
    /// `nodeTaintsPolicy`: `Honor` or `Ignore`.
    pub(crate) node_taints_policy: Option<Box<str>>,
    /// `matchLabelKeys`.
    pub(crate) match_label_keys: Vec<Arc<str>>,
}

/// Reads the args.
pub(crate) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let kind: String = fields.optional(TYPE).unwrap_or_default();
    let kind = if kind.is_empty() {
        SYSTEM
    } else {
        kind.as_str()
    };
    let at = fields.path(CONSTRAINTS);
    let constraints = objects(&mut fields, CONSTRAINTS, |item, index, errors| {
        DefaultConstraint::read(item, at.index(index), errors)
    });
    check_type(kind, &constraints, &mut fields);
    check_repeated(&constraints, &at, fields.errors());
    fields.finish();
    let mut effective = json!({TYPE: kind});
    if !constraints.is_empty() {
        effective[CONSTRAINTS] = constraints.iter().map(DefaultConstraint::to_json).collect();
    }
    let typed = if kind == LIST {
        PodTopologySpreadArgs::List(constraints)
    } else {
        PodTopologySpreadArgs::System
    };
    Args::new(typed, effective)
}

fn check_type(kind: &str, constraints: &[DefaultConstraint], fields: &mut Fields<'_>) {
    let problem = match kind {
        LIST => return,
        SYSTEM if constraints.is_empty() => return,
        SYSTEM => {
            format!("Invalid value: \"{kind}\": when .defaultConstraints are not empty")
        }
        _ => unsupported(kind, [SYSTEM, LIST]),
    };
    fields.reject(TYPE, Stage::Validate, problem);
}

fn check_repeated(constraints: &[DefaultConstraint], at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, constraint) in constraints.iter().enumerate() {
        let (key, action) = (&constraint.topology_key, &constraint.when_unsatisfiable);
        let same = |other: &DefaultConstraint| {
            (&other.topology_key, &other.when_unsatisfiable) == (key, action)
        };
        if constraints[..index].iter().any(same) {
            let problem = format!("Duplicate value: \"{{{key}, {action}}}\"");
            errors.push(FieldError::new(Stage::Validate, at.index(index), problem));
        }
    }
}

// === impl DefaultConstraint ===

impl DefaultConstraint {
    fn read(raw: &Value, path: FieldPath, errors: &mut Vec<FieldError>) -> Self {
        let mut fields = Fields::new(raw, path, errors);
        let read = Self {
            max_skew: fields.optional("maxSkew").unwrap_or(0),
            topology_key: text(&mut fields, "topologyKey").unwrap_or_default().into(),
            when_unsatisfiable: text(&mut fields, "whenUnsatisfiable")
                .unwrap_or_default()
                .into(),
            min_domains: fields.optional("minDomains"),
            node_affinity_policy: text(&mut fields, "nodeAffinityPolicy").map(String::into),
            node_taints_policy: text(&mut fields, "nodeTaintsPolicy").map(String::into),
            match_label_keys: keys(&mut fields),
        };
        read.check(&mut fields);
        fields.finish();
        read
    }

    fn check(&self, fields: &mut Fields<'_>) {
        let mut refuse = |name: &str, problem: String| {
            fields.reject(name, Stage::Validate, problem);
        };
        let (skew, key) = (self.max_skew, &*self.topology_key);
        if skew <= 0 {
            let problem = format!("Invalid value: {skew}: not in valid range (0, inf)");
            refuse("maxSkew", problem);
        }
        if key.is_empty() {
            refuse("topologyKey", "Required value: can not be empty".to_owned());
        } else {
            for mistake in qualified_name::mistakes(key) {
                refuse(
                    "topologyKey",
                    format!("Invalid value: \"{key}\": {mistake}"),
                );
            }
        }
        match &*self.when_unsatisfiable {
            DO_NOT_SCHEDULE | SCHEDULE_ANYWAY => {}
            "" => {
                let problem = "Required value: can not be empty".to_owned();
                refuse("whenUnsatisfiable", problem);
            }
            other => {
                let problem = unsupported(other, [DO_NOT_SCHEDULE, SCHEDULE_ANYWAY]);
                refuse("whenUnsatisfiable", problem);
            }
        }
        if fields.raw("labelSelector").is_some() {
            let problem =
                "Forbidden: constraint must not define a selector, as they deduced for each pod";
            fields.reject("labelSelector", Stage::Validate, problem);
        }
    }

    fn to_json(&self) -> Value {
        let mut json = json!({
            "maxSkew": self.max_skew,
            "topologyKey": &*self.topology_key,
            "whenUnsatisfiable": &*self.when_unsatisfiable,
        });
        let keys: Vec<&str> = self.match_label_keys.iter().map(|key| &**key).collect();
        let rest = [
            ("minDomains", self.min_domains.map(Value::from)),
            (
                "nodeAffinityPolicy",
                self.node_affinity_policy.as_deref().map(Value::from),
            ),
            (
                "nodeTaintsPolicy",
                self.node_taints_policy.as_deref().map(Value::from),
            ),
            ("matchLabelKeys", (!keys.is_empty()).then(|| keys.into())),
        ];
        for (name, value) in rest {
            if let Some(value) = value {
                json[name] = value;
            }
        }
        json
    }
}

fn text(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    fields.optional(name)
}

fn keys(fields: &mut Fields<'_>) -> Vec<Arc<str>> {
    let path = fields.path("matchLabelKeys");
    objects(fields, "matchLabelKeys", |item, index, errors| {
        if !(item.is_string() || item.is_null()) {
            let problem = "must be a string";
            errors.push(FieldError::new(Stage::Decode, path.index(index), problem));
        }
        item.as_str().unwrap_or_default().into()
    })
}

fn unsupported(given: &str, supported: [&str; 2]) -> String {
    let [first, second] = supported;
    format!("Unsupported value: \"{given}\": supported values: \"{first}\", \"{second}\"")
}

#[cfg(test)]
mod tests;
