//! One requirement of a term: parsing by kube-scheduler's rules, and matching.
//!
//! Labels: `apimachinery/pkg/labels.NewRequirement`. Fields: only `metadata.name` has a
//! value; every other field is empty.

use std::sync::Arc;

use super::mistake::Mistake;
use crate::intern::intern;
use crate::meta::Labels;
use crate::qualified_name;

/// Operators of `matchExpressions`, in the order in which mistakes list them.
const LABEL_OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
/// Operators of `matchFields`.
const FIELD_OPERATORS: [&str; 2] = ["In", "NotIn"];
/// The only field of a node that can be selected by.
pub(super) const NAME_FIELD: &str = "metadata.name";

/// A `v1.NodeSelectorRequirement` as the API has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRequirement<'a> {
    /// `key`.
    pub key: &'a str,
    /// `operator`.
    pub operator: &'a str,
    /// `values`; `None` where the object has none.
    pub values: Option<Vec<&'a str>>,
}

/// A requirement on a node's labels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LabelRequirement {
    key: Arc<str>,
    test: LabelTest,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum LabelTest {
    In(Box<[Arc<str>]>),
    NotIn(Box<[Arc<str>]>),
    Exists,
    DoesNotExist,
    Above(i64),
    Below(i64),
}

/// A requirement on a node's fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldRequirement {
    key: Arc<str>,
    value: Arc<str>,
    equal: bool,
}

// === impl RawRequirement ===

impl RawRequirement<'_> {
    pub(super) fn values(&self) -> &[&str] {
        self.values.as_deref().unwrap_or_default()
    }

    /// The list as Go prints it in a mistake.
    fn values_text(&self) -> String {
        match &self.values {
            None => "null".to_owned(),
            Some(values) => {
                let texts: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
                format!("[{}]", texts.join(","))
            }
        }
    }
}

// === impl LabelRequirement ===

impl LabelRequirement {
    /// Parses one element of `matchExpressions` at `path`.
    ///
    /// # Errors
    /// Every mistake in it.
    pub(super) fn parse(raw: &RawRequirement<'_>, path: &str) -> Result<Self, Vec<Mistake>> {
        let values = raw.values();
        let list = || values.iter().map(|value| intern(value)).collect();
        let bound = || values.first().and_then(|value| value.parse().ok());
        let test = match raw.operator {
            "In" => LabelTest::In(list()),
            "NotIn" => LabelTest::NotIn(list()),
            "Exists" => LabelTest::Exists,
            "DoesNotExist" => LabelTest::DoesNotExist,
            // A bound that is no number is a mistake, found below.
            "Gt" => LabelTest::Above(bound().unwrap_or_default()),
            "Lt" => LabelTest::Below(bound().unwrap_or_default()),
            other => {
                let at = format!("{path}.operator");
                return Err(vec![Mistake::unsupported(at, other, &LABEL_OPERATORS)]);
            }
        };
        let mut mistakes = Vec::new();
        check_key(raw, path, &mut mistakes);
        check_count(raw, &test, path, &mut mistakes);
        check_values(raw, path, &mut mistakes);
        if mistakes.is_empty() {
            let key = intern(raw.key);
            Ok(Self { key, test })
        } else {
            Err(mistakes)
        }
    }

    /// Key and values of a requirement that names the values it is met by.
    pub(super) fn one_of(&self) -> Option<(&str, &[Arc<str>])> {
        match &self.test {
            LabelTest::In(values) => Some((&self.key, values)),
            LabelTest::NotIn(_)
            | LabelTest::Exists
            | LabelTest::DoesNotExist
            | LabelTest::Above(_)
            | LabelTest::Below(_) => None,
        }
    }

    pub(super) fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&*self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            LabelTest::In(values) => value.is_some_and(|value| values.contains(value)),
            LabelTest::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            LabelTest::Exists => value.is_some(),
            LabelTest::DoesNotExist => value.is_none(),
            LabelTest::Above(bound) => number().is_some_and(|number| number > *bound),
            LabelTest::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn check_key(raw: &RawRequirement<'_>, path: &str, mistakes: &mut Vec<Mistake>) {
    let found = qualified_name::mistakes(raw.key);
    if !found.is_empty() {
        let at = format!("{path}.key");
        let detail = found.join("; ");
        mistakes.push(Mistake::invalid(at, format!("{:?}", raw.key), &detail));
    }
}

fn check_count(raw: &RawRequirement<'_>, test: &LabelTest, path: &str, out: &mut Vec<Mistake>) {
    let values = raw.values();
    let at = format!("{path}.values");
    let mut wrong = |detail| out.push(Mistake::invalid(at.clone(), raw.values_text(), detail));
    match test {
        LabelTest::In(_) | LabelTest::NotIn(_) if values.is_empty() => {
            wrong("for 'in', 'notin' operators, values set can't be empty");
        }
        LabelTest::Exists | LabelTest::DoesNotExist if !values.is_empty() => {
            wrong("values set must be empty for exists and does not exist");
        }
        LabelTest::Above(_) | LabelTest::Below(_) => {
            if values.len() != 1 {
                wrong("for 'Gt', 'Lt' operators, exactly one value is required");
            }
            check_numbers(values, &at, out);
        }
        LabelTest::In(_) | LabelTest::NotIn(_) | LabelTest::Exists | LabelTest::DoesNotExist => {}
    }
}

fn check_numbers(values: &[&str], at: &str, mistakes: &mut Vec<Mistake>) {
    for (index, value) in values.iter().enumerate() {
        if value.parse::<i64>().is_err() {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            let at = format!("{at}[{index}]");
            mistakes.push(Mistake::invalid(at, format!("{value:?}"), detail));
        }
    }
}

fn check_values(raw: &RawRequirement<'_>, path: &str, mistakes: &mut Vec<Mistake>) {
    for (index, value) in raw.values().iter().enumerate() {
        let found = qualified_name::value_mistakes(value);
        if !found.is_empty() {
            let at = format!("{path}.values[{index}][{}]", raw.key);
            let detail = found.join("; ");
            mistakes.push(Mistake::invalid(at, format!("{value:?}"), &detail));
        }
    }
}

// === impl FieldRequirement ===

impl FieldRequirement {
    /// Parses one element of `matchFields` at `path`.
    ///
    /// # Errors
    /// The mistake in it.
    pub(super) fn parse(raw: &RawRequirement<'_>, path: &str) -> Result<Self, Mistake> {
        if !FIELD_OPERATORS.contains(&raw.operator) {
            let at = format!("{path}.operator");
            return Err(Mistake::unsupported(at, raw.operator, &FIELD_OPERATORS));
        }
        let [value] = raw.values() else {
            let at = format!("{path}.values");
            let detail = "must have one element";
            return Err(Mistake::invalid(at, raw.values_text(), detail));
        };
        Ok(Self {
            key: intern(raw.key),
            value: intern(value),
            equal: raw.operator == "In",
        })
    }

    /// Whether the node called `name` meets it.
    pub(super) fn matches(&self, name: &str) -> bool {
        let value = if &*self.key == NAME_FIELD { name } else { "" };
        (*self.value == *value) == self.equal
    }
}
